package ops

import (
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

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
	dim := int(plan.IntAttr(s.Op, stablehlo.AttrDimension, -1))
	if dim < 0 || dim >= len(s.In[0].Shape) {
		return kernel.Kernel{}, fmt.Errorf("asks for dimension %d of rank %d", dim, len(s.In[0].Shape))
	}
	return kernel.Kernel{Family: "strided copy", Run: func(in, out []*tensor.Tensor) {
		tensor.View[int32](out[0])[0] = int32(in[0].Shape()[dim])
	}}, nil
}

func setDimensionSizeShape(s *plan.Spec, in []*tensor.Tensor) error {
	dim := int(plan.IntAttr(s.Op, stablehlo.AttrDimension, -1))
	if dim < 0 || dim >= len(s.In[0].Shape) {
		return fmt.Errorf("sets dimension %d of rank %d", dim, len(s.In[0].Shape))
	}
	s.Out[0].Shape = s.In[0].Shape.Clone()
	s.Out[0].Shape[dim] = kernel.ScalarInt(in[1])
	return nil
}
