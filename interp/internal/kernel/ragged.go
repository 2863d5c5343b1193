package kernel

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/tensor"
)

// raggedDot is a product along a dimension that group_sizes splits into consecutive groups, starting at index 0.
type raggedDot struct {
	dims          *DotDimensions
	groupDims     []int64 // dimensions of rhs with one matrix per group
	ragged        int64   // dimension of lhs
	prefix        []int64 // dimensions of lhs with separate group sizes, if group_sizes has rank > 1
	groups        int
	lhs, rhs, out Type
}

func RaggedKernel(s *Signature, dot *DotDimensions, ragged int64, groupDims []int64) (Kernel, error) {
	if len(s.In) != 3 || len(s.Out) != 1 || len(s.In[2].Shape) == 0 || !s.In[2].DType.IsInteger() {
		return Kernel{}, errors.New("expects lhs, rhs, integer group_sizes and one result")
	}
	r := &raggedDot{dims: dot, groupDims: groupDims, ragged: ragged, lhs: s.In[0], rhs: s.In[1], out: s.Out[0]}
	sizes := s.In[2]
	r.groups = int(sizes.Shape[len(sizes.Shape)-1])
	batch, contracted := slices.Index(dot.LHSBatching, r.ragged) >= 0, slices.Index(dot.LHSContracting, r.ragged)
	if err := CheckDims("lhs", append(append([]int64{}, dot.LHSBatching...), dot.LHSContracting...), len(r.lhs.Shape)); err != nil {
		return Kernel{}, err
	}
	if r.ragged < 0 || r.ragged >= int64(len(r.lhs.Shape)) {
		return Kernel{}, fmt.Errorf("ragged dimension %d is outside of rank %d", r.ragged, len(r.lhs.Shape))
	}
	if batch {
		k, err := DotKernel(Dense(r.lhs), Dense(r.rhs), r.out, dot)
		if err != nil {
			return Kernel{}, err
		}
		return Kernel{Family: "product", Run: func(in, out []*tensor.Tensor) { k.Run(in[:2], out) }}, nil
	}
	if len(sizes.Shape) > 1 {
		r.prefix = append(r.prefix, dot.LHSBatching...)
		if contracted >= 0 {
			r.prefix = append(r.prefix, dot.LHSContracting[:contracted]...)
		} else {
			for _, k := range r.free() {
				if k < r.ragged {
					r.prefix = append(r.prefix, k)
				}
			}
		}
	}
	if len(r.prefix)+1 != len(sizes.Shape) {
		return Kernel{}, fmt.Errorf("expects group_sizes of rank 1 or %d", len(r.prefix)+1)
	}
	for i, p := range r.prefix {
		if r.lhs.Shape[p] != sizes.Shape[i] {
			return Kernel{}, errors.New("expects group_sizes to have the sizes of the dimensions before the ragged one")
		}
	}
	if contracted >= 0 {
		return r.perGroup(contracted)
	}
	return r.rows()
}

// free returns the dimensions of lhs that the product keeps.
func (r *raggedDot) free() []int64 {
	return KeptDims(len(r.lhs.Shape), append(append([]int64{}, r.dims.LHSBatching...), r.dims.LHSContracting...))
}

// bounds calls f with the range of each group that has elements, for each index of the prefix dimensions. It clamps the
// ranges to the ragged dimension.
func (r *raggedDot) bounds(sizes *tensor.Tensor, f func(prefix []int64, group int, from, to int64)) {
	v := make([]int64, sizes.NumElements())
	decodeInt(sizes.DType(), v, sizes, 0)
	shape := make(tensor.Shape, len(r.prefix))
	for i, p := range r.prefix {
		shape[i] = r.lhs.Shape[p]
	}
	n := r.lhs.Shape[r.ragged]
	at := make([]int64, len(shape))
	for i := range int(shape.NumElements()) {
		from := int64(0)
		for g := range r.groups {
			to := min(max(from+v[i*r.groups+g], from), n)
			if from < to {
				f(at, g, from, to)
			}
			from = to
		}
		for d := len(at) - 1; d >= 0; d-- {
			if at[d]++; at[d] < shape[d] {
				break
			}
			at[d] = 0
		}
	}
}

