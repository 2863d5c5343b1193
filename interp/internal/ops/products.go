package ops

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/kernel/algebra"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// makeDotGeneral compiles dot_general (spec, "dot_general").
func makeDotGeneral(s *plan.Spec) kernel.Kernel {
	d := plan.DotDimensions(s.Op)
	return kernel.DotKernel(s.Planner.View(s.Op, 0, s.In[0]), s.Planner.View(s.Op, 1, s.In[1]), s.Out[0], d)
}

// makeConvolution compiles convolution (spec, "convolution").
func makeConvolution(s *plan.Spec) kernel.Kernel {
	a := plan.Attrs[struct {
		Padding []int64 `attr:"padding"`
	}](s.Op)
	return kernel.ConvKernel(&s.Signature, convAttributes(s), a.Padding)
}

// makeDynamicConv compiles dynamic_conv (spec, "dynamic_conv"), whose padding is an operand.
func makeDynamicConv(s *plan.Spec) kernel.Kernel {
	a := convAttributes(s)
	inner := &kernel.Signature{Name: s.Name, In: s.In[:2], Out: s.Out, Reserve: s.Reserve}
	scratch := int64(2 * 8 * s.Out[0].N)
	for _, t := range inner.In {
		scratch += int64(t.N) * int64(t.DType.Size()+8)
	}
	return kernel.Kernel{Family: "convolution", Scratch: scratch, Run: func(in, out []*tensor.Tensor) {
		pad := kernel.Must(in[2].Int64s())
		k := kernel.ConvKernel(inner, a, pad)
		k.Run(in[:2], out)
	}}
}

// convAttributes reads the attributes of a convolution, except its padding.
func convAttributes(s *plan.Spec) *kernel.ConvolutionWindow {
	d := plan.Data(plan.Attrs[struct {
		Numbers *stablehlo.ConvDims `attr:"dimension_numbers"`
	}](s.Op).Numbers, stablehlo.AttrDimensionNumbers)
	a := plan.Attrs[struct {
		Groups      int     `attr:"feature_group_count,1"`
		BatchGroups int     `attr:"batch_group_count,1"`
		Strides     []int64 `attr:"window_strides,1"`
		Left        []int64 `attr:"lhs_dilation,1"`
		Right       []int64 `attr:"rhs_dilation,1"`
		Reversal    []int64 `attr:"window_reversal,0"`
	}](s.Op, len(d.InputSpatial))
	return &kernel.ConvolutionWindow{Dims: (*kernel.ConvDimensions)(d), Groups: a.Groups, BatchGroups: a.BatchGroups,
		Stride: a.Strides, LhsDil: a.Left, RhsDil: a.Right, Reversal: a.Reversal}
}

// makeCholesky compiles cholesky (spec, "cholesky"). The spec does not define the other triangle of the result; here it
// is zero. A matrix that is not positive definite yields NaNs.
func makeCholesky(s *plan.Spec) kernel.Kernel {
	a := plan.Attrs[struct {
		Lower bool `attr:"lower"`
	}](s.Op)
	return algebra.CholeskyKernel(&s.Signature, a.Lower)
}

// makeTriangularSolve compiles triangular_solve (spec, "triangular_solve").
func makeTriangularSolve(s *plan.Spec) kernel.Kernel {
	a := plan.Attrs[struct {
		Left      bool   `attr:"left_side"`
		Lower     bool   `attr:"lower"`
		Unit      bool   `attr:"unit_diagonal"`
		Transpose string `attr:"transpose_a,NO_TRANSPOSE"`
	}](s.Op)
	return algebra.SolveKernel(&s.Signature, a.Left, a.Lower, a.Unit, a.Transpose)
}

// makeFFT compiles fft (spec, "fft"), which transforms the last one to three dimensions.
func makeFFT(s *plan.Spec) kernel.Kernel {
	a := plan.Attrs[struct {
		Type   string  `attr:"fft_type"`
		Length []int64 `attr:"fft_length"`
	}](s.Op)
	return algebra.FftKernel(&s.Signature, a.Type, a.Length)
}

// planFactor returns the function that compiles XLA's custom call of a matrix factorization, or nil.
func planFactor(target string) func(*Host, *plan.Planner, *plan.Spec) exec.Runner {
	var make func(*plan.Spec) kernel.Kernel
	switch target {
	case "Qr":
		make = func(s *plan.Spec) kernel.Kernel { return algebra.QRKernel(&s.Signature) }
	case "ProductOfElementaryHouseholderReflectors":
		make = func(s *plan.Spec) kernel.Kernel { return algebra.ReflectorsKernel(&s.Signature) }
	case "Eigh":
		make = makeEigh
	default:
		return nil
	}
	return func(_ *Host, p *plan.Planner, s *plan.Spec) exec.Runner {
		return p.KernelControl(make, s)
	}
}

// makeEigh compiles the custom call Eigh. Its configuration is "lower,sort,sweeps,tolerance".
func makeEigh(s *plan.Spec) kernel.Kernel {
	var lower, sort int
	var o algebra.EigenOptions
	config := plan.Attrs[struct {
		Config string `attr:"backend_config"`
	}](s.Op).Config
	_, err := fmt.Sscanf(config, "%d,%d,%d,%g", &lower, &sort, &o.Sweeps, &o.Tolerance)
	kernel.FailIf(err != nil, "expects a configuration such as \"1,1,100,1e-6\", but has %q", config)
	o.Lower, o.Sort = lower != 0, sort != 0
	return algebra.EigenKernel(&s.Signature, o)
}
