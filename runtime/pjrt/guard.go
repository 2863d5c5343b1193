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
	e := equalElements{names: map[*ir.Value]string{}, truths: map[*ir.Value]truth{}}
	if e.truth(end.Operand(0)) != always {
		return nil
	}
	return end.Operand(0).DefiningOp() // the truth of an argument is unknown
}

// truth is a boolean of Kleene's logic. The numbers make the minimum its conjunction, and the negative its negation.
type truth int

const (
	never truth = iota - 1
	perhaps
	always
)

// equalElements evaluates a comparator whose arguments are equal in pairs, as far as that decides the result. It keeps
// what it has evaluated, because a comparator may use a value many times.
type equalElements struct {
	names  map[*ir.Value]string // equal values have equal names
	truths map[*ir.Value]truth
}

// name returns a text that is equal for equal values.
func (e equalElements) name(v *ir.Value) string {
	if name, ok := e.names[v]; ok {
		return name
	}
	name := fmt.Sprintf("%p", v)
	if op := v.DefiningOp(); op == nil {
		name = fmt.Sprintf("pair %d of %p", v.Index()/2, v.ParentBlock())
	} else if op.Has(ir.Pure) && len(op.Regions()) == 0 {
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
	e.names[v] = name
	return name
}

// truth evaluates a boolean.
func (e equalElements) truth(v *ir.Value) truth {
	t, ok := e.truths[v]
	if op := v.DefiningOp(); op != nil && !ok {
		t = e.evaluate(op)
		e.truths[v] = t
	}
	return t
}

// evaluate evaluates the result of an op.
func (e equalElements) evaluate(op *ir.Op) truth {
	operand := func(i int) truth { return e.truth(op.Operand(i)) }
	if c, ok := stablehlo.AsCompare(op); ok {
		if e.name(c.LHS()) != e.name(c.RHS()) {
			return perhaps
		}
		switch c.ComparisonDirection() {
		case stablehlo.ComparisonDirectionLE, stablehlo.ComparisonDirectionGE, stablehlo.ComparisonDirectionEQ:
			return always
		}
		return never
	}
	switch n := op.NumOperands(); {
	case op.IsOrMirrors(stablehlo.Constant):
		if d, ok := op.Attr(stablehlo.AttrValue).(*ir.DenseAttr); ok {
			if t, err := d.Tensor(); err == nil && t.NumElements() == 1 {
				return truth(2*t.IntAt(0) - 1)
			}
		}
	case n == 1 && op.IsOrMirrors(stablehlo.Not):
		return -operand(0)
	case n == 2 && op.IsOrMirrors(stablehlo.And):
		return min(operand(0), operand(1))
	case n == 2 && op.IsOrMirrors(stablehlo.Or):
		return max(operand(0), operand(1))
	case n == 2 && op.IsOrMirrors(stablehlo.Xor):
		return -operand(0) * operand(1)
	case n == 3 && op.IsOrMirrors(stablehlo.Select):
		switch operand(0) {
		case always:
			return operand(1)
		case never:
			return operand(2)
		}
	}
	return perhaps
}

// maxCallDepth limits the nesting of function calls. XLA's compiler recurses over them: with a stack of 8 MiB it
// survives 700 and crashes at 800.
const maxCallDepth = 500

// deepCall returns a call that starts a chain of more than maxCallDepth calls, or nil if there is none.
func deepCall(m *ir.Module) *ir.Op {
	g := flow.Of(m, nil)
	type call struct{ op, callee *ir.Op }
	calls := map[*ir.Op][]call{} // in a function
	for _, f := range g.Functions() {
		for _, op := range g.Callers(f) {
			caller := flow.FunctionOf(op)
			calls[caller] = append(calls[caller], call{op, f})
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
			depth[f] = max(depth[f], 1+visit(call.callee))
		}
		return depth[f]
	}
	for _, f := range g.Functions() {
		visit(f)
		for _, call := range calls[f] {
			if depth[call.callee] >= maxCallDepth {
				return call.op
			}
		}
	}
	return nil
}
