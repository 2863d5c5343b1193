package main

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// Absorb moves transposes of the operands of dot_general into its dimension numbers.
var Absorb = pass.Patterns{
	About:   &pass.Info{Name: "absorb-transposes", Doc: "Moves transposes into dot_general.", Anchor: "func.func", Idempotent: true},
	List:    []*rewrite.Pattern{rewrite.For("dot-of-transpose", stablehlo.DotGeneral, stablehlo.AsDotGeneral, absorb)},
	Options: rewrite.Options{EraseDead: true},
}

// dot(transpose(x, p), y, dims) = dot(x, y, p[dims]), if p keeps the order of the dimensions that dims does not name.
func absorb(r *rewrite.Rewriter, dot stablehlo.DotGeneralOp) (bool, error) {
	dims := *dot.Dims()
	lhs := through(dot.LHS(), &dims.LHSBatching, &dims.LHSContracting)
	rhs := through(dot.RHS(), &dims.RHSBatching, &dims.RHSContracting)
	if lhs == dot.LHS() && rhs == dot.RHS() {
		return false, nil
	}
	r.Update(dot.Op, func() { dot.SetLHS(lhs); dot.SetRHS(rhs); dot.SetDims(&dims) })
	return true, nil
}

func through(v *ir.Value, batching, contracting *[]int64) *ir.Value {
	t, ok := stablehlo.AsTranspose(v.DefiningOp())
	if !ok {
		return v
	}
	named := make([]bool, len(t.Permutation()))
	from := func(dims []int64) (out []int64) {
		for _, d := range dims {
			named[d], out = true, append(out, t.Permutation()[d])
		}
		return out
	}
	b, c, last := from(*batching), from(*contracting), int64(-1)
	for d, free := range t.Permutation() {
		if !named[d] && free < last {
			return v
		} else if !named[d] {
			last = free
		}
	}
	*batching, *contracting = b, c
	return t.Input()
}