// rows multiplies each group of rows with the group's matrix.
func (r *raggedDot) rows() (Kernel, error) {
	dot := r.dims
	if len(r.groupDims) != 1 || r.groupDims[0] < 0 || r.groupDims[0] >= int64(len(r.rhs.Shape)) {
		return Kernel{}, errors.New("expects one group dimension in the rhs")
	}
	gdim := r.groupDims[0]
	if r.rhs.Shape[gdim] != int64(r.groups) {
		return Kernel{}, fmt.Errorf("expects %d groups in the rhs", r.groups)
	}
	// less renumbers dimensions of rhs as dimensions of one group's matrix, which lacks the group dimension.
	less := func(dims []int64) []int64 {
		out := make([]int64, len(dims))
		for i, d := range dims {
			if out[i] = d; d > gdim {
				out[i]--
			}
		}
		return out
	}
	inner := &DotDimensions{LHSBatching: dot.LHSBatching, LHSContracting: dot.LHSContracting, RHSBatching: less(dot.RHSBatching), RHSContracting: less(dot.RHSContracting)}
	free := r.free()
	place := func(d int64) int { // position in the result of a kept dimension of lhs
		if i := slices.Index(dot.LHSBatching, d); i >= 0 {
			return i
		}
		return len(dot.LHSBatching) + slices.Index(free, d)
	}
	// With all rows, the result has the shape of one plain product.
	matrix := TensorType(r.rhs.DType, slices.Delete(slices.Clone(r.rhs.Shape), int(gdim), int(gdim)+1)...)
	if _, err := DotKernel(Dense(r.lhs), Dense(matrix), r.out, inner); err != nil {
		return Kernel{}, err
	}
	return Kernel{Family: "ragged product", Run: func(in, out []*tensor.Tensor) {
		r.out.Zero(out[0])
		r.bounds(in[2], func(prefix []int64, g int, from, to int64) {
			l, rh, o := newBox(r.lhs.Shape), newBox(r.rhs.Shape), newBox(r.out.Shape)
			l.cut(int(r.ragged), from, to)
			o.cut(place(r.ragged), from, to)
			rh.cut(int(gdim), int64(g), int64(g)+1)
			for i, p := range r.prefix {
				l.cut(int(p), prefix[i], prefix[i]+1)
				o.cut(place(p), prefix[i], prefix[i]+1)
				if b := slices.Index(dot.LHSBatching, p); b >= 0 {
					rh.cut(int(dot.RHSBatching[b]), prefix[i], prefix[i]+1)
				}
			}
			x, y := l.read(in[0]), rh.read(in[1])
			y.Borrow(y.DType(), slices.Delete(slices.Clone(y.Shape()), int(gdim), int(gdim)+1), y.Bytes())
			z := tensor.New(r.out.DType, o.shape())
			k, err := DotKernel(Dense(TypeOfTensor(x)), Dense(TypeOfTensor(y)), TypeOfTensor(z), inner)
			Fail(err)
			k.Run([]*tensor.Tensor{x, y}, []*tensor.Tensor{z})
			o.write(out[0], z)
		})
	}}, nil
}

// perGroup computes one product per group, with 0 in place of the elements of other groups in both operands.
func (r *raggedDot) perGroup(contracted int) (Kernel, error) {
	dot := r.dims
	one := r.out
	if len(one.Shape) == 0 || one.Shape[0] != int64(r.groups) {
		return Kernel{}, fmt.Errorf("expects a result of %d groups", r.groups)
	}
	one = TensorType(one.DType, one.Shape[1:]...)
	k, err := DotKernel(Dense(r.lhs), Dense(r.rhs), one, dot)
	if err != nil {
		return Kernel{}, err
	}
	other := func(d int64) int { // the dimension of rhs that corresponds to dimension d of lhs
		if i := slices.Index(dot.LHSBatching, d); i >= 0 {
			return int(dot.RHSBatching[i])
		}
		return int(dot.RHSContracting[slices.Index(dot.LHSContracting, d)])
	}
	return Kernel{Family: "ragged product", Scratch: k.Scratch + int64(r.groups)*int64(r.lhs.Bytes()+r.rhs.Bytes()), Run: func(in, out []*tensor.Tensor) {
		x, y := make([]*tensor.Tensor, r.groups), make([]*tensor.Tensor, r.groups)
		for g := range r.groups {
			x[g], y[g] = tensor.New(r.lhs.DType, r.lhs.Shape), tensor.New(r.rhs.DType, r.rhs.Shape)
		}
		r.bounds(in[2], func(prefix []int64, g int, from, to int64) {
			l, rh := newBox(r.lhs.Shape), newBox(r.rhs.Shape)
			l.cut(int(r.ragged), from, to)
			rh.cut(int(dot.RHSContracting[contracted]), from, to)
			for i, p := range r.prefix {
				l.cut(int(p), prefix[i], prefix[i]+1)
				rh.cut(other(p), prefix[i], prefix[i]+1)
			}
			l.write(x[g], l.read(in[0]))
			rh.write(y[g], rh.read(in[1]))
		})
		part := one.Bytes()
		for g := range r.groups {
			var o tensor.Tensor
			o.Borrow(one.DType, one.Shape, out[0].Bytes()[g*part:(g+1)*part])
			k.Run([]*tensor.Tensor{x[g], y[g]}, []*tensor.Tensor{&o})
		}
	}}, nil
}

// box is a part of a tensor: a range of indices in each dimension.
type box struct {
	full     tensor.Shape
	from, to []int64
}

func newBox(shape tensor.Shape) *box {
	return &box{full: shape, from: make([]int64, len(shape)), to: slices.Clone([]int64(shape))}
}

func (b *box) cut(d int, from, to int64) { b.from[d], b.to[d] = from, to }

func (b *box) shape() tensor.Shape {
	out := make(tensor.Shape, len(b.full))
	for i := range out {
		out[i] = b.to[i] - b.from[i]
	}
	return out
}

// offset returns the position of the part's first element.
func (b *box) offset() int {
	at := 0
	for d, st := range Strides(b.full) {
		at += int(b.from[d]) * st
	}
	return at
}

// read returns a copy of the part of t.
func (b *box) read(t *tensor.Tensor) *tensor.Tensor {
	shape := b.shape()
	out := tensor.New(t.DType(), shape)
	NewStridedCopy(Ints(shape), Strides(shape), Strides(b.full)).Run(t.DType().Size(), out, t, 0, b.offset())
	return out
}

// write overwrites the part of t.
func (b *box) write(t, part *tensor.Tensor) {
	shape := b.shape()
	NewStridedCopy(Ints(shape), Strides(b.full), Strides(shape)).Run(t.DType().Size(), t, part, b.offset(), 0)
}
