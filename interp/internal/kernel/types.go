package kernel

import (
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/tensor"
)

// Class is the kind of content that a slot may hold.
type Class uint8

const (
	ClassTensor Class = iota
	ClassToken
	ClassTuple
	ClassFuture
)

// Type is the static type of a value, as kernels see it.
type Type struct {
	Class Class
	DType tensor.DType
	Shape tensor.Shape
	N     int      // number of elements; -1 if the shape is unknown before the run
	Bound []int64  // bounds of the unknown sizes, mlirtext.Dynamic for a size without bound; nil if there are no bounds
	Quant *Quantum // maps the stored integers to reals; nil for ordinary tensors
	Elems []Type   // the types in a tuple or future
}

// Dynamic reports whether the shape, or the shape of an element of a tuple or future, is known only at run time.
func (t Type) Dynamic() bool {
	for _, e := range t.Elems {
		if e.Dynamic() {
			return true
		}
	}
	return t.Class == ClassTensor && t.N < 0
}

func (t Type) String() string {
	switch t.Class {
	case ClassToken:
		return "!stablehlo.token"
	case ClassTuple, ClassFuture:
		return "tuple"
	}
	b := append([]byte("tensor<"), mlirtext.AppendShape(nil, t.Shape)...)
	b = append(b, t.DType.String()...)
	if t.Bound != nil {
		list := mlirtext.AppendInts(nil, t.Bound)
		b = append(append(append(b, ", #stablehlo.bounds<"...), list[1:len(list)-1]...), '>')
	}
	return string(b) + ">"
}

// Zero sets all elements of x, of type t, to constant(0, element_type): for quantized elements the zero point, for
// f8E8M0FNU, which has no zero, NaN.
func (t Type) Zero(x *tensor.Tensor) {
	switch {
	case t.Quant != nil:
		for i := range x.NumElements() {
			_, zero := t.Quant.at(x.Shape(), i)
			x.SetBits(i, uint64(zero))
		}
	case t.DType == tensor.F8E8M0FNU:
		nan := byte(tensor.EncodeFloat(t.DType, 0))
		for i := range x.Bytes() {
			x.Bytes()[i] = nan
		}
	default:
		clear(x.Bytes())
	}
}

// Beyond returns the first dimension of shape that is larger than t's bound for it, or -1 if there is none.
func (t Type) Beyond(shape tensor.Shape) int {
	for i, b := range t.Bound {
		if i < len(shape) && b >= 0 && shape[i] > b {
			return i
		}
	}
	return -1
}

func (t Type) Bytes() int { return t.N * t.DType.Size() }

// TensorType returns the type of a tensor of static shape.
func TensorType(dt tensor.DType, shape ...int64) Type {
	return Type{DType: dt, Shape: shape, N: int(tensor.Shape(shape).NumElements())}
}

// MaxElements limits the elements of one tensor. Sizes in bytes then never overflow.
const MaxElements = 1 << 55

// Strides returns the row-major strides of a shape, in elements.
func Strides(shape tensor.Shape) []int {
	s := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = n
		n *= int(shape[i])
	}
	return s
}

func Ints(s []int64) []int {
	out := make([]int, len(s))
	for i, v := range s {
		out[i] = int(v)
	}
	return out
}

func Product(s []int) int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Elements returns the product of some dimensions of a shape.
func Elements(shape tensor.Shape, dims []int64) int {
	n := 1
	for _, d := range dims {
		n *= int(shape[d])
	}
	return n
}

// Advance moves at to the next position of a box of the given sizes, the last dimension first. It returns false at the
// end of the box, and at is then the first position again.
func Advance[T, N int | int64](at []T, sizes []N) bool {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < T(sizes[i]) {
			return true
		}
		at[i] = 0
	}
	return false
}

// CheckDims fails unless dims are distinct and within [0, rank).
func CheckDims(what string, dims []int64, rank int) {
	seen := uint64(0)
	for _, d := range dims {
		FailIf(d < 0 || d >= int64(rank), "%s dimension %d is outside of rank %d", what, d, rank)
		if d < 64 {
			FailIf(seen&(1<<d) != 0, "%s dimension %d is given twice", what, d)
			seen |= 1 << d
		}
	}
}

// SameElements reports whether t and o have the same element type.
func (t Type) SameElements(o Type) bool { return t.DType == o.DType && t.Quant.Same(o.Quant) }

func Fits(t Type, got tensor.Shape) bool {
	want := t.Shape
	if want == nil && t.N < 0 { // unranked
		return true
	}
	if len(want) != len(got) {
		return false
	}
	for i, w := range want {
		if w != got[i] && w >= 0 {
			return false
		}
	}
	return t.Beyond(got) < 0
}
