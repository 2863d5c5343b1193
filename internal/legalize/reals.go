package legalize

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// OnReals holds the pattern that computes ops on the reals that quantized values represent.
var OnReals = []*rewrite.Pattern{{Name: "quantized", Rows: ExpressedRows, Rewrite: func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	values := expandOnReals(newEmitter(r.Before(op), op), op, op.OperandList())
	if values == nil {
		return false, nil
	}
	r.Replace(op, values...)
	return true, nil
}}}

// expandOnReals dequantizes the operands of op and quantizes its results. It does not cover an op without quantized
// values.
func expandOnReals(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	if !IsQuantized(op) {
		return nil
	}
	st := op.State()
	st.Attrs, st.Operands, st.Types = slices.Clone(op.Attrs()), args, slices.Clone(op.ResultTypes())
	for i, v := range args {
		if u := uniformOf(v); u != nil {
			args[i] = e.typed(stablehlo.UniformDequantize, withElem(e.ctx, v.Type(), u.Expressed), v)
		}
	}
	for i, v := range op.Results() {
		if u := uniformOf(v); u != nil {
			st.Types[i] = withElem(e.ctx, v.Type(), u.Expressed)
		}
	}
	results := e.Insert(st).ResultList()
	for i, v := range op.Results() {
		if uniformOf(v) != nil {
			results[i] = e.typed(stablehlo.UniformQuantize, v.Type(), results[i])
		}
	}
	return results
}

// IsQuantized reports whether an operand or result of op is quantized.
func IsQuantized(op *ir.Op) bool {
	for _, v := range op.Operands() {
		if uniformOf(v) != nil {
			return true
		}
	}
	for _, v := range op.Results() {
		if uniformOf(v) != nil {
			return true
		}
	}
	return false
}

// uniformOf returns the quantization of v, or nil.
func uniformOf(v *ir.Value) *quant.Uniform {
	if t, ok := v.Type().(*ir.TensorType); ok {
		return quant.Of(t.Elem())
	}
	return nil
}
