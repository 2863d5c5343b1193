package ir

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
)

// Verify checks m: structure, what the rows say of operands, results, attributes and regions, dominance, symbols,
// and each row's own Verify. It returns nil or a diag.List with every finding, in program order, worded as MLIR
// words them. Ops of unknown kinds are checked for structure and dominance only.
func Verify(m *Module) error {
	v := &verifier{r: Reporter{ctx: m.ctx, src: m.source}, place: map[*Block]map[*Op]int32{}}
	v.op(m.op)
	return v.r.list.Err()
}

type verifier struct {
	r     Reporter
	place map[*Block]map[*Op]int32 // positions of the ops, of the open blocks that needed numbering
}

func (v *verifier) op(o *Op) {
	before := len(v.r.list)
	if !o.def.unknown {
		v.row(o)
	}
	if o.def.Has(SymbolTable) {
		v.symbols(o)
	}
	for i, r := range o.regions {
		v.region(o, i, r)
	}
	// A row's own checks rely on what was checked before.
	if len(v.r.list) == before && o.def.Verify != nil {
		o.def.Verify(o, &v.r)
	}
}

// row checks o against its definition, and reports the first thing that is wrong, as MLIR does.
func (v *verifier) row(o *Op) {
	d := o.def
	for i := range d.Attrs {
		s := &d.Attrs[i]
		a := o.attrs.Get(s.Name)
		switch {
		case a == nil && !s.Optional && s.Default == nil:
			v.r.Errorf(o, "requires attribute '%s'", s.Name)
			return
		case a != nil && s.Type.Check != nil && !s.Type.Check(a):
			v.r.Errorf(o, "attribute '%s' failed to satisfy constraint: %s", s.Name, s.Type.Summary)
			return
		}
	}
	operand := func(i int) Type {
		if o.operands[i].val == nil {
			return nil
		}
		return o.operands[i].val.typ
	}
	result := func(i int) Type { return o.results[i].typ }
	if v.values(o, "operand", d.Operands, len(o.operands), operand, d.Traits&SameVariadicOperands != 0, AttrSizedOperands, "operandSegmentSizes") &&
		v.values(o, "result", d.Results, len(o.results), result, d.Traits&SameVariadicResults != 0, AttrSizedResults, "resultSegmentSizes") {
		v.regionCount(o)
	}
}

// values checks counts and types of operands or results; it reports whether they are right.
func (v *verifier) values(o *Op, what string, args []Arg, n int, typ func(int) Type, same bool, sized Traits, sizes string) bool {
	fixed, groups := 0, 0
	for i := range args {
		if args[i].Mult == One {
			fixed++
		} else {
			groups++
		}
	}
	if n < fixed || groups == 0 && n != fixed {
		v.count(o, what, n, fixed, groups > 0)
		return false
	}
	var segments []int64
	if o.def.Has(sized) {
		d, ok := o.attrs.Get(sizes).(*DenseArrayAttr)
		if !ok {
			v.r.Errorf(o, "requires dense i32 array attribute '%s'", sizes)
			return false
		}
		segments = d.values
		total := int64(0)
		for _, s := range segments {
			if s < 0 {
				v.r.Errorf(o, "'%s' attribute cannot have negative elements", sizes)
				return false
			}
			total += s
		}
		if len(segments) != len(args) {
			v.r.Errorf(o, "'%s' attribute for specifying %s segments must have %d elements, but got %d", sizes, what, len(args), len(segments))
			return false
		}
		if total != int64(n) {
			v.r.Errorf(o, "%s count (%d) does not match with the total size (%d) specified in attribute '%s'", what, n, total, sizes)
			return false
		}
	} else if groups > 1 && same && (n-fixed)%groups != 0 {
		v.r.Errorf(o, "%s count (%d) does not divide into %d groups of one size", what, n, groups)
		return false
	} else if groups > 1 && !same {
		return true // how they part is the row's own business
	}
	i := 0
	for k := range args {
		take := 1
		switch {
		case segments != nil:
			take = int(segments[k])
		case args[k].Mult != One:
			take = (n - fixed) / groups
		}
		if args[k].Mult == Optional && take > 1 {
			v.r.Errorf(o, "%s group starting at #%d requires 0 or 1 element, but found %d", what, i, take)
			return false
		}
		for range take {
			if !v.value(o, what, i, &args[k], typ(i)) {
				return false
			}
			i++
		}
	}
	return true
}

func (v *verifier) count(o *Op, what string, n, want int, atLeast bool) {
	switch {
	case atLeast:
		v.r.Errorf(o, "expected %d or more %ss, but found %d", want, what, n)
	case what == "operand" && want == 0:
		v.r.Errorf(o, "requires zero operands")
	case what == "operand" && want == 1:
		v.r.Errorf(o, "requires a single operand")
	case what == "operand":
		v.r.Errorf(o, "expected %d operands, but found %d", want, n)
	case want == 0:
		v.r.Errorf(o, "requires zero results")
	case want == 1:
		v.r.Errorf(o, "requires one result")
	default:
		v.r.Errorf(o, "expected %d results, but found %d", want, n)
	}
}

