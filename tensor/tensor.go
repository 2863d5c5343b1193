package tensor

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"
)

// Shape is the size of each dimension, outermost first. A scalar has the empty shape.
type Shape []int64

// NumElements returns the product of the dimensions: 1 for a scalar, 0 if any dimension is 0. It returns -1 if the
// product does not fit an int64 or a dimension is negative (dynamic).
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

// Clone returns a copy that shares no memory with s.
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

// Tensor is a dense array: an element type, a static shape and a payload in row-major order, little-endian, Size()
// bytes per element. The invariant len(Bytes()) == NumElements()*DType().Size() always holds.
//
// A Tensor from New or FromBytes may be shared. Only its sole owner may write through a View.
type Tensor struct {
	dtype DType
	shape Shape
	data  []byte
	watch uint32 // atomic: 0 if not watched, else watching or reached
}

// States of a watched tensor.
const (
	watched = 1
	reached = 2
)

// Watch starts to track access for writing to the payload: by Bytes, View, Reshape or a Set method. A caller that
// passes a tensor to a handler uses Reached to learn whether the handler may have filled it.
func (t *Tensor) Watch() { atomic.StoreUint32(&t.watch, watched) }

// Reached reports whether the payload was accessed since Watch, and ends the watch. It is true if there was no watch.
func (t *Tensor) Reached() bool { return atomic.SwapUint32(&t.watch, 0) != watched }

// reach records a possible write. For a tensor that is not watched it only loads, which is safe for concurrent readers.
func (t *Tensor) reach() {
	if atomic.LoadUint32(&t.watch) == watched {
		atomic.StoreUint32(&t.watch, reached)
	}
}

// New returns a zeroed tensor. It panics if the shape has no finite size. Callers must check shapes from input first.
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

// Bytes returns the payload without copying it.
func (t *Tensor) Bytes() []byte {
	t.reach()
	return t.data
}

// Peek returns the payload for reading only.
func (t *Tensor) Peek() []byte { return t.data }

// Parts returns the numbers of t as a list that shares its payload: alternating real and imaginary parts for a complex
// tensor, else the elements.
func (t *Tensor) Parts() *Tensor {
	part := t.dtype.Part()
	p := &Tensor{}
	p.Borrow(part, Shape{int64(len(t.data) / part.Size())}, t.Bytes())
	return p
}

// Clone returns a tensor with its own copy of the payload.
func (t *Tensor) Clone() *Tensor {
	c := New(t.dtype, t.shape)
	copy(c.data, t.data)
	return c
}

// Reshape returns a tensor with the same payload and another shape with the same number of elements.
func (t *Tensor) Reshape(shape Shape) *Tensor {
	if shape.NumElements() != int64(t.NumElements()) {
		panic(fmt.Sprintf("tensor: cannot reshape %v to %v", t.shape, shape))
	}
	t.reach()
	return &Tensor{dtype: t.dtype, shape: shape, data: t.data}
}

// Element is a Go type for views of a payload. Half and smaller floats are viewed as the unsigned integer of their
// bits, i1 as uint8 (0 or 1).
type Element interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~complex64 | ~complex128
}

// View returns the payload as a slice of T without copying. It panics if T and the element type differ in size.
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

// Borrow makes t a view of data, which t does not own, without allocating. Engines use it to pass the same few Tensor
// structs to a handler repeatedly. The caller must maintain the length invariant.
func (t *Tensor) Borrow(dtype DType, shape Shape, data []byte) {
	t.dtype, t.shape, t.data = dtype, shape, data
}

// BorrowBytes is Borrow with the type and the shape that t has.
func (t *Tensor) BorrowBytes(data []byte) { t.data = data }
