package pjrt

import (
	"regexp"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// Check refuses two kinds of programs that a PJRT plugin must not receive: programs that would block forever,
// because nothing feeds or drains them through the PJRT C API, and programs that crash XLA's compiler. The error is a
// diag.List with the positions. Programs whose hooks hlocb rewrote contain no op that blocks.
func Check(m *ir.Module) error {
	var list diag.List
	shardy := &shardyText{m: m, list: &list}
	shardy.op(m.Op())
	m.Walk(func(o *ir.Op) bool {
		shardy.op(o)
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
		case "bitcast_convert":
			if unpacksBools(o) {
				list.Add(m.Errorf(o, "'%s' op changes the width of i1, which crashes XLA", o.Name()))
			}
		case "sort":
			if c := looseComparator(o); c != nil {
				list.Add(m.Errorf(c, "the comparator is true for equal elements (%s), which crashes XLA: use LT or GT", c.Attr(stablehlo.AttrComparisonDirection)))
			}
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

// unpacksBools reports whether a bitcast_convert is between i1 and a type of another width.
func unpacksBools(o *ir.Op) bool {
	if o.NumOperands() != 1 || o.NumResults() != 1 {
		return false
	}
	from, ok := o.Operand(0).Type().(*ir.TensorType)
	to, also := o.Result(0).Type().(*ir.TensorType)
	return ok && also && from.DType() != to.DType() && (from.DType() == tensor.I1 || to.DType() == tensor.I1)
}

// looseComparator returns the comparison whose result is that of a sort's comparator, if it is true for equal elements.
// XLA's sort reads beyond its elements then.
func looseComparator(o *ir.Op) *ir.Op {
	if len(o.Regions()) != 1 || o.Region(0).Entry() == nil {
		return nil
	}
	end := o.Region(0).Entry().Terminator()
	if end == nil || end.NumOperands() != 1 || end.Operand(0).DefiningOp() == nil {
		return nil
	}
	c, ok := stablehlo.AsCompare(end.Operand(0).DefiningOp())
	if !ok {
		return nil
	}
	switch c.ComparisonDirection() {
	case stablehlo.ComparisonDirectionLE, stablehlo.ComparisonDirectionGE, stablehlo.ComparisonDirectionEQ:
		return c.Op
	}
	return nil
}

// shardyText checks the strings in which HLO keeps Shardy's meshes and shardings. XLA aborts on unknown meshes and on
// meshes that it cannot parse. A module's ops sdy.mesh define meshes for these strings, too.
type shardyText struct {
	m      *ir.Module
	list   *diag.List
	meshes map[string]bool // nil before the module's attributes were read
}

var (
	meshList = regexp.MustCompile(`^\{\s*(?:[\w.$-]+ = #sdy\.mesh<[^<>]*>,?\s*)*\}$`)
	meshName = regexp.MustCompile(`([\w.$-]+) = #sdy\.mesh<`)
	meshUse  = regexp.MustCompile(`#sdy\.sharding(?:_per_value)?<\[?<?@([\w.$-]+)`)
)

func (t *shardyText) op(o *ir.Op) {
	if o == t.m.Op() {
		t.meshes = map[string]bool{}
		for p := range t.m.Body().Ops() {
			if mesh, ok := sdy.AsMesh(p); ok {
				t.meshes[mesh.SymName()] = true
			}
		}
		t.attrs(o, o.Attrs())
		return
	}
	t.attrs(o, o.Attrs())
}

func (t *shardyText) attrs(o *ir.Op, list ir.AttrList) {
	for _, a := range list {
		t.attr(o, a.Name, a.Attr)
	}
}

func (t *shardyText) attr(o *ir.Op, name string, a ir.Attr) {
	switch a := a.(type) {
	case *ir.DictAttr:
		t.attrs(o, a.Entries())
	case *ir.ArrayAttr:
		for _, e := range a.Elems() {
			if d, ok := e.(*ir.DictAttr); ok { // of arguments and results
				t.attrs(o, d.Entries())
			}
		}
	case *ir.StringAttr:
		switch text := a.Value(); name {
		case "xla.sdy.meshes":
			if !meshList.MatchString(text) {
				t.list.Add(t.m.Errorf(o, "xla.sdy.meshes is not a list of meshes, which crashes XLA: %.200q", text))
			}
			for _, m := range meshName.FindAllStringSubmatch(text, -1) {
				t.meshes[m[1]] = true
			}
		case "xla.sdy.sharding", "xla.sdy.in_shardings", "xla.sdy.out_shardings":
			for _, m := range meshUse.FindAllStringSubmatch(text, -1) {
				if !t.meshes[m[1]] {
					t.list.Add(t.m.Errorf(o, "%s names mesh @%s, which neither xla.sdy.meshes of the module nor an sdy.mesh defines; XLA crashes on it", name, m[1]))
				}
			}
		}
	}
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
