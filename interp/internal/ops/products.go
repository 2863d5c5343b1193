package ops

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
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
	pad := plan.IntsAttr(s.Op, stablehlo.AttrPadding)
	a := convAttributes(s)
	return kernel.ConvKernel(&s.Signature, a, pad)
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
	d := plan.Data[*stablehlo.ConvDims](s.Op, stablehlo.AttrDimensionNumbers)
	n := len(d.InputSpatial)
	w := &kernel.ConvolutionWindow{Dims: (*kernel.ConvDimensions)(d), Groups: int(view.IntOr(s.Op.Attr(stablehlo.AttrFeatureGroupCount), 1)),
		BatchGroups: int(view.IntOr(s.Op.Attr(stablehlo.AttrBatchGroupCount), 1))}
	for _, x := range []struct {
		list *[]int64
		name string
		def  int64
	}{{&w.Stride, stablehlo.AttrWindowStrides, 1}, {&w.LhsDil, stablehlo.AttrLHSDilation, 1}, {&w.RhsDil, stablehlo.AttrRHSDilation, 1}, {&w.Reversal, stablehlo.AttrWindowReversal, 0}} {
		*x.list = plan.IntsOr(s.Op, x.name, n, x.def)
	}
	return w
}

// makeCholesky compiles cholesky (spec, "cholesky"). The spec does not define the other triangle of the result; here it
// is zero. A matrix that is not positive definite yields NaNs.
func makeCholesky(s *plan.Spec) kernel.Kernel {
	return algebra.CholeskyKernel(&s.Signature, view.Bool(s.Op.Attr(stablehlo.AttrLower)))
}

// makeTriangularSolve compiles triangular_solve (spec, "triangular_solve").
func makeTriangularSolve(s *plan.Spec) kernel.Kernel {
	return algebra.SolveKernel(&s.Signature, view.Bool(s.Op.Attr(stablehlo.AttrLeftSide)), view.Bool(s.Op.Attr(stablehlo.AttrLower)),
		view.Bool(s.Op.Attr(stablehlo.AttrUnitDiagonal)), plan.EnumAttr(s.Op, stablehlo.AttrTransposeA, "NO_TRANSPOSE"))
}

// makeFFT compiles fft (spec, "fft"), which transforms the last one to three dimensions.
func makeFFT(s *plan.Spec) kernel.Kernel {
	length := plan.IntsAttr(s.Op, stablehlo.AttrFftLength)
	return algebra.FftKernel(&s.Signature, plan.EnumAttr(s.Op, stablehlo.AttrFftType, ""), length)
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
	config := view.String(s.Op.Attr(stablehlo.AttrBackendConfig))
	_, err := fmt.Sscanf(config, "%d,%d,%d,%g", &lower, &sort, &o.Sweeps, &o.Tolerance)
	kernel.FailIf(err != nil, "expects a configuration such as \"1,1,100,1e-6\", but has %q", config)
	o.Lower, o.Sort = lower != 0, sort != 0
	return algebra.EigenKernel(&s.Signature, o)
}
