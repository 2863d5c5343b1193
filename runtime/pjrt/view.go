//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/hlocb/hlocb/tensor"
)

// view is an operand or a result as the handler sees it.
type view struct {
	tensor.Tensor
	shape   tensor.Shape
	code    C.int32_t      // XLA's element type; 0 before the first call
	packed  bool           // XLA packs the type
	device  unsafe.Pointer // XLA's memory
	size    int            // of it, in bytes
	raw     []byte         // its bytes if the host can read it, else their copy; nil without host views
	read    bool           // raw holds the value, and scratch does not yet
	staged  []uint64       // the memory of the copy, or of a copy of an operand that shares memory with a result
	pinned  *pinnedBlock   // instead of staged
	sent    bool           // the queue holds a copy from pinned
	scratch []byte         // a byte per element, for types that XLA packs
}

// sizeOf returns a buffer's element type and the size of its memory in bytes.
func sizeOf(b *C.hl_ffi_buffer) (tensor.DType, int, error) {
	code := int(b.dtype)
	if code < 0 || code >= len(ffiTypes) || ffiTypes[code] == tensor.Invalid {
		return tensor.Invalid, 0, fmt.Errorf("unknown element type code %d", code)
	}
	dtype := ffiTypes[code]
	n := 1
	for _, d := range unsafe.Slice((*int64)(b.dims), int(b.rank)) {
		if d < 0 || d > 0 && n > math.MaxInt/16/int(d) {
			return tensor.Invalid, 0, errors.New("the buffer has no static shape")
		}
		n *= int(d)
	}
	if n == 0 {
		return dtype, 0, nil
	}
	size := n * dtype.Size()
	if bits := packedBits(dtype); bits != 0 {
		size = packedSize(n, bits)
	}
	if b.data == nil {
		return tensor.Invalid, 0, errors.New("the buffer has no memory")
	}
	return dtype, size, nil
}

// set points the view to a buffer. It reads the value only if a handler needs it on the host.
func (c *call) set(v *view, b *C.hl_ffi_buffer, host, value bool) error {
	dims := unsafe.Slice((*int64)(b.dims), int(b.rank))
	if b.dtype != v.code || b.data == nil || !v.shape.Equal(dims) { // else the last call had the same type
		dtype, size, err := sizeOf(b)
		if err != nil {
			return err
		}
		v.Borrow(dtype, v.shape, nil)
		v.code, v.size, v.packed = b.dtype, size, packedBits(dtype) != 0
		if v.shape == nil || !v.shape.Equal(dims) {
			// Handlers may keep a shape, so shapes are never changed.
			v.shape = append(make(tensor.Shape, 0, len(dims)), dims...)
		}
	}
	v.device = b.data
	switch {
	case c.readable && !v.packed && v.size > 0: // most calls
		v.raw = unsafe.Slice((*byte)(b.data), v.size)
		v.Borrow(v.DType(), v.shape, v.raw)
		return nil
	case v.size == 0:
		v.raw = nil
	case c.readable:
		v.raw = unsafe.Slice((*byte)(b.data), v.size)
	case !host:
		v.raw = nil
		v.Borrow(v.DType(), v.shape, nil)
		return nil
	default:
		return c.load(v, value)
	}
	v.attach()
	if value {
		v.read = true
		v.unpack()
	}
	return nil
}

// load points v to host memory for a value on the device. If value is set, the value is there after arrive.
func (c *call) load(v *view, value bool) error {
	if err := c.stage(v); err != nil {
		return err
	}
	v.attach()
	if value {
		v.read, c.late = true, true
		return c.memory.ToHost(c.queue, v.raw, v.device)
	}
	return nil
}

// attach points the tensor to the value's bytes, or to memory for its elements if XLA packs them.
func (v *view) attach() {
	if !v.packed {
		v.Borrow(v.DType(), v.shape, v.raw)
		return
	}
	n := int(v.shape.NumElements())
	if cap(v.scratch) < n {
		v.scratch = make([]byte, n)
	}
	v.scratch = v.scratch[:n]
	v.Borrow(v.DType(), v.shape, v.scratch)
}

// unpack unpacks the elements of a value that was read.
func (v *view) unpack() {
	if v.read && v.packed {
		unpack(v.scratch, v.raw, v.DType())
	}
	v.read = false
}

// stage sets v.raw to host memory for a copy of the value.
func (c *call) stage(v *view) error {
	if c.pool == nil {
		v.raw = v.stage(v.size)
		return nil
	}
	b, err := c.pool.take(c.queue, v.size)
	if err != nil {
		return err
	}
	v.pinned, v.raw = b, b.bytes[:v.size]
	return nil
}

// release returns the host memory of a copy.
func (c *call) release(v *view) {
	if v.pinned != nil {
		c.pool.give(c.queue, v.pinned, v.sent || c.late)
	}
	v.pinned, v.sent, v.read = nil, false, false
}

// maxKeptCopy is the largest copy of an operand, in bytes, whose memory a call keeps.
const maxKeptCopy = 1 << 20

// stage returns memory for a copy of the value.
func (v *view) stage(size int) []byte {
	words := (size + 7) / 8
	staged := v.staged
	if cap(staged) < words {
		staged = make([]uint64, words)
		if size <= maxKeptCopy {
			v.staged = staged
		}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(staged[:words]))), size)
}

// pack writes a result to XLA's memory if XLA packs its type.
func (v *view) pack() {
	if v.packed {
		pack(v.raw, v.scratch, v.DType())
	}
}

// grow adds a view and returns the addresses of all views.
func grow(views []view) ([]view, []*tensor.Tensor) {
	views = append(views, view{})
	ptrs := make([]*tensor.Tensor, len(views))
	for i := range views {
		ptrs[i] = &views[i].Tensor
	}
	return views, ptrs
}
