package tensor

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"
)

// Shape is the size of each dimension, outermost first. A scalar has the empty shape.
type Shape []int64

// NumElements returns the product of the dimensions: 1 for a scalar, 0 where any dimension is 0, and -1 where
// the product does not fit an int64 or a dimension is negative (dynamic).
func (s Shape) NumElements() int64 {
	n := int64(1)
	zero := false
	for _, d := range s {
		switch {
		case d < 0:
			return -1
		case d == 0:
			zero = true
		case n > math.MaxInt64/d:
			n = -1
		case n > 0:
			n *= d
		}
	}
	if zero {
		return 0
	}
	return n
}

// Equal reports whether both shapes have the same rank and dimensions.
func (s Shape) Equal(t Shape) bool {
	if len(s) != len(t) {
		return false
	}
	for i := range s {
		if s[i] != t[i] {
			return false
		}
	}
	return true
}

// Clone returns a copy that shares nothing with s.
func (s Shape) Clone() Shape { return append(Shape(nil), s...) }

// Index returns the index of element i in row-major order, outermost dimension first.
func (s Shape) Index(i int) []int64 {
	out := make([]int64, len(s))
	for d := len(s) - 1; d >= 0; d-- {
		out[d] = int64(i) % s[d]
		i /= int(s[d])
	}
	return out
}

// Tensor is a dense array: an element type, a static shape and a payload in row-major order, little-endian,
// Size() bytes per element. The invariant len(Bytes()) == NumElements()*DType().Size() always holds.
//
// A Tensor made by New or FromBytes may be shared; whoever writes through a View must own it alone.
type Tensor struct {
	dtype DType
	shape Shape
	data  []byte
	watch uint32 // atomic: 0 not watched, else watching or reached
}

// States of a watched tensor.
const (
	watching = 1
	reached  = 2
)

// Watch begins to note whether anybody gets at the payload to write it: by Bytes, View, Reshape or a Set method. It
// exists for whoever hands out a tensor to be filled and wants to know whether that was done; Reached tells.
func (t *Tensor) Watch() { atomic.StoreUint32(&t.watch, watching) }

// Reached reports whether the payload was reached since Watch, and ends the watch. It is true where there was none.
func (t *Tensor) Reached() bool { return atomic.SwapUint32(&t.watch, 0) != watching }

// reach notes that somebody may write. Readers of a shared tensor only load.
func (t *Tensor) reach() {
	if atomic.LoadUint32(&t.watch) == watching {
		atomic.StoreUint32(&t.watch, reached)
	}
}

// New returns a zeroed tensor. It panics where the shape has no finite size; callers that take shapes from
// input check them first.
func New(dtype DType, shape Shape) *Tensor {
	n := shape.NumElements()
	if n < 0 || n > math.MaxInt64/16 {
		panic(fmt.Sprintf("tensor: shape %v has no finite size", shape))
	}
	return &Tensor{dtype: dtype, shape: shape, data: alignedBytes(int(n) * dtype.Size())}
}

// FromBytes returns a tensor over data without copying it.
func FromBytes(dtype DType, shape Shape, data []byte) (*Tensor, error) {
	if n := shape.NumElements(); n < 0 || n*int64(dtype.Size()) != int64(len(data)) {
		return nil, fmt.Errorf("%d bytes do not make a tensor of shape %v and element type %s", len(data), shape, dtype)
	}
	return &Tensor{dtype: dtype, shape: shape, data: data}, nil
}

// alignedBytes returns n zeroed bytes aligned for every element type (the allocator aligns 16-byte multiples).
func alignedBytes(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	words := make([]complex128, (n+15)/16)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*16)[:n:n]
}

// DType returns the element type.
func (t *Tensor) DType() DType { return t.dtype }

// Shape returns the dimensions; the caller must not change them.
func (t *Tensor) Shape() Shape { return t.shape }

// NumElements returns the number of elements.
func (t *Tensor) NumElements() int { return len(t.data) / t.dtype.Size() }

// Bytes returns the payload itself, not a copy.
func (t *Tensor) Bytes() []byte {
	t.reach()
	return t.data
}

// Peek returns the payload to be read only.
func (t *Tensor) Peek() []byte { return t.data }

// Parts returns the numbers that t consists of as a list that shares its payload: real and imaginary parts alternately
// of a complex tensor, else its elements.
func (t *Tensor) Parts() *Tensor {
	part := t.dtype.Part()
	p := &Tensor{}
	p.Borrow(part, Shape{int64(len(t.data) / part.Size())}, t.Bytes())
	return p
}

// Clone returns a tensor with a payload of its own.
func (t *Tensor) Clone() *Tensor {
	c := New(t.dtype, t.shape)
	copy(c.data, t.data)
	return c
}

// Reshape returns a tensor of the same payload with another shape of the same number of elements.
func (t *Tensor) Reshape(shape Shape) *Tensor {
	if shape.NumElements() != int64(t.NumElements()) {
		panic(fmt.Sprintf("tensor: cannot reshape %v to %v", t.shape, shape))
	}
	t.reach()
	return &Tensor{dtype: t.dtype, shape: shape, data: t.data}
}

// Element is a Go type that a payload can be viewed as. Half and smaller floats are viewed as the unsigned
// integer of their bits, i1 as uint8 (0 or 1).
type Element interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~complex64 | ~complex128
}

// View returns the payload as a slice of T without copying. It panics where T's size is not the element's.
func View[T Element](t *Tensor) []T {
	t.reach()
	return view[T](t)
}

// view is View for readers.
func view[T Element](t *Tensor) []T {
	var zero T
	if int(unsafe.Sizeof(zero)) != t.dtype.Size() {
		panic(fmt.Sprintf("tensor: %s cannot be viewed as %T", t.dtype, zero))
	}
	if len(t.data) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&t.data[0])), t.NumElements())
}

// Borrow makes t a view of data, which t does not own, without allocating. It exists for engines that hand the
// same few Tensor structs to a handler over and over; the length invariant is the caller's to keep.
func (t *Tensor) Borrow(dtype DType, shape Shape, data []byte) {
	t.dtype, t.shape, t.data = dtype, shape, data
}
