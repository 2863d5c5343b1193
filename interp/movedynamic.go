package interp

import (
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/tensor"
)

// Ops that move elements to shapes or positions computed by the program.

// shapeOperand returns the sizes that an operand of a dynamic op holds.
func shapeOperand(t *tensor.Tensor) (tensor.Shape, error) {
	v, err := t.Int64s()
	if err != nil {
		return nil, err
	}
	for _, d := range v {
		if d < 0 {
			return nil, fmt.Errorf("has a negative size %d in its shape operand", d)
		}
	}
	return v, nil
}

// operandShape returns a shape function for dynamic_broadcast_in_dim, dynamic_iota and dynamic_reshape: operand i holds
// the shape.
func operandShape(i int) func(s *spec, in []*tensor.Tensor) error {
	return func(s *spec, in []*tensor.Tensor) (err error) {
		s.out[0].shape, err = shapeOperand(in[i])
		return err
	}
}

// makeDynamicReshape compiles dynamic_reshape (spec, "dynamic_reshape").
func makeDynamicReshape(s *signature) (kernel, error) {
	if s.in[0].n != s.out[0].n || s.in[0].dt != s.out[0].dt {
		return kernel{}, fmt.Errorf("cannot reshape %s to %s", s.in[0], s.out[0])
	}
	return kernel{run: func(in, out []*tensor.Tensor) error {
		copyUnlessSame(out[0], in[0])
		return nil
	}, inplace: 1}, nil
}

// makeDynamicPad compiles dynamic_pad (spec, "dynamic_pad").
func makeDynamicPad(s *signature) (kernel, error) {
	return kernel{run: func(in, out []*tensor.Tensor) error {
		var p [3][]int64
		for i := range p {
			v, err := in[2+i].Int64s()
			if err != nil {
				return err
			}
			p[i] = v
		}
		for _, v := range p {
			if len(v) != len(in[0].Shape()) {
				return fmt.Errorf("has %d paddings for rank %d", len(v), len(in[0].Shape()))
			}
		}
		k, err := padKernel(typeOfTensor(in[0]), typeOfTensor(out[0]), typeOfTensor(in[1]), p[0], p[1], p[2])
		if err != nil {
			return err
		}
		return k.run(in, out)
	}}, nil
}

func typeOfTensor(t *tensor.Tensor) vtype { return tensorType(t.DType(), t.Shape()...) }

func dynamicPadShape(s *spec, in []*tensor.Tensor) error {
	var p [3][]int64
	for i := range p {
		v, err := in[2+i].Int64s()
		if err != nil {
			return err
		}
		if len(v) != len(s.in[0].shape) {
			return fmt.Errorf("has %d paddings for rank %d", len(v), len(s.in[0].shape))
		}
		p[i] = v
	}
	s.out[0].shape = padShape(s.in[0].shape, p[0], p[1], p[2])
	return nil
}

// makeRealDynamicSlice compiles real_dynamic_slice, which the specification does not describe yet: a slice (spec,
// "slice") whose bounds are operands.
func makeRealDynamicSlice(s *signature) (kernel, error) {
	if len(s.in) != 4 || len(s.out) != 1 || s.in[0].dt != s.out[0].dt {
		return kernel{}, errors.New("expects an operand, starts, limits and strides")
	}
	return kernel{run: func(in, out []*tensor.Tensor) error {
		var p [3][]int64
		for i := range p {
			v, err := in[1+i].Int64s()
			if err != nil {
				return err
			}
			if len(v) != len(in[0].Shape()) {
				return fmt.Errorf("has %d indices for rank %d", len(v), len(in[0].Shape()))
			}
			p[i] = v
		}
		k, err := sliceKernel(typeOfTensor(in[0]), typeOfTensor(out[0]), p[0], p[1], p[2])
		if err != nil {
			return err
		}
		return k.run(in, out)
	}}, nil
}

func realDynamicSliceShape(s *spec, in []*tensor.Tensor) error {
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
	rank := len(s.in[0].shape)
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
	s.out[0].shape = shape
	return nil
}

// makeGetDimensionSize compiles get_dimension_size (spec, "get_dimension_size").
func makeGetDimensionSize(s *spec) (kernel, error) {
	if len(s.in) != 1 || len(s.out) != 1 || s.out[0].dt != tensor.I32 {
		return kernel{}, errors.New("expects one operand and a result of type tensor<i32>")
	}
	dim := int(intAttr(s.op, stablehlo.AttrDimension, -1))
	if dim < 0 || dim >= len(s.in[0].shape) {
		return kernel{}, fmt.Errorf("asks for dimension %d of rank %d", dim, len(s.in[0].shape))
	}
	return kernel{run: func(in, out []*tensor.Tensor) error {
		tensor.View[int32](out[0])[0] = int32(in[0].Shape()[dim])
		return nil
	}}, nil
}

// makeSetDimensionSize compiles set_dimension_size: it truncates one dimension of the operand to the given size.
func makeSetDimensionSize(s *signature) (kernel, error) {
	if len(s.in) != 2 || len(s.out) != 1 || s.in[0].dt != s.out[0].dt || len(s.in[0].shape) != len(s.out[0].shape) {
		return kernel{}, errors.New("expects an operand and a size")
	}
	for i, d := range s.out[0].shape {
		if d > s.in[0].shape[i] {
			return kernel{}, fmt.Errorf("cannot grow dimension %d from %d to %d", i, s.in[0].shape[i], d)
		}
	}
	return copyKernel(newStridedCopy(ints(s.out[0].shape), strides(s.out[0].shape), strides(s.in[0].shape)), s.in[0].dt.Size(), 0, 0), nil
}

func setDimensionSizeShape(s *spec, in []*tensor.Tensor) error {
	dim := int(intAttr(s.op, stablehlo.AttrDimension, -1))
	if dim < 0 || dim >= len(s.in[0].shape) {
		return fmt.Errorf("sets dimension %d of rank %d", dim, len(s.in[0].shape))
	}
	s.out[0].shape = s.in[0].shape.Clone()
	s.out[0].shape[dim] = scalarInt(in[1])
	return nil
}
