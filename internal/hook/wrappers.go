package hooks

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
)

// collapseWrappers makes callers of a private function that only calls another one, with its own arguments,
// call that one directly, and erases the function. Only functions in changed are looked at: they are what is
// left of passing tuples and tokens around.
func collapseWrappers(m *ir.Module, changed map[string]bool) {
	if len(changed) == 0 {
		return
	}
	g := newCallGraph(m)
	var gone = map[string]bool{}
	for _, f := range g.funcs {
		name := f.Symbol()
		if !changed[name] || !f.Private() || g.taken(name) != nil {
			continue
		}
		inner := forwards(f)
		if inner == nil || fn.Callee(inner) == name {
			continue
		}
		for _, call := range g.callers[name] {
			call.SetAttr("callee", inner.Attr("callee"))
			g.callers[fn.Callee(inner)] = append(g.callers[fn.Callee(inner)], call)
		}
		gone[name] = true
	}
	dropUnused(m, gone)
}

// forwards returns the call that f consists of: its operands are f's arguments, its results are f's, in order.
func forwards(f fn.FuncOp) *ir.Op {
	if f.External() || len(f.Region(0).Blocks()) != 1 {
		return nil
	}
	call := f.Body().First()
	if call == nil || call.Name() != "func.call" || call.Next() == nil || call.Next() != f.Body().Last() {
		return nil
	}
	ret := call.Next()
	if ret.Name() != "func.return" || call.NumOperands() != f.Body().NumArgs() || ret.NumOperands() != call.NumResults() {
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
