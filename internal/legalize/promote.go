package legalize

import (
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// Regions of reductions may compute in a type to which the operands' type is promoted (spec, "reduce", "reduce_window",
// "scatter", "all_reduce", ...: is_promotable), such as sums of bf16 in f32, or of quantized i8 in quantized i32.

// Promotes reports whether the region of op computes in another type than the operands have.
func Promotes(op *ir.Op) bool {
	for i, v := range op.Operands() {
		if t := regionElem(op, i); t != nil && t != elemOf(v) {
			return true
		}
	}
	return false
}

// regionElem returns the element type in which the region of a reduction computes operand i, or nil.
func regionElem(op *ir.Op, i int) ir.Type {
	n := op.NumResults()
	if len(op.Regions()) == 0 || len(op.Region(0).Blocks()) != 1 || n == 0 {
		return nil
	}
	at := -1
	switch op.Def().Original() {
	case stablehlo.Reduce, stablehlo.ReduceWindow:
		at = i % n
	case stablehlo.Scatter:
		if i != n { // the indices
			at = i % (n + 1)
		}
	case stablehlo.AllReduce, stablehlo.CollectiveReduce, stablehlo.ReduceScatter:
		if i < n { // the roots
			at = 0
		}
	}
	if args := op.Region(0).Entry().Args(); at >= 0 && at < len(args) {
		t, ok := args[at].Type().(*ir.TensorType)
		if _, tensor := op.Operand(i).Type().(*ir.TensorType); ok && tensor {
			return t.Elem()
		}
	}
	return nil
}

// expandPromotion converts the operands of op to the types in which its region computes.
func expandPromotion(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	for i, v := range args {
		t := regionElem(op, i)
		switch {
		case t == nil || t == elemOf(v):
		case quant.Of(t) != nil:
			args[i] = e.typed(stablehlo.UniformQuantize, withElem(e.ctx, v.Type(), t), v)
		default:
			args[i] = e.convert(v, t)
		}
	}
	n := e.Clone(op, map[*ir.Value]*ir.Value{})
	n.SetOperands(args)
	return n.ResultList()
}
