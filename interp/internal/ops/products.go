package ops

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/kernel/algebra"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// makeEinsum compiles the old op einsum, "ab,bc->ac". Labels in both operands and the result are batch dimensions.
// Labels in both operands but not in the result are contracted. Labels in only one operand and not in the result are
// summed first. A label repeated within one operand selects the diagonal of its dimensions.
func makeEinsum(s *plan.Spec) (kernel.Kernel, error) {
	args, result, ok := strings.Cut(plan.StringAttr(s.Op, stablehlo.AttrEinsumConfig), "->")
	left, right, ok2 := strings.Cut(args, ",")
	if !ok || !ok2 {
		return kernel.Kernel{}, fmt.Errorf("has einsum_config %q", plan.StringAttr(s.Op, stablehlo.AttrEinsumConfig))
	}
	out, err := kernel.Labels(result, s.Out[0])
	if err != nil {
		return kernel.Kernel{}, err
	}
	inOther := func(other string) func(c rune) bool {
		return func(c rune) bool { return strings.ContainsRune(other, c) || slices.Contains(out, c) }
	}
	x, err := kernel.NewEinsumOperand(left, s.In[0], inOther(right))
	if err != nil {
		return kernel.Kernel{}, err
	}
	y, err := kernel.NewEinsumOperand(right, s.In[1], inOther(left))
	if err != nil {
		return kernel.Kernel{}, err
	}
	l, r := x.Labels, y.Labels
	d := &kernel.DotDimensions{}
	var order []rune // labels of the product's dimensions
	for i, c := range l {
		switch at := slices.Index(r, c); {
		case at >= 0 && slices.Contains(out, c):
			d.LHSBatching, d.RHSBatching = append(d.LHSBatching, int64(i)), append(d.RHSBatching, int64(at))
			order = append(order, c)
		case at >= 0:
			d.LHSContracting, d.RHSContracting = append(d.LHSContracting, int64(i)), append(d.RHSContracting, int64(at))
		}
	}
	size := map[rune]int64{}
	for _, side := range []struct{ own, other *kernel.EinsumOperand }{{x, y}, {y, x}} {
		for i, c := range side.own.Labels {
			size[c] = side.own.Typ.Shape[i]
			if !slices.Contains(side.other.Labels, c) {
				order = append(order, c)
			}
		}
	}
	if len(order) != len(out) {
		return kernel.Kernel{}, errors.New("has a result label that no operand has")
	}
	mid := tensor.Shape{}
	perm := make([]int64, len(out))
	for _, c := range order {
		mid = append(mid, size[c])
	}
	for i, c := range out {
		at := slices.Index(order, c)
		if at < 0 {
			return kernel.Kernel{}, fmt.Errorf("has no operand with label %c", c)
		}
		perm[i] = int64(at)
	}
	product := kernel.TensorType(s.Out[0].DType, mid...)
	dot, err := kernel.DotKernel(kernel.Dense(x.Typ), kernel.Dense(y.Typ), product, d)
	if err != nil {
		return kernel.Kernel{}, err
	}
	move, err := kernel.TransposeKernel(product, s.Out[0], perm)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "product", Scratch: int64(product.Bytes()) + dot.Scratch + move.Scratch + x.Scratch() + y.Scratch(), Run: func(in, out []*tensor.Tensor) {
		t := []*tensor.Tensor{tensor.New(product.DType, mid)}
		dot.Run([]*tensor.Tensor{x.Load(in[0]), y.Load(in[1])}, t)
		move.Run(t, out)
	}}, nil
}

