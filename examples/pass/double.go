package main

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

// Double replaces the sum of a value and itself by its double.
type Double struct {
	Integers bool `pass:"integers" doc:"also replace sums of integers"`
	pass.Rules
}

func (Double) Info() *pass.Info {
	return &pass.Info{
		Name:       "double",
		Doc:        "Replaces the sum of a value and itself by its double.",
		Anchor:     fn.Func.Name,
		Idempotent: true,
	}
}

func (p Double) Run(ctx *pass.Context, f *ir.Op) error {
	_, err := p.Greedy(ctx, f, []*rewrite.Pattern{p.pattern()}, rewrite.Options{})
	return err
}

func (p Double) pattern() *rewrite.Pattern {
	// x + x = 2x. Both sides round the same number; they agree on infinities and NaN, and integers wrap alike.
	return rewrite.For("sum-to-double", stablehlo.Add, stablehlo.AsAdd, func(r *rewrite.Rewriter, sum stablehlo.AddOp) (bool, error) {
		x := sum.LHS()
		t, ok := x.Type().(*ir.TensorType)
		if !ok || x != sum.RHS() || !t.Static() || !t.DType().IsFloat() && !(p.Integers && t.DType().IsInteger()) {
			return false, nil
		}
		two := tensor.New(t.DType(), nil)
		two.SetFloat(0, 2)
		c, err := stablehlo.BuildConstant(r.Before(sum.Op), stablehlo.ConstantAttrs{Value: ir.NewDense(t, two, true)})
		if err != nil {
			return false, err
		}
		product, err := stablehlo.BuildMultiply(r.Like(sum.Op), x, c.Result(0))
		if err != nil {
			return false, err
		}
		r.Replace(sum.Op, product.Result(0))
		return true, nil
	})
}
