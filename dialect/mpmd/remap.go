package mpmd

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/ir"
)

// remap updates the attributes of an op whose operands and results changed: its shardings, and the dictionaries for
// its operands and results. It fails if the op does not take a new value: a fragment takes no tensor that carries the
// order of hooks.
func remap(m *ir.Module, op *ir.Op, operands, results []int) error {
	takes := op.Def().Operands[0].Type.Check
	for i, k := range operands {
		if k >= 0 {
			continue
		}
		if t := op.Operand(i).Type(); takes != nil && !takes(t) || op.Name() == nameFor && kind(t) != kind(op.Operand(op.NumOperands()-1).Type()) {
			return m.Errorf(op, "'%s' cannot carry a value of type '%s'", op.Name(), t)
		}
	}
	if err := fn.RemapAttrs(m, op, operands, results); err != nil {
		return err
	}
	return sdy.RemapShardings(m, op, operands, results)
}