// makeUnaryEinsum compiles the old op unary_einsum, such as "ab->ba" or "ab->a", which sums and permutes dimensions.
func makeUnaryEinsum(s *plan.Spec) (kernel.Kernel, error) {
	arg, result, ok := strings.Cut(plan.StringAttr(s.Op, stablehlo.AttrEinsumConfig), "->")
	if !ok {
		return kernel.Kernel{}, fmt.Errorf("has einsum_config %q", plan.StringAttr(s.Op, stablehlo.AttrEinsumConfig))
	}
	out, err := kernel.Labels(result, s.Out[0])
	if err != nil {
		return kernel.Kernel{}, err
	}
	x, err := kernel.NewEinsumOperand(arg, s.In[0], func(c rune) bool { return slices.Contains(out, c) })
	if err != nil {
		return kernel.Kernel{}, err
	}
	if len(x.Labels) != len(out) {
		return kernel.Kernel{}, errors.New("has a label that the operand lacks")
	}
	perm := make([]int64, len(out))
	for i, c := range out {
		perm[i] = int64(slices.Index(x.Labels, c))
	}
	move, err := kernel.TransposeKernel(x.Typ, s.Out[0], perm)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.Kernel{Family: "einsum", Scratch: x.Scratch() + move.Scratch, Run: func(in, out []*tensor.Tensor) {
		move.Run([]*tensor.Tensor{x.Load(in[0])}, out)
	}}, nil
}

// makeDotGeneral compiles dot_general (spec, "dot_general").
func makeDotGeneral(s *plan.Spec) (kernel.Kernel, error) {
	d, err := plan.DotDimensions(s.Op)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.DotKernel(s.Planner.View(s.Op, 0, s.In[0]), s.Planner.View(s.Op, 1, s.In[1]), s.Out[0], d)
}

// makeRaggedDot compiles chlo.ragged_dot (CHLO, "ragged_dot"). The ragged dimension of lhs decides the computation. If
// it is free, each group of rows is multiplied with its own matrix of rhs, and rows outside all groups are 0. If it is
// contracted, there is one product per group. If it is a batch dimension, the groups have no effect.
func makeRaggedDot(s *plan.Spec) (kernel.Kernel, error) {
	d, err := plan.Data[*chlo.RaggedDotDims](s.Op, chlo.AttrRaggedDotDimensionNumbers)
	if err != nil || len(d.LHSRagged) != 1 {
		return kernel.Kernel{}, errors.New("expects dimension numbers with one ragged dimension")
	}
	return kernel.RaggedKernel(&s.Signature, (*kernel.DotDimensions)(&d.DotDims), d.LHSRagged[0], d.RHSGroup)
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
	w := &kernel.ConvolutionWindow{Dims: (*kernel.ConvDimensions)(d), Groups: int(plan.IntAttr(s.Op, stablehlo.AttrFeatureGroupCount, 1)),
		BatchGroups: int(plan.IntAttr(s.Op, stablehlo.AttrBatchGroupCount, 1))}
	for _, x := range []struct {
		list *[]int64
		name string
		def  int64
	}{{&w.Stride, stablehlo.AttrWindowStrides, 1}, {&w.LhsDil, "lhs_dilation", 1}, {&w.RhsDil, "rhs_dilation", 1}, {&w.Reversal, "window_reversal", 0}} {
		if *x.list, err = plan.IntsOr(s.Op, x.name, n, x.def); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// makeCholesky compiles cholesky (spec, "cholesky"). The spec does not define the other triangle of the result; here it
// is zero. A matrix that is not positive definite yields NaNs.
func makeCholesky(s *plan.Spec) (kernel.Kernel, error) {
	return algebra.CholeskyKernel(&s.Signature, plan.BoolAttr(s.Op, stablehlo.AttrLower, false))
}

// makeTriangularSolve compiles triangular_solve (spec, "triangular_solve").
func makeTriangularSolve(s *plan.Spec) (kernel.Kernel, error) {
	return algebra.SolveKernel(&s.Signature, plan.BoolAttr(s.Op, stablehlo.AttrLeftSide, false), plan.BoolAttr(s.Op, stablehlo.AttrLower, false),
		plan.BoolAttr(s.Op, stablehlo.AttrUnitDiagonal, false), plan.EnumAttr(s.Op, stablehlo.AttrTransposeA, "NO_TRANSPOSE"))
}

// makeFFT compiles fft (spec, "fft"), which transforms the last one to three dimensions.
func makeFFT(s *plan.Spec) (kernel.Kernel, error) {
	length, err := plan.IntsAttr(s.Op, stablehlo.AttrFftLength)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return algebra.FftKernel(&s.Signature, plan.EnumAttr(s.Op, stablehlo.AttrFftType, ""), length)
}
