package format

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/internal/dialect/interpreter"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// withoutParallel returns ops without the host transfers in functions that only interpreter.run_parallel runs. These
// functions have their own queues and channels: infeed reads a queue of the op, outfeed discards its data, send and
// recv connect the functions. None of them reaches a host.
func withoutParallel(m *ir.Module, ops []*ir.Op) []*ir.Op {
	named := map[string]bool{}
	callees := map[*ir.Op][]*ir.Op{}
	graph := flow.Of(m, func(op *ir.Op) {
		if op.Is(interpreter.RunParallel) {
			for _, a := range op.Attrs() {
				flow.Symbols(a.Attr, func(name string) { named[name] = true })
			}
		}
	})
	for _, f := range graph.Functions() {
		for _, call := range graph.Callers(f) {
			callees[flow.FunctionOf(call)] = append(callees[flow.FunctionOf(call)], f)
		}
	}
	reached := func(start func(f *ir.Op) bool) map[*ir.Op]bool {
		seen := map[*ir.Op]bool{}
		var visit func(f *ir.Op)
		visit = func(f *ir.Op) {
			if !seen[f] {
				seen[f] = true
				for _, callee := range callees[f] {
					visit(callee)
				}
			}
		}
		for _, f := range graph.Functions() {
			if start(f) {
				visit(f)
			}
		}
		return seen
	}
	inside := reached(func(f *ir.Op) bool { return named[view.String(f.Attr(ir.SymbolName))] })
	outside := reached(func(f *ir.Op) bool { return !inside[f] })
	return slices.DeleteFunc(ops, func(op *ir.Op) bool {
		f := flow.FunctionOf(op)
		switch op.Def().Original() {
		case stablehlo.Outfeed, stablehlo.Infeed, stablehlo.Send, stablehlo.Recv:
			return inside[f] && !outside[f]
		}
		return false
	})
}
