package hookop

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Attributes of modules whose hooks run as written by their source.
const (
	attrAsWritten = "hlocb.as_written" // unit, on the module
	attrPart      = "hlocb.part"       // dictionary, on each op of a hook, see Part
)

// Part marks an op as part of a hook.
type Part struct {
	Hook     hook.ID // 0 if nothing depends on the hook and no handler is called
	Repeat   bool    // an equal hook before it, without side effects, supplies the results
	Operands []Leaf  // operands of the op that are operands of the hook
	Results  []Leaf  // results of the op that are results of the hook
}

// Leaf maps value Value of a hook to operand or result At of an op or, if that is a tuple, to its element at Path.
type Leaf struct {
	At    int
	Path  []int
	Value int
}

// MarkAsWritten marks a module whose hooks run as written. SetPart marks the parts of the hooks.
func MarkAsWritten(m *ir.Module) { m.Op().SetAttr(attrAsWritten, ir.NewUnit()) }

// AsWritten reports whether the hooks of a module run as written.
func AsWritten(m *ir.Module) bool { return m.Op().Attr(attrAsWritten) != nil }

// SetPart marks op as a part of a hook.
func SetPart(op *ir.Op, p Part) {
	leaves := func(list []Leaf) ir.Attr {
		elems := make([]ir.Attr, len(list))
		for i, l := range list {
			values := []int64{int64(l.At), int64(l.Value)}
			for _, k := range l.Path {
				values = append(values, int64(k))
			}
			elems[i] = ir.NewDenseArray(ir.Int(64), values)
		}
		return ir.NewArray(elems)
	}
	list := ir.AttrList{
		{Name: "hook", Attr: ir.NewInteger(int64(p.Hook), ir.Int(64))},
		{Name: "operands", Attr: leaves(p.Operands)},
	}
	if p.Repeat {
		list = append(list, ir.NamedAttr{Name: "repeat", Attr: ir.NewUnit()})
	}
	op.SetAttr(attrPart, ir.NewDict(append(list, ir.NamedAttr{Name: "results", Attr: leaves(p.Results)})))
}

// PartOf returns the mark on op. ok is false if op is not part of a hook.
func PartOf(op *ir.Op) (p Part, ok bool) {
	d, ok := op.Attr(attrPart).(*ir.DictAttr)
	if !ok {
		return p, false
	}
	leaves := func(a ir.Attr) (out []Leaf) {
		list, _ := a.(*ir.ArrayAttr)
		if list == nil {
			return nil
		}
		for _, e := range list.Elems() {
			d, isArray := e.(*ir.DenseArrayAttr)
			if !isArray || len(d.Values()) < 2 {
				ok = false
				return nil
			}
			l := Leaf{At: int(d.Values()[0]), Value: int(d.Values()[1])}
			for _, k := range d.Values()[2:] {
				l.Path = append(l.Path, int(k))
			}
			out = append(out, l)
		}
		return out
	}
	if id, isInt := d.Get("hook").(*ir.IntegerAttr); isInt {
		p.Hook = hook.ID(id.Value())
	}
	p.Repeat = d.Get("repeat") != nil
	p.Operands, p.Results = leaves(d.Get("operands")), leaves(d.Get("results"))
	return p, ok
}
