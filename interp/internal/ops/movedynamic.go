package ops

import (
	"errors"
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

func dynamicPadShape(s *plan.Spec, in []*tensor.Tensor) error {
	var p [3][]int64
	for i := range p {
		v, err := in[2+i].Int64s()
		if err != nil {
			return err
		}
		if len(v) != len(s.In[0].Shape) {
			return fmt.Errorf("has %d paddings for rank %d", len(v), len(s.In[0].Shape))
		}
		p[i] = v
	}
	s.Out[0].Shape = kernel.PadShape(s.In[0].Shape, p[0], p[1], p[2])
	return nil
}

func realDynamicSliceShape(s *plan.Spec, in []*tensor.Tensor) error {
	start, err := in[1].Int64s()
	if err != nil {
		return err
	}
	limit, err := in[2].Int64s()
	if err != nil {
		return err
	}
	step, err := in[3].Int64s()
	if err != nil {
		return err
	}
	rank := len(s.In[0].Shape)
	if len(start) != rank || len(limit) != rank || len(step) != rank {
		return fmt.Errorf("expects %d starts, limits and strides", rank)
	}
	shape := make(tensor.Shape, rank)
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
	if len(s.In) != 1 || len(s.Out) != 1 || s.Out[0].DType != tensor.I32 {
		return kernel.Kernel{}, errors.New("expects one operand and a result of type tensor<i32>")
	}
	dim := int(plan.IntAttr(s.Op, stablehlo.AttrDimension, -1))
	if dim < 0 || dim >= len(s.In[0].Shape) {
		return kernel.Kernel{}, fmt.Errorf("asks for dimension %d of rank %d", dim, len(s.In[0].Shape))
	}
	return kernel.Kernel{Family: "strided copy", Run: func(in, out []*tensor.Tensor) error {
		tensor.View[int32](out[0])[0] = int32(in[0].Shape()[dim])
		return nil
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
