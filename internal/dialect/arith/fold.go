package arith

import (
	"slices"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// maxFolded is the largest number of elements that folds compute.
const maxFolded = 1 << 10

// Ints returns the elements of v if a constant gives it and it is an integer, an index, or a small tensor of these.
func Ints(v *ir.Value) ([]int64, bool) {
	op := v.DefiningOp()
	if op == nil || !op.Has(ir.ConstantLike) {
		return nil, false
	}
	switch a := op.Attr(op.Def().Attrs[0].Name).(type) {
	case *ir.IntegerAttr:
		if a.Wide() == nil {
			return []int64{a.Value()}, true
		}
	case *ir.DenseAttr:
		if t, ok := a.Type().(*ir.TensorType); ok && t.Static() && tensor.Shape(t.Shape()).NumElements() <= maxFolded {
			list, err := a.Int64s()
			return list, err == nil
		}
	}
	return nil, false
}

// Value returns the attribute of a number or a static tensor of type t with the given elements, wrapped to its width.
func Value(t ir.Type, list []int64) ir.Attr {
	shape, elem := parts(t)
	width := 64
	if i, ok := elem.(*ir.IntegerType); ok {
		width = i.Width()
	}
	if width > 64 || slices.Contains(shape, ir.Dynamic) {
		return nil
	}
	out := slices.Clone(list)
	for i := range out {
		if out[i] = out[i] << (64 - width) >> (64 - width); width == 1 {
			out[i] &= 1
		}
	}
	tt, ok := t.(*ir.TensorType)
	if !ok {
		return ir.NewInteger(out[0], t)
	}
	splat := len(out) > 0 && !slices.ContainsFunc(out, func(v int64) bool { return v != out[0] })
	v := tensor.New(tt.DType(), tensor.Shape(shape))
	if splat {
		v, out = tensor.New(tt.DType(), nil), out[:1]
	}
	for i, n := range out {
		v.SetInt(i, n)
	}
	return ir.NewDense(t, v, splat)
}

// Folded returns the result of a fold that computes list, a value of type t.
func Folded(t ir.Type, list []int64) []ir.Folded {
	if a := Value(t, list); a != nil {
		return []ir.Folded{{Attr: a, Constant: Constant}}
	}
	return nil
}

// every reports whether all elements of v are the constant n.
func every(v *ir.Value, n int64) bool {
	list, ok := Ints(v)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(x int64) bool { return x != n })
}

// folds returns the fold of a binary op. compute returns the result for two elements; ok is false if there is none.
// neutral is the right operand that makes the result equal to the left one.
func folds(neutral int64, compute func(a, b int64) (v int64, ok bool)) func(*ir.Op) []ir.Folded {
	return func(op *ir.Op) []ir.Folded {
		if every(op.Operand(1), neutral) {
			return []ir.Folded{{Value: op.Operand(0)}}
		}
		return computed(op, compute)
	}
}

// computed folds a binary op of constants.
func computed(op *ir.Op, compute func(a, b int64) (v int64, ok bool)) []ir.Folded {
	a, ok1 := Ints(op.Operand(0))
	b, ok2 := Ints(op.Operand(1))
	if !ok1 || !ok2 || len(a) != len(b) {
		return nil
	}
	out := make([]int64, len(a))
	for i := range a {
		var ok bool
		if out[i], ok = compute(a[i], b[i]); !ok {
			return nil
		}
	}
	return Folded(op.Result(0).Type(), out)
}

var foldSum = folds(0, func(a, b int64) (int64, bool) { return a + b, true })

// foldDifference also folds x - x of numbers.
func foldDifference(op *ir.Op) []ir.Folded {
	if shape, _ := parts(op.Operand(0).Type()); shape == nil && op.Operand(0) == op.Operand(1) {
		return Folded(op.Result(0).Type(), []int64{0})
	}
	return folds(0, func(a, b int64) (int64, bool) { return a - b, true })(op)
}

// foldProduct also folds x * 0.
func foldProduct(op *ir.Op) []ir.Folded {
	if every(op.Operand(1), 0) {
		return []ir.Folded{{Value: op.Operand(1)}}
	}
	return folds(1, func(a, b int64) (int64, bool) { return a * b, true })(op)
}

// foldQuotient folds no division by zero and none that overflows.
var foldQuotient = folds(1, func(a, b int64) (int64, bool) {
	if b == 0 || b == -1 {
		return 0, false
	}
	return a / b, true
})

// foldIndexCast folds the cast of a constant, and a cast back to the first type that lost no bits.
func foldIndexCast(op *ir.Op) []ir.Folded {
	_, elem := parts(op.Operand(0).Type())
	between, ok := elem.(*ir.IntegerType)
	if from := op.Operand(0).DefiningOp(); from != nil && from.Is(op.Def()) && from.Operand(0).Type() == op.Result(0).Type() && (!ok || between.Width() >= 64) {
		return []ir.Folded{{Value: from.Operand(0)}}
	}
	if list, ok := Ints(op.Operand(0)); ok {
		return Folded(op.Result(0).Type(), list)
	}
	return nil
}

// foldCompare folds the comparison of a value with itself, and of constants.
func foldCompare(op *ir.Op) []ir.Folded {
	p := op.Attr("predicate").(*ir.IntegerAttr).Value()
	if op.Operand(0) == op.Operand(1) {
		if op.Result(0).Type() != ir.Type(ir.Int(1)) {
			return nil
		}
		return Folded(op.Result(0).Type(), []int64{truth(holds(p, 0, 0))})
	}
	return computed(op, func(a, b int64) (int64, bool) { return truth(holds(p, a, b)), true })
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// holds decides a predicate of cmpi.
func holds(predicate, a, b int64) bool {
	switch predicates[predicate] {
	case "eq":
		return a == b
	case "ne":
		return a != b
	case "slt":
		return a < b
	case "sle":
		return a <= b
	case "sgt":
		return a > b
	case "sge":
		return a >= b
	case "ult":
		return uint64(a) < uint64(b)
	case "ule":
		return uint64(a) <= uint64(b)
	case "ugt":
		return uint64(a) > uint64(b)
	}
	return uint64(a) >= uint64(b)
}

// foldSelect folds a select whose condition is known, whose values are equal, or whose values are true and false.
func foldSelect(op *ir.Op) []ir.Folded {
	c, a, b := op.Operand(0), op.Operand(1), op.Operand(2)
	switch {
	case a == b, every(c, 1):
		return []ir.Folded{{Value: a}}
	case every(c, 0):
		return []ir.Folded{{Value: b}}
	case c.Type() == a.Type() && every(a, 1) && every(b, 0):
		return []ir.Folded{{Value: c}}
	}
	return nil
}
