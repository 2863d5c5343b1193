package order

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
)

// callComposites replaces composites whose decompositions reach hooks by calls. A chain would change the operands of
// the composite, which a compiler knows by name, and a compiler's own code for it would leave out the hooks. It reports
// whether it changed anything.
func (t *threader) callComposites() (changed bool) {
	for _, g := range t.reach.Functions() {
		if !t.reach.Holds(g) {
			continue
		}
		for _, op := range t.reach.Callers(g) {
			if !op.Is(stablehlo.Composite) {
				continue
			}
			call := fn.NewCall(t.m.Before(op).From(op), fn.FuncOp{Op: g}, op.OperandList())
			for i, v := range op.Results() {
				v.ReplaceAllUsesWith(call.Result(i))
			}
			op.Erase()
			changed = true
		}
	}
	return changed
}
