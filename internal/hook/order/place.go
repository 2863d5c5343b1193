package order

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// CheckPlaces returns an error if a hook of a raised module stands in a region that has no place in program order, or
// if such a region calls a function that reaches a hook.
func CheckPlaces(m *ir.Module) error {
	var err error
	var calls []*ir.Op // from such regions
	m.Walk(func(op *ir.Op) bool {
		if f := op.Def().Flow; op.Is(hookop.Hook) {
			err = checkPlace(m, op)
		} else if f != nil && f.Callee != "" && outside(m, op) != nil {
			calls = append(calls, op)
		}
		return err == nil
	})
	if err != nil || len(calls) == 0 {
		return err
	}
	r := flow.ReachOf(m, func(op *ir.Op) bool { return op.Is(hookop.Hook) })
	for _, call := range calls {
		p := outside(m, call)
		if f := r.Callee(call); f != nil && r.Holds(f) && !isFunction(p) { // a nested module has functions of its own
			return m.Errorf(call, "function @%s has hooks, which cannot be delivered in order from inside a region of '%s'", fn.FuncOp{Op: f}.Symbol(), p.Name()).Note(p.Pos(), "%s", reason(p))
		}
	}
	return nil
}

func checkPlace(m *ir.Module, op *ir.Op) error {
	switch p := outside(m, op); {
	case p == nil:
		return nil
	case isFunction(p):
		return m.Errorf(op, "hook in a nested module is not supported")
	default:
		return m.Errorf(op, "hook inside a region of '%s' cannot be delivered in order", p.Name()).Note(p.Pos(), "%s", reason(p))
	}
}

// outside returns the innermost op around op whose region has no place in program order, nil if there is none.
func outside(m *ir.Module, op *ir.Op) *ir.Op {
	for ; op.Parent() != nil && op.Parent() != m.Op(); op = op.Parent() {
		p := op.Parent()
		if !p.Def().Flow.Ordered(regionOf(p, op)) || isFunction(p) && p.Parent() != m.Op() {
			return p
		}
	}
	return nil
}

// reason says why a hook in a region of p is refused.
func reason(p *ir.Op) string {
	if p.Def().Flow == nil {
		return "how often and in which order the region runs is not known: the definition of '" + p.Name() + "' does not say"
	}
	return "how often and in which order the region runs is not defined"
}
