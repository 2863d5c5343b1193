package pjrt

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/shardy"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/tensor"
)

// Check refuses two kinds of programs that a PJRT plugin must not receive: programs that would block forever,
// because nothing feeds or drains them through the PJRT C API, and programs that crash XLA's compiler. The error is a
// diag.List with the positions. Programs whose hooks hlocb rewrote contain no op that blocks.
func Check(m *ir.Module) error {
	var list diag.List
	list = append(list, diag.ListOf(shardy.Check(m))...) // XLA crashes on unknown meshes, for example
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
		case "bitcast_convert":
			if unpacksBools(o) {
				list.Add(m.Errorf(o, "'%s' op changes the width of i1, which crashes XLA", o.Name()))
			}
		case "sort":
			if c := looseComparator(o); c != nil {
				list.Add(m.Errorf(c, "the comparator is true for equal elements, which crashes XLA: use LT or GT"))
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

// looseComparator returns the op whose result is that of a sort's comparator, if the comparator is true for equal
// elements. XLA's sort reads beyond its elements then.
func looseComparator(o *ir.Op) *ir.Op {
	if len(o.Regions()) != 1 || o.Region(0).Entry() == nil {
		return nil
	}
	end := o.Region(0).Entry().Terminator()
	if end == nil || end.NumOperands() != 1 {
		return nil
	}
	if answer, known := (equalElements{}).truth(end.Operand(0)); !answer || !known {
		return nil
	}
	if d := end.Operand(0).DefiningOp(); d != nil {
		return d
	}
	return end
}

// equalElements evaluates a comparator whose arguments are equal in pairs, as far as that decides the result. It maps
// the values that it has named to numbers; equal values have equal numbers.
type equalElements map[*ir.Value]string

// name returns a text that is equal for equal values.
func (e equalElements) name(v *ir.Value) string {
	if name, ok := e[v]; ok {
		return name
	}
	name := fmt.Sprintf("%p", v)
	if op := v.DefiningOp(); op == nil {
		name = fmt.Sprintf("pair %d of %p", v.Index()/2, v.ParentBlock())
	} else if op.Has(ir.Pure) && len(op.Regions()) == 0 && len(e) < maxNames {
		var names []string
		for _, o := range op.OperandList() {
			names = append(names, e.name(o))
		}
		name = fmt.Sprintf("%s %d %v %v %s", op.Name(), v.Index(), names, op.Attrs(), v.Type())
		if len(name) > 100 {
			sum := sha256.Sum256([]byte(name))
			name = string(sum[:])
		}
	}
	e[v] = name
	return name
}

// maxNames limits the values of a comparator that are compared by their ops.
const maxNames = 1000

// truth returns the value of a boolean, if it is known.
func (e equalElements) truth(v *ir.Value) (answer, known bool) {
	op := v.DefiningOp()
	if op == nil {
		return false, false
	}
	if c, ok := stablehlo.AsCompare(op); ok {
		if e.name(c.LHS()) != e.name(c.RHS()) {
			return false, false
		}
		switch c.ComparisonDirection() {
		case stablehlo.ComparisonDirectionLE, stablehlo.ComparisonDirectionGE, stablehlo.ComparisonDirectionEQ:
			return true, true
		}
		return false, true
	}
	if op.IsOrMirrors(stablehlo.Constant) {
		d, ok := op.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
		if !ok {
			return false, false
		}
		t, err := d.Tensor()
		return err == nil && t.NumElements() == 1 && t.IntAt(0) != 0, err == nil && t.NumElements() == 1
	}
	if op.NumOperands() == 0 || op.NumOperands() > 3 {
		return false, false
	}
	a, ka := e.truth(op.Operand(0))
	switch {
	case op.IsOrMirrors(stablehlo.Not):
		return !a, ka
	case op.IsOrMirrors(stablehlo.Select):
		if ka && a {
			return e.truth(op.Operand(1))
		} else if ka {
			return e.truth(op.Operand(2))
		}
		return false, false
	}
	if op.NumOperands() != 2 {
		return false, false
	}
	b, kb := e.truth(op.Operand(1))
	switch {
	case op.IsOrMirrors(stablehlo.And):
		return a && b, ka && kb || ka && !a || kb && !b
	case op.IsOrMirrors(stablehlo.Or):
		return a || b, ka && kb || ka && a || kb && b
	case op.IsOrMirrors(stablehlo.Xor):
		return a != b, ka && kb
	}
	return false, false
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
