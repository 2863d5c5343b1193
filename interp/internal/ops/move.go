package ops

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/view"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// makeBroadcastInDim compiles broadcast_in_dim and dynamic_broadcast_in_dim (spec, "broadcast_in_dim",
// "dynamic_broadcast_in_dim").
func makeBroadcastInDim(s *plan.Spec) (kernel.Kernel, error) {
	dims, err := plan.IntsAttr(s.Op, stablehlo.AttrBroadcastDimensions)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.BroadcastKernel(s.In[0], s.Out[0], dims)
}

// makeTranspose compiles transpose (spec, "transpose").
func makeTranspose(s *plan.Spec) (kernel.Kernel, error) {
	perm, err := plan.IntsAttr(s.Op, stablehlo.AttrPermutation)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.TransposeKernel(s.In[0], s.Out[0], perm)
}

// makeReverse compiles reverse (spec, "reverse").
func makeReverse(s *plan.Spec) (kernel.Kernel, error) {
	dims, err := plan.IntsAttr(s.Op, stablehlo.AttrDimensions)
	if err != nil {
		return kernel.Kernel{}, err
	}
	if err := kernel.CheckDims("reversed", dims, len(s.In[0].Shape)); err != nil {
		return kernel.Kernel{}, err
	}
	src, off := kernel.Strides(s.In[0].Shape), 0
	for _, d := range dims {
		off += src[d] * (int(s.In[0].Shape[d]) - 1)
		src[d] = -src[d]
	}
	if s.Out[0].N == 0 {
		off = 0
	}
	return kernel.CopyKernel(kernel.NewStridedCopy(kernel.Ints(s.Out[0].Shape), kernel.Strides(s.Out[0].Shape), src), s.In[0].DType.Size(), 0, off), nil
}

// threeLists reads attributes with a number for each dimension of the first operand; absent attributes have a default.
func threeLists(s *plan.Spec, names [3]string, defaults ...int64) (lists [3][]int64, err error) {
	for i, name := range names {
		if lists[i], err = plan.IntsOr(s.Op, name, len(s.In[0].Shape), defaults[i]); err != nil {
			return lists, err
		}
	}
	return lists, nil
}

// makeSlice compiles slice (spec, "slice").
func makeSlice(s *plan.Spec) (kernel.Kernel, error) {
	l, err := threeLists(s, [3]string{stablehlo.AttrStartIndices, stablehlo.AttrLimitIndices, stablehlo.AttrStrides}, 0, 0, 1)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.SliceKernel(s.In[0], s.Out[0], l[0], l[1], l[2])
}

// makeConcatenate compiles concatenate (spec, "concatenate").
func makeConcatenate(s *plan.Spec) (kernel.Kernel, error) {
	return kernel.ConcatenateKernel(&s.Signature, int(view.IntOr(s.Op.Attr(stablehlo.AttrDimension), -1)))
}

// makePad compiles pad (spec, "pad"). Padding may be negative at both ends.
func makePad(s *plan.Spec) (kernel.Kernel, error) {
	l, err := threeLists(s, [3]string{stablehlo.AttrEdgePaddingLow, stablehlo.AttrEdgePaddingHigh, stablehlo.AttrInteriorPadding}, 0, 0, 0)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.PadKernel(s.In[0], s.Out[0], s.In[1], l[0], l[1], l[2])
}

// makeIota compiles iota and dynamic_iota (spec, "iota", "dynamic_iota").
func makeIota(s *plan.Spec) (kernel.Kernel, error) {
	return kernel.IotaKernel(&s.Signature, int(view.IntOr(s.Op.Attr(stablehlo.AttrIotaDimension), -1)))
}

// operandShape returns a shape function for dynamic_broadcast_in_dim, dynamic_iota and dynamic_reshape: operand i holds
// the shape.
func operandShape(i int) func(s *plan.Spec, in []*tensor.Tensor) error {
	return func(s *plan.Spec, in []*tensor.Tensor) (err error) {
		s.Out[0].Shape, err = kernel.ShapeOperand(in[i])
		return err
	}
}

// firstShape is the shape function of ops whose result has the shape of their first operand.
func firstShape(s *plan.Spec, in []*tensor.Tensor) error {
	s.Out[0].Shape = in[0].Shape()
	return nil
}

func dynamicPadShape(s *plan.Spec, in []*tensor.Tensor) error {
	p, err := kernel.ThreeLists(in[2:], len(s.In[0].Shape))
	if err != nil {
		return err
	}
	s.Out[0].Shape = kernel.PadShape(s.In[0].Shape, p[0], p[1], p[2])
	return nil
}

func realDynamicSliceShape(s *plan.Spec, in []*tensor.Tensor) error {
	l, err := kernel.ThreeLists(in[1:], len(s.In[0].Shape))
	if err != nil {
		return err
	}
	start, limit, step := l[0], l[1], l[2]
	shape := make(tensor.Shape, len(start))
	for i := range shape {
		if step[i] <= 0 || limit[i] < start[i] {
			return fmt.Errorf("slices dimension %d as [%d:%d:%d]", i, start[i], limit[i], step[i])
		}
		shape[i] = (limit[i] - start[i] + step[i] - 1) / step[i]
	}
	s.Out[0].Shape = shape
	return nil
}

// makeGetDimensionSize compiles get_dimension_size (spec, "get_dimension_size").
func makeGetDimensionSize(s *plan.Spec) (kernel.Kernel, error) {
	dim := int(view.IntOr(s.Op.Attr(stablehlo.AttrDimension), -1))
	if dim < 0 || dim >= len(s.In[0].Shape) {
		return kernel.Kernel{}, fmt.Errorf("asks for dimension %d of rank %d", dim, len(s.In[0].Shape))
	}
	return kernel.Kernel{Family: "strided copy", Run: func(in, out []*tensor.Tensor) {
		tensor.View[int32](out[0])[0] = int32(in[0].Shape()[dim])
	}}, nil
}

func setDimensionSizeShape(s *plan.Spec, in []*tensor.Tensor) error {
	dim := int(view.IntOr(s.Op.Attr(stablehlo.AttrDimension), -1))
	if dim < 0 || dim >= len(s.In[0].Shape) {
		return fmt.Errorf("sets dimension %d of rank %d", dim, len(s.In[0].Shape))
	}
	s.Out[0].Shape = s.In[0].Shape.Clone()
	s.Out[0].Shape[dim] = kernel.ScalarInt(in[1])
	return nil
}