func (v *verifier) value(o *Op, what string, i int, arg *Arg, t Type) bool {
	if t == nil {
		v.r.Errorf(o, "%s #%d is missing", what, i)
		return false
	}
	if c := &arg.Type; c.Check != nil && !c.Check(t) {
		kind := ""
		if arg.Mult == Variadic {
			kind = "variadic of "
		}
		v.r.Errorf(o, "%s #%d must be %s%s, but got '%s'", what, i, kind, c.Summary, t)
		return false
	}
	return true
}

func (v *verifier) regionCount(o *Op) {
	fixed, open := 0, false
	for _, s := range o.def.Regions {
		if s.Mult == One {
			fixed++
		} else {
			open = true
		}
	}
	if n := len(o.regions); n < fixed || n > fixed && !open {
		v.r.Errorf(o, "requires %s", regions(fixed))
	}
}

func regions(n int) string {
	switch n {
	case 0:
		return "zero regions"
	case 1:
		return "one region"
	}
	return fmt.Sprintf("%d regions", n)
}

func (v *verifier) symbols(table *Op) {
	seen := map[string]*Op{}
	for _, r := range table.regions {
		for _, b := range r.blocks {
			for o := b.first; o != nil; o = o.next {
				name, ok := o.Attr(SymbolName).(*StringAttr)
				if !ok {
					continue
				}
				if first := seen[name.value]; first != nil {
					d := diag.Errorf(v.r.src, o.pos, "redefinition of symbol named '%s'", name.value)
					d.Note(first.pos, "see existing symbol definition here")
					v.r.list.Add(d)
					continue
				}
				seen[name.value] = o
			}
		}
	}
}

func (v *verifier) region(o *Op, index int, r *Region) {
	v.blockCount(o, index, r)
	for _, b := range r.blocks {
		for n := b.first; n != nil; n = n.next {
			v.placed(n, b)
			v.operandsDominate(n)
			v.op(n)
		}
		v.terminated(o, b)
	}
	for _, b := range r.blocks {
		delete(v.place, b)
	}
}

func (v *verifier) blockCount(o *Op, index int, r *Region) {
	if o.Has(SingleBlock) && len(r.blocks) > 1 {
		v.r.Errorf(o, "expects region #%d to have 0 or 1 blocks", index)
	}
}

// placed checks that an op that ends blocks ends b.
func (v *verifier) placed(n *Op, b *Block) {
	if n.Has(Terminator) && n != b.last {
		v.r.Errorf(n, "must be the last operation in the parent block")
	}
}

func (v *verifier) operandsDominate(n *Op) {
	for k := range n.operands {
		if val := n.operands[k].val; val != nil && !v.dominates(val, n) {
			v.r.Errorf(n, "operand #%d does not dominate this use", k).Note(v.where(val), "operand defined here")
		}
	}
}

// terminated checks that b, a block of o, ends as it must.
func (v *verifier) terminated(o *Op, b *Block) {
	switch {
	case o.def.unknown || o.Has(NoTerminator) || b.last != nil && b.last.MightHave(Terminator):
	case b.last == nil:
		v.r.Errorf(o, "expects a non-empty block")
	default:
		v.r.list.Add(diag.Errorf(v.r.src, b.last.pos, "block with no terminator, has '%s'", b.last.def.Name))
	}
}

// near is how far a definition is looked for above its use before the whole block is numbered.
const near = 16

// before reports whether o stands before p in their block.
func (v *verifier) before(o, p *Op) bool {
	for i, n := 0, p.prev; n != nil && i < near; i, n = i+1, n.prev {
		if n == o {
			return true
		}
	}
	place := v.place[o.block]
	if place == nil {
		place = map[*Op]int32{}
		for n := o.block.first; n != nil; n = n.next {
			place[n] = int32(len(place))
		}
		v.place[o.block] = place
	}
	return place[o] < place[p]
}

func (v *verifier) where(val *Value) diag.Pos {
	if val.op != nil {
		return val.op.pos
	}
	if p := val.block.Parent(); p != nil {
		return p.pos
	}
	return 0
}

// dominates reports whether val is there when o runs. Of blocks other than the one that o (or what holds it)
// stands in, only the region counts: which block comes before which is not followed.
func (v *verifier) dominates(val *Value, o *Op) bool {
	def := val.ParentBlock()
	if def == nil {
		return false // its op was taken out of the module
	}
	for p := o; p != nil; p = p.Parent() {
		switch b := p.block; {
		case b == nil:
			return false
		case b == def:
			return val.op == nil || val.op != p && v.before(val.op, p)
		case b.region == def.region:
			return true
		}
		if parent := p.Parent(); parent != nil && parent.Has(IsolatedFromAbove) {
			return false
		}
	}
	return false
}
