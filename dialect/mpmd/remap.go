package mpmd

import (
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/ir"
)

// remap updates the attributes of an op whose operands and results changed: its shardings, and the dictionaries for
// its operands and results. It fails if the op does not take a new value: a fragment takes no tensor that carries the
// order of hooks.
func remap(m *ir.Module, op *ir.Op, operands, results []int) error {
	takes := op.Def().Operands[0].Type.Check
	for i, k := range operands {
		t := op.Operand(i).Type()
		if k < 0 && (takes != nil && !takes(t) || op.Name() == nameFor && kind(t) != kind(op.Operand(op.NumOperands()-1).Type())) {
			return m.Errorf(op, "'%s' cannot carry a value of type '%s'", op.Name(), t)
		}
	}
	for name, from := range map[string][]int{attrArgs: operands, attrResults: results} {
		list, ok := op.Attr(name).(*ir.ArrayAttr)
		if !ok {
			continue
		}
		moved := make([]ir.Attr, len(from))
		for i, k := range from {
			if moved[i] = ir.NewDict(nil); k >= 0 && k < len(list.Elems()) {
				moved[i] = list.Elems()[k]
			}
		}
		op.SetAttr(name, ir.NewArray(moved))
	}
	return sdy.RemapShardings(m, op, operands, results)
}
