package ops

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/view"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/kernel/algebra"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// makeDotGeneral compiles dot_general (spec, "dot_general").
func makeDotGeneral(s *plan.Spec) (kernel.Kernel, error) {
	d, err := plan.DotDimensions(s.Op)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.DotKernel(s.Planner.View(s.Op, 0, s.In[0]), s.Planner.View(s.Op, 1, s.In[1]), s.Out[0], d)
}

// makeConvolution compiles convolution (spec, "convolution").
func makeConvolution(s *plan.Spec) (kernel.Kernel, error) {
	pad, err := plan.IntsAttr(s.Op, stablehlo.AttrPadding)
	if err != nil {
		return kernel.Kernel{}, err
	}
	a, err := convAttributes(s)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.ConvKernel(&s.Signature, a, pad)
}

// makeDynamicConv compiles dynamic_conv (spec, "dynamic_conv"), whose padding is an operand.
func makeDynamicConv(s *plan.Spec) (kernel.Kernel, error) {
	a, err := convAttributes(s)
	if err != nil {
		return kernel.Kernel{}, err
	}
	inner := &kernel.Signature{Name: s.Name, In: s.In[:2], Out: s.Out, Reserve: s.Reserve}
	scratch := int64(2 * 8 * s.Out[0].N)
	for _, t := range inner.In {
		scratch += int64(t.N) * int64(t.DType.Size()+8)
	}
	return kernel.Kernel{Family: "convolution", Scratch: scratch, Run: func(in, out []*tensor.Tensor) {
		pad, err := in[2].Int64s()
		kernel.Fail(err)
		k, err := kernel.ConvKernel(inner, a, pad)
		kernel.Fail(err)
		k.Run(in[:2], out)
	}}, nil
}

// convAttributes reads the attributes of a convolution, except its padding.
func convAttributes(s *plan.Spec) (*kernel.ConvolutionWindow, error) {
	d, err := plan.Data[*stablehlo.ConvDims](s.Op, stablehlo.AttrDimensionNumbers)
	if err != nil {
		return nil, err
	}
	n := len(d.InputSpatial)
	w := &kernel.ConvolutionWindow{Dims: (*kernel.ConvDimensions)(d), Groups: int(view.IntOr(s.Op.Attr(stablehlo.AttrFeatureGroupCount), 1)),
		BatchGroups: int(view.IntOr(s.Op.Attr(stablehlo.AttrBatchGroupCount), 1))}
	for _, x := range []struct {
		list *[]int64
		name string
		def  int64
	}{{&w.Stride, stablehlo.AttrWindowStrides, 1}, {&w.LhsDil, stablehlo.AttrLHSDilation, 1}, {&w.RhsDil, stablehlo.AttrRHSDilation, 1}, {&w.Reversal, stablehlo.AttrWindowReversal, 0}} {
		if *x.list, err = plan.IntsOr(s.Op, x.name, n, x.def); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// makeCholesky compiles cholesky (spec, "cholesky"). The spec does not define the other triangle of the result; here it
// is zero. A matrix that is not positive definite yields NaNs.
func makeCholesky(s *plan.Spec) (kernel.Kernel, error) {
	return algebra.CholeskyKernel(&s.Signature, view.Bool(s.Op.Attr(stablehlo.AttrLower)))
}

// makeTriangularSolve compiles triangular_solve (spec, "triangular_solve").
func makeTriangularSolve(s *plan.Spec) (kernel.Kernel, error) {
	return algebra.SolveKernel(&s.Signature, view.Bool(s.Op.Attr(stablehlo.AttrLeftSide)), view.Bool(s.Op.Attr(stablehlo.AttrLower)),
		view.Bool(s.Op.Attr(stablehlo.AttrUnitDiagonal)), plan.EnumAttr(s.Op, stablehlo.AttrTransposeA, "NO_TRANSPOSE"))
}

// makeFFT compiles fft (spec, "fft"), which transforms the last one to three dimensions.
func makeFFT(s *plan.Spec) (kernel.Kernel, error) {
	length, err := plan.IntsAttr(s.Op, stablehlo.AttrFftLength)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return algebra.FftKernel(&s.Signature, plan.EnumAttr(s.Op, stablehlo.AttrFftType, ""), length)
}
