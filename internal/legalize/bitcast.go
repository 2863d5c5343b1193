package legalize

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// IsBitcast reports whether op is a bitcast of MHLO that Bitcast replaces.
func IsBitcast(op *ir.Op) bool {
	if !op.Is(mhlo.Bitcast) {
		return false
	}
	from, ok := op.Operand(0).Type().(*ir.TensorType)
	to, also := op.Result(0).Type().(*ir.TensorType)
	return ok && also && from.Static() && to.Static() && from.DType().Bits() == to.DType().Bits() &&
		physicalOrder(op, mhlo.AttrSourceLayout, from.Rank()) != nil && physicalOrder(op, mhlo.AttrResultLayout, to.Rank()) != nil
}

// Bitcast replaces a bitcast of MHLO, which reinterprets bytes through the layouts of its operand and its result.
func Bitcast(r *rewrite.Rewriter, op *ir.Op) {
	e := newEmitter(r.Before(op), op)
	if values := expandBitcast(e, op, op.OperandList()); values != nil && e.err == nil {
		r.ReplaceRetyped(op, values...)
	}
}

// expandBitcast brings the operand into the order of its bytes, gives it the type of the result, and undoes the order
// of the bytes of the result.
func expandBitcast(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	if !IsBitcast(op) {
		return nil
	}
	to := tensorType(op.Result(0))
	x := e.transposed(args[0], physicalOrder(op, mhlo.AttrSourceLayout, tensorType(args[0]).Rank()))
	if elemOf(x) != to.Elem() {
		x = e.bitcast(x, e.ctx.Tensor(tensorType(x).Shape(), to.Elem(), nil))
	}
	perm := physicalOrder(op, mhlo.AttrResultLayout, to.Rank())
	inverse, shape := make([]int64, len(perm)), make([]int64, len(perm))
	for i, d := range perm {
		inverse[d], shape[i] = int64(i), to.Shape()[d]
	}
	return []*ir.Value{e.transposed(e.reshape(x, shape...), inverse)}
}

func (e *emitter) transposed(x *ir.Value, perm []int64) *ir.Value {
	if slices.IsSorted(perm) {
		return x
	}
	t, err := stablehlo.BuildTranspose(e.Builder, x, stablehlo.TransposeAttrs{Permutation: perm})
	return e.result(t.Op, err)
}

// physicalOrder returns the dimensions from major to minor that an attribute with a layout states; nil if it is not a
// layout.
func physicalOrder(op *ir.Op, name string, rank int) []int64 {
	order := make([]int64, rank)
	for i := range order {
		order[i] = int64(i)
	}
	if op.Attr(name) == nil {
		return order
	}
	list := view.Elements(op.Attr(name))
	if len(list) != rank {
		return nil
	}
	list = slices.Clone(list)
	slices.Reverse(list)
	if !slices.Equal(slices.Sorted(slices.Values(list)), order) {
		return nil
	}
	return list
}
