package order

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/ir"
)

// callAsync replaces asynchronous calls of functions that reach hooks with ordinary calls at their start: program order
// cannot place the hooks of an asynchronous call. It reports whether it changed anything.
func (t *threader) callAsync() (changed bool, err error) {
	var starts []*ir.Op
	var symbols ir.SymbolTables
	callee := func(op *ir.Op) (fn.FuncOp, bool) {
		s, _ := op.Attr(mhlo.AttrCalledComputation).(*ir.SymbolRefAttr)
		if s == nil {
			return fn.FuncOp{}, false
		}
		f, ok := fn.AsFunc(symbols.Lookup(op, s))
		return f, ok && t.reach.Holds(f.Op)
	}
	t.m.Walk(func(op *ir.Op) bool {
		if op.Is(mhlo.AsyncStart) {
			if _, ok := callee(op); ok {
				starts = append(starts, op)
			}
		}
		return true
	})
	for _, op := range starts {
		f, _ := callee(op)
		call := fn.NewCall(t.m.Before(op), f, op.OperandList())
		if err := t.finish(op, call); err != nil {
			return false, err
		}
		f.RemoveAttr(mhlo.AttrExecutionThread)
	}
	return len(starts) > 0, nil
}

// finish replaces the values of op with the results of call, and erases op.
func (t *threader) finish(op, call *ir.Op) error {
	for u := range op.Result(0).Uses() {
		user := u.Owner()
		switch {
		case user.Is(mhlo.AsyncUpdate):
			if err := t.finish(user, call); err != nil {
				return err
			}
		case user.Is(mhlo.AsyncDone) && user.NumResults() == call.NumResults():
			for i, v := range user.Results() {
				v.ReplaceAllUsesWith(call.Result(i))
			}
			user.Erase()
		default:
			return t.m.Errorf(user, "'%s' waits for a function with hooks, which cannot be put in order from here", user.Name())
		}
	}
	op.Erase()
	return nil
}
