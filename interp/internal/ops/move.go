package ops

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// makeBroadcastInDim compiles broadcast_in_dim and dynamic_broadcast_in_dim (spec, "broadcast_in_dim",
// "dynamic_broadcast_in_dim").
func makeBroadcastInDim(s *plan.Spec) kernel.Kernel {
	dims := plan.BroadcastDimensions(s.Op)
	return kernel.BroadcastKernel(s.In[0], s.Out[0], dims)
}

// makeTranspose compiles transpose (spec, "transpose").
func makeTranspose(s *plan.Spec) kernel.Kernel {
	perm := plan.Permutation(s.Op)
	return kernel.TransposeKernel(s.In[0], s.Out[0], perm)
}

// makeReverse compiles reverse (spec, "reverse").
func makeReverse(s *plan.Spec) kernel.Kernel {
	dims := plan.Attrs[plan.Dimensions](s.Op).List
	kernel.CheckDims("reversed", dims, len(s.In[0].Shape))
	src, off := kernel.Strides(s.In[0].Shape), 0
	for _, d := range dims {
		off += src[d] * (int(s.In[0].Shape[d]) - 1)
		src[d] = -src[d]
	}
	if s.Out[0].N == 0 {
		off = 0
	}
	return kernel.CopyKernel(s.Out[0], src, off)
}

// makeSlice compiles slice (spec, "slice").
func makeSlice(s *plan.Spec) kernel.Kernel {
	a := plan.Slice(s.Op, len(s.In[0].Shape))
	return kernel.SliceKernel(s.In[0], s.Out[0], a.Start, a.Limit, a.Stride)
}

// makeConcatenate compiles concatenate (spec, "concatenate").
func makeConcatenate(s *plan.Spec) kernel.Kernel {
	views := make([]kernel.View, len(s.In))
	for i, t := range s.In {
		views[i] = s.Planner.View(s.Op, i, t)
	}
	return kernel.ConcatenateKernel(views, s.Out[0], plan.Attrs[plan.Dimension](s.Op).Number)
}

// makePad compiles pad (spec, "pad"). Padding may be negative at both ends.
func makePad(s *plan.Spec) kernel.Kernel {
	a := plan.Attrs[struct {
		Low      []int64 `attr:"edge_padding_low,0"`
		High     []int64 `attr:"edge_padding_high,0"`
		Interior []int64 `attr:"interior_padding,0"`
	}](s.Op, len(s.In[0].Shape))
	return kernel.PadKernel(s.In[0], s.Out[0], s.In[1], a.Low, a.High, a.Interior)
}

// makeIota compiles iota and dynamic_iota (spec, "iota", "dynamic_iota").
func makeIota(s *plan.Spec) kernel.Kernel {
	a := plan.Attrs[struct {
		Dimension int `attr:"iota_dimension,-1"`
	}](s.Op)
	return kernel.IotaKernel(&s.Signature, a.Dimension)
}

// operandShape returns a shape function for dynamic_broadcast_in_dim, dynamic_iota, dynamic_reshape and rng: operand i
// holds the shape.
func operandShape(i int) func(s *plan.Spec, in []*tensor.Tensor) {
	return func(s *plan.Spec, in []*tensor.Tensor) { s.Out[0].Shape = kernel.ShapeOperand(in[i]) }
}

// firstShape is the shape function of ops whose result has the shape of their first operand.
func firstShape(s *plan.Spec, in []*tensor.Tensor) {
	s.Out[0].Shape = in[0].Shape()
}

func dynamicPadShape(s *plan.Spec, in []*tensor.Tensor) {
	p := kernel.ThreeLists(in[2:], len(s.In[0].Shape))
	s.Out[0].Shape = kernel.PadShape(s.In[0].Shape, p[0], p[1], p[2])
}

func realDynamicSliceShape(s *plan.Spec, in []*tensor.Tensor) {
	l := kernel.ThreeLists(in[1:], len(s.In[0].Shape))
	start, limit, step := l[0], l[1], l[2]
	shape := make(tensor.Shape, len(start))
	for i := range shape {
		kernel.FailIf(step[i] <= 0 || limit[i] < start[i], "slices dimension %d as [%d:%d:%d]", i, start[i], limit[i], step[i])
		shape[i] = (limit[i] - start[i] + step[i] - 1) / step[i]
	}
	s.Out[0].Shape = shape
}

