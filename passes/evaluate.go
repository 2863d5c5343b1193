package passes

import (
	"bytes"
	"context"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

// evaluate computes op from the values of its operands. It returns one attribute per result, or nil if op has side
// effects or regions that use other values, if a type is not a static tensor of at most limit elements (0: any number),
// or if e cannot compute op.
func evaluate(ctx context.Context, e rewrite.Evaluator, op *ir.Op, operands []ir.Attr, limit int64) []ir.Attr {
	if e == nil || op.NumResults() == 0 || !op.Has(ir.Pure) || op.Effects() != 0 || captures(op) {
		return nil
	}
	for _, v := range op.Results() {
		t, ok := v.Type().(*ir.TensorType)
		if !ok || !t.Static() || t.DType() == tensor.Invalid || t.Encoding() != nil {
			return nil
		}
		if n := tensor.Shape(t.Shape()).NumElements(); n < 0 || limit > 0 && n > limit {
			return nil
		}
	}
	in := make([]*tensor.Tensor, len(operands))
	for i, a := range operands {
		d, ok := a.(*ir.DenseAttr)
		if !ok {
			return nil
		}
		t, ok := d.Type().(*ir.TensorType)
		if !ok || t.DType() == tensor.Invalid || limit > 0 && tensor.Shape(t.Shape()).NumElements() > limit {
			return nil
		}
		var err error
		if in[i], err = d.Tensor(); err != nil {
			return nil
		}
	}
	out, err := e.Evaluate(ctx, op, in)
	if err != nil || len(out) != op.NumResults() {
		return nil
	}
	attrs := make([]ir.Attr, len(out))
	for i, t := range out {
		attrs[i] = dense(op.Result(i).Type(), t)
	}
	return attrs
}

// captures reports whether the regions of op use values from outside.
func captures(op *ir.Op) bool {
	return slices.ContainsFunc(op.Regions(), func(r *ir.Region) bool { return len(flow.Captures(r)) > 0 })
}

// dense returns v as an attribute of type t: a splat if all elements are equal.
func dense(t ir.Type, v *tensor.Tensor) *ir.DenseAttr {
	b, size := v.Bytes(), v.DType().Size()
	if len(b) > size && bytes.Equal(b[size:], b[:len(b)-size]) {
		one := tensor.New(v.DType(), tensor.Shape{})
		copy(one.Bytes(), b[:size])
		return ir.NewDense(t, one, true)
	}
	return ir.NewDense(t, v, v.NumElements() == 1)
}

// replaceByConstants replaces the results of op by constants of the given values.
func replaceByConstants(r *rewrite.Rewriter, op *ir.Op, attrs []ir.Attr) {
	values := make([]*ir.Value, len(attrs))
	for i, a := range attrs {
		values[i] = constant(r, op, op.Result(i).Type(), a)
	}
	r.Replace(op, values...)
}

// constant inserts a constant before op and returns its value.
func constant(r *rewrite.Rewriter, op *ir.Op, t ir.Type, a ir.Attr) *ir.Value {
	return r.Before(op).Create(stablehlo.Constant, nil, []ir.Type{t}, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: a}).Result(0)
}
