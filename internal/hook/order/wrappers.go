package order

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// collapseWrappers removes private functions that only call another function with their own arguments. Their callers
// then call that function directly. It checks only the functions in changed, which are left over from removing tuples
// and tokens.
func collapseWrappers(m *ir.Module, changed map[*ir.Op]bool) {
	if len(changed) == 0 {
		return
	}
	g := flow.Of(m, nil)
	var erased []*ir.Op
	callers := map[*ir.Op][]*ir.Op{}
	for _, f := range g.Functions() {
		callers[f] = g.Callers(f)
	}
	for _, op := range g.Functions() {
		f := fn.FuncOp{Op: op}
		if !changed[op] || !f.Private() || g.NamedBy(op) != nil {
			continue
		}
		inner := forwards(f)
		if inner == nil || fn.Callee(inner) == f.Symbol() {
			continue
		}
		for _, call := range callers[op] {
			call.SetAttr(call.Def().Flow.Callee, ir.NewSymbolRef(fn.Callee(inner)))
		}
		if to := g.Callee(inner); to != nil {
			callers[to] = append(callers[to], callers[op]...)
		}
		erased = append(erased, op)
	}
	for _, f := range erased {
		f.Erase()
	}
}

// forwards returns the only call in f if its operands are the arguments of f and its results are the results of f, in
// order.
func forwards(f fn.FuncOp) *ir.Op {
	call := f.Body().First()
	if call == nil || !call.Is(fn.Call) || call.Next() != f.Body().Last() {
		return nil
	}
	ret := call.Next()
	if !ret.Is(fn.Return) || call.NumOperands() != len(f.Body().Args()) || ret.NumOperands() != call.NumResults() {
		return nil
	}
	for i, v := range call.Operands() {
		if v != f.Body().Arg(i) {
			return nil
		}
	}
	for i, v := range ret.Operands() {
		if v != call.Result(i) {
			return nil
		}
	}
	return call
}