// makeGetDimensionSize compiles get_dimension_size (spec, "get_dimension_size").
func makeGetDimensionSize(s *plan.Spec) kernel.Kernel {
	dim := plan.Attrs[plan.Dimension](s.Op).Number
	kernel.FailIf(dim < 0 || dim >= len(s.In[0].Shape), "asks for dimension %d of rank %d", dim, len(s.In[0].Shape))
	return kernel.Kernel{Family: "strided copy", Run: func(in, out []*tensor.Tensor) {
		tensor.View[int32](out[0])[0] = int32(in[0].Shape()[dim])
	}}
}

func setDimensionSizeShape(s *plan.Spec, in []*tensor.Tensor) {
	dim := plan.Attrs[plan.Dimension](s.Op).Number
	kernel.FailIf(dim < 0 || dim >= len(s.In[0].Shape), "sets dimension %d of rank %d", dim, len(s.In[0].Shape))
	n := kernel.IntAt(in[1], 0)
	kernel.FailIf(n < 0, "sets dimension %d to %d", dim, n)
	s.Out[0].Shape = s.In[0].Shape.Clone()
	s.Out[0].Shape[dim] = n
}

// reshapeShape is the shape function of reshape to a shape with dynamic dimensions. Their sizes follow from the operand
// if each group of dimensions that the bounds keep together has one dynamic dimension.
func reshapeShape(s *plan.Spec, in []*tensor.Tensor) {
	from, ok := s.Op.Operand(0).Type().(*ir.TensorType)
	to, also := s.Op.Result(0).Type().(*ir.TensorType)
	kernel.FailIf(!ok || !also || !from.Ranked() || !to.Ranked(), "expects tensors of known rank")
	sizes := in[0].Shape()
	shape := append(tensor.Shape{}, to.Shape()...)
	if unknown := slices.DeleteFunc(numbers(len(shape)), func(i int) bool { return shape[i] >= 0 }); len(unknown) == 1 {
		shape[unknown[0]] = inferred(shape, unknown[0], sizes.NumElements())
		s.Out[0].Shape = shape
		return
	}
	bound := func(t *ir.TensorType, i int) int64 {
		if d := t.Shape()[i]; d >= 0 {
			return d
		}
		bounds := stablehlo.BoundsOf(t)
		kernel.UnsupportedIf(bounds == nil || bounds[i] < 0, "a reshape to several dynamic dimensions without bounds")
		return bounds[i]
	}
	for a, b := 0, 0; b < len(shape); {
		start, n, m, valid := b, int64(1), bound(to, b), int64(1)
		for b++; a < len(sizes) && n < m || b < len(shape) && m < n || n != m; {
			switch {
			case n < m && a < len(sizes):
				n, valid, a = n*bound(from, a), valid*sizes[a], a+1
			case m < n && b < len(shape):
				m, b = m*bound(to, b), b+1
			default:
				kernel.Fail(fmt.Errorf("cannot turn %s into %s", from, to))
			}
		}
		for b < len(shape) && bound(to, b) == 1 {
			b++
		}
		at := -1
		for i := start; i < b; i++ {
			kernel.UnsupportedIf(shape[i] < 0 && at >= 0, "a reshape that joins dynamic dimensions and splits them")
			if shape[i] < 0 {
				at = i
			}
		}
		if at >= 0 {
			shape[at] = inferred(shape[start:b], at-start, valid)
		}
	}
	s.Out[0].Shape = shape
}

// inferred returns the size of dimension i of a shape of n elements.
func inferred(shape tensor.Shape, i int, n int64) int64 {
	rest := int64(1)
	for k, d := range shape {
		if k != i {
			rest *= d
		}
	}
	if rest == 0 {
		return 0
	}
	kernel.FailIf(n%rest != 0, "cannot divide %d elements into rows of %d", n, rest)
	return n / rest
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
