package kernel

import (
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/tensor"
)

// Ops that move elements to shapes or positions computed by the program.

// ShapeOperand returns the sizes that an operand of a dynamic op holds.
func ShapeOperand(t *tensor.Tensor) (tensor.Shape, error) {
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

// ThreeLists returns the numbers of the first three tensors, each with one number per dimension.
func ThreeLists(in []*tensor.Tensor, rank int) (lists [3][]int64, err error) {
	for i := range lists {
		if lists[i], err = in[i].Int64s(); err != nil {
			return lists, err
		}
		if len(lists[i]) != rank {
			return lists, fmt.Errorf("has a list of %d numbers for rank %d", len(lists[i]), rank)
		}
	}
	return lists, nil
}

// MakeDynamicReshape compiles dynamic_reshape (spec, "dynamic_reshape").
func MakeDynamicReshape(s *Signature) (Kernel, error) {
	if s.In[0].N != s.Out[0].N || s.In[0].DType != s.Out[0].DType {
		return Kernel{}, fmt.Errorf("cannot reshape %s to %s", s.In[0], s.Out[0])
	}
	return Kernel{Family: "copy", Run: func(in, out []*tensor.Tensor) {
		CopyUnlessSame(out[0], in[0])
	}, Inplace: 1}, nil
}

// MakeDynamicPad compiles dynamic_pad (spec, "dynamic_pad").
func MakeDynamicPad(s *Signature) (Kernel, error) {
	return Kernel{Family: "copy", Run: func(in, out []*tensor.Tensor) {
		p, err := ThreeLists(in[2:], len(in[0].Shape()))
		Fail(err)
		k, err := PadKernel(TypeOfTensor(in[0]), TypeOfTensor(out[0]), TypeOfTensor(in[1]), p[0], p[1], p[2])
		Fail(err)
		k.Run(in, out)
	}}, nil
}

func TypeOfTensor(t *tensor.Tensor) Type { return TensorType(t.DType(), t.Shape()...) }

// MakeRealDynamicSlice compiles real_dynamic_slice, which the specification does not describe yet: a slice (spec,
// "slice") whose bounds are operands.
func MakeRealDynamicSlice(s *Signature) (Kernel, error) {
	return Kernel{Family: "constant", Run: func(in, out []*tensor.Tensor) {
		p, err := ThreeLists(in[1:], len(in[0].Shape()))
		Fail(err)
		k, err := SliceKernel(TypeOfTensor(in[0]), TypeOfTensor(out[0]), p[0], p[1], p[2])
		Fail(err)
		k.Run(in, out)
	}}, nil
}

// MakeSetDimensionSize compiles set_dimension_size: it truncates one dimension of the operand to the given size.
func MakeSetDimensionSize(s *Signature) (Kernel, error) {
	if len(s.In) != 2 || len(s.Out) != 1 || s.In[0].DType != s.Out[0].DType || len(s.In[0].Shape) != len(s.Out[0].Shape) {
		return Kernel{}, errors.New("expects an operand and a size")
	}
	for i, d := range s.Out[0].Shape {
		if d > s.In[0].Shape[i] {
			return Kernel{}, fmt.Errorf("cannot grow dimension %d from %d to %d", i, s.In[0].Shape[i], d)
		}
	}
	return CopyKernel(NewStridedCopy(Ints(s.Out[0].Shape), Strides(s.Out[0].Shape), Strides(s.In[0].Shape)), s.In[0].DType.Size(), 0, 0), nil
}
