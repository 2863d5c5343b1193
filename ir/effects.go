package ir

// Effects are the side effects of an op, as MLIR's MemoryEffects classify them. The zero value means none.
type Effects uint8

// Kinds of side effects.
const (
	Reads      Effects = 1 << iota // observes state that others may change
	Writes                         // changes state that others may observe
	Allocates                      // creates state
	Frees                          // destroys state
	AllEffects = Reads | Writes | Allocates | Frees
)

// Effects returns the side effects of o and of the ops inside it. An op of an unknown kind, and one whose definition
// states none of Pure, NestedEffects and Effects, may have any.
func (o *Op) Effects() Effects {
	d := o.def
	var e Effects
	switch {
	case d.unknown:
		return AllEffects
	case d.Effects != nil:
		e = d.Effects(o)
	case d.Traits&(Pure|NestedEffects) == 0:
		return AllEffects
	}
	if o.parts != nil {
		for _, r := range o.parts.regions {
			for _, b := range r.blocks {
				for n := b.first; n != nil && e != AllEffects; n = n.next {
					e |= n.Effects()
				}
			}
		}
	}
	return e
}

// Removable reports whether erasing o changes nothing once no result of o has uses: o and the ops inside it only read
// or allocate. It is false for terminators and symbols.
func (o *Op) Removable() bool {
	return o.def.Traits&(Terminator|Symbol) == 0 && o.Effects()&(Writes|Frees) == 0
}
