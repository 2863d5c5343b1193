package hooks

import (
	"slices"

	"github.com/hlocb/hlocb/ir"
)

// runParallel is the op whose functions run beside each other in a world of their own: infeed reads a queue there, outfeed
// goes nowhere, and send and recv are between them. None of it reaches a host.
const runParallel = "interpreter.run_parallel"

// withoutParallel returns the ops but for those that talk to a host and stand in functions that run in such worlds only.
func withoutParallel(m *ir.Module, ops []*ir.Op) []*ir.Op {
	calls := newCallGraph(m)
	named := map[string]bool{}
	m.Walk(func(op *ir.Op) bool {
		if op.Def().Name == runParallel {
			for _, a := range op.Attrs() {
				eachSymbol(a.Attr, func(name string) { named[name] = true })
			}
		}
		return true
	})
	callees := map[string][]string{}
	for name, list := range calls.callers {
		for _, c := range list {
			callees[functionOf(c)] = append(callees[functionOf(c)], name)
		}
	}
	reached := func(start func(name string) bool) map[string]bool {
		seen := map[string]bool{}
		var visit func(name string)
		visit = func(name string) {
			if !seen[name] {
				seen[name] = true
				for _, callee := range callees[name] {
					visit(callee)
				}
			}
		}
		for _, f := range calls.funcs {
			if name := f.Symbol(); start(name) {
				visit(name)
			}
		}
		return seen
	}
	inside := reached(func(name string) bool { return named[name] })
	outside := reached(func(name string) bool { return !inside[name] })
	return slices.DeleteFunc(ops, func(op *ir.Op) bool {
		f := functionOf(op)
		switch stable(op) {
		case "outfeed", "infeed", "send", "recv":
			return inside[f] && !outside[f]
		}
		return false
	})
}
