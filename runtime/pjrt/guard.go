package pjrt

import (
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
)

// Check refuses two kinds of programs that a PJRT plugin must not receive: programs that would block forever,
// because nothing feeds or drains them through the PJRT C API, and programs that crash XLA's compiler. The error is a
// diag.List with the positions. Programs whose hooks hlocb rewrote contain no op that blocks.
func Check(m *ir.Module) error {
	var list diag.List
	m.Walk(func(o *ir.Op) bool {
		dialect, name, _ := strings.Cut(o.Name(), ".")
		if dialect != "stablehlo" && dialect != "mhlo" {
			return true
		}
		switch name {
		case "outfeed":
			list.Add(m.Errorf(o, "'%s' op would block forever: nothing drains the outfeed through the PJRT C API", o.Name()))
		case "infeed":
			list.Add(m.Errorf(o, "'%s' op would block forever: nothing fills the infeed through the PJRT C API", o.Name()))
		case "send", "recv":
			list.Add(m.Errorf(o, "'%s' op would block forever: no host answers transfers to it through the PJRT C API", o.Name()))
		case "custom_call":
			if a, ok := o.Attr(stablehlo.AttrOutputOperandAliases).(*ir.ArrayAttr); ok && len(a.Elems()) > 0 && o.NumResults() == 0 {
				list.Add(m.Errorf(o, "'%s' op has output_operand_aliases but no results, which crashes XLA", o.Name()))
			}
		}
		return true
	})
	if call := deepCall(m); call != nil {
		list.Add(m.Errorf(call, "calls nest deeper than %d functions, which overflows the stack of XLA's compiler", maxCallDepth))
	}
	return list.Err()
}

// maxCallDepth limits the nesting of function calls. XLA's compiler recurses over them: with a stack of 8 MiB it
// survives 700 and crashes at 800.
const maxCallDepth = 500

// deepCall returns a call that starts a chain of more than maxCallDepth calls, or nil if there is none.
func deepCall(m *ir.Module) *ir.Op {
	g := flow.Of(m, nil)
	calls := map[*ir.Op][]*ir.Op{} // in a function
	for _, f := range g.Functions() {
		for _, call := range g.Callers(f) {
			caller := flow.FunctionOf(call)
			calls[caller] = append(calls[caller], call)
		}
	}
	depth := map[*ir.Op]int{} // of calls below a function; 0 while being computed, which ends recursion
	var visit func(f *ir.Op) int
	visit = func(f *ir.Op) int {
		if d, ok := depth[f]; ok {
			return d
		}
		depth[f] = 0
		for _, call := range calls[f] {
			if callee := g.Callee(call); callee != nil {
				depth[f] = max(depth[f], 1+visit(callee))
			}
		}
		return depth[f]
	}
	for _, f := range g.Functions() {
		if visit(f) <= maxCallDepth {
			continue
		}
		for _, call := range calls[f] {
			if callee := g.Callee(call); callee != nil && depth[callee] >= maxCallDepth {
				return call
			}
		}
	}
	return nil
}
