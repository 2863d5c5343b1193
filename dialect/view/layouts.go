package view

import (
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// ResultLayouts is the name of a list with the layout of each result. Some ops have it as an own attribute. On others
// it is a discardable one.
const ResultLayouts = "result_layouts"

// RowMajorLayout returns dense<[rank-1, ..., 0]> : tensor<rank x index>, the layout of a value of type t. Only tensors
// have dimensions.
func RowMajorLayout(ctx *ir.Context, t ir.Type) ir.Attr {
	rank := 0
	if t, ok := t.(*ir.TensorType); ok && t.Ranked() {
		rank = t.Rank()
	}
	v := tensor.New(tensor.Index, tensor.Shape{int64(rank)})
	for i, list := 0, tensor.View[int64](v); i < rank; i++ {
		list[i] = int64(rank - 1 - i)
	}
	return ctx.DenseFromTensor(v)
}

// RemapLayouts is a RemapAttr for result_layouts of ops that have it as a discardable attribute.
func RemapLayouts(op *ir.Op, name string, a ir.Attr, types []ir.Type, from []int) ir.Attr {
	if name != ResultLayouts {
		return a
	}
	return MoveLayouts(op.Module().Context(), a, Types(op.ResultList()), types, from)
}

// VerifyLayouts is a VerifyAttr: it checks that result_layouts, as a discardable attribute, has a layout for each of
// the results of op, or for each element of a tuple that is the only result.
func VerifyLayouts(op *ir.Op, name string, a ir.Attr, r *ir.Reporter) {
	VerifyLayoutsOf(op, name, a, Types(op.ResultList()), r)
}

// VerifyLayoutsOf is VerifyLayouts for values of the given types.
func VerifyLayoutsOf(op *ir.Op, name string, a ir.Attr, types []ir.Type, r *ir.Reporter) {
	list, ok := a.(*ir.ArrayAttr)
	if name != ResultLayouts || !ok || len(list.Elems()) == len(types) {
		return
	}
	if len(types) == 1 {
		if t, ok := types[0].(*ir.TupleType); ok && len(list.Elems()) == len(t.Elems()) {
			return
		}
	}
	r.Errorf(op, "expects result_layouts to have one layout for each result, which are %d, but it has %d", len(types), len(list.Elems()))
}

// MoveLayouts returns the layouts of values of the given types. a holds the layouts of the values before, which have
// the types old. Value i was value from[i] before, or is new if from[i] is -1. A new value has the row-major layout.
// MoveLayouts returns a itself if it has not one layout for each old value, and nil if there are no values.
func MoveLayouts(ctx *ir.Context, a ir.Attr, old, types []ir.Type, from []int) ir.Attr {
	list, ok := a.(*ir.ArrayAttr)
	if !ok || len(list.Elems()) != len(old) {
		return a
	}
	if len(types) == 0 {
		return nil
	}
	moved := make([]ir.Attr, len(types))
	for i, k := range from {
		if k >= 0 && old[k] == types[i] {
			moved[i] = list.Elems()[k]
		} else {
			moved[i] = RowMajorLayout(ctx, types[i])
		}
	}
	return ir.NewArray(moved)
}
