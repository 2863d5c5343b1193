//go:build cgo

package pjrt

// #include "calls.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/hlocb/hlocb/internal/cuda"
	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/tensor"
)

// view is an operand or a result as the handler sees it. Its type and its uses stay, its memory changes from call to
// call.
type view struct {
	tensor.Tensor
	shape   tensor.Shape
	code    C.int32_t      // XLA's element type
	packed  bool           // XLA packs the type
	host    bool           // the handler reads or writes the elements on the host
	input   bool           // the memory holds a value when the call arrives
	device  unsafe.Pointer // XLA's memory
	size    int            // of it, in bytes
	raw     []byte         // its bytes if the host can read it, else their copy; nil without host views
	read    bool           // raw holds the value, and scratch does not yet
	staged  []uint64       // the memory of the copy, or of a copy of an operand that shares memory with a result
	pinned  *cuda.Block    // instead of staged
	sent    bool           // the queue holds a copy from pinned
	scratch []byte         // a byte per element, for types that XLA packs
}

func dimsOf(b *C.hl_ffi_buffer) []int64 { return unsafe.Slice((*int64)(b.dims), int(b.rank)) }

// sizeOf returns a buffer's element type and the size of its memory in bytes.
func sizeOf(b *C.hl_ffi_buffer) (tensor.DType, int, error) {
	dtype := xlatypes.FFIType(int(b.dtype))
	if dtype == tensor.Invalid {
		return tensor.Invalid, 0, fmt.Errorf("unknown element type code %d", int(b.dtype))
	}
	n := 1
	for _, d := range dimsOf(b) {
		if d < 0 || d > 0 && n > math.MaxInt/16/int(d) {
			return tensor.Invalid, 0, errors.New("the buffer has no static shape")
		}
		n *= int(d)
	}
	if bits := xlatypes.PackedBits(dtype); bits != 0 {
		return dtype, xlatypes.PackedSize(n, bits), nil
	}
	return dtype, n * dtype.Size(), nil
}

// learn gives v the type of a buffer, without memory.
func (v *view) learn(b *C.hl_ffi_buffer) error {
	dtype, size, err := sizeOf(b)
	if err != nil {
		return err
	}
	v.shape = append(tensor.Shape{}, dimsOf(b)...)
	v.code, v.size, v.packed = b.dtype, size, xlatypes.PackedBits(dtype) != 0
	v.Borrow(dtype, v.shape, nil)
	return nil
}

// fits reports whether a buffer has v's type.
func (v *view) fits(b *C.hl_ffi_buffer) bool { return b.dtype == v.code && v.shape.Equal(dimsOf(b)) }

// point points v to memory of XLA. If the host cannot read it and v is an input, the value is there after arrive.
func (c *call) point(v *view, data unsafe.Pointer) error {
	v.device, v.raw = data, nil
	switch {
	case data == nil && v.size > 0:
		return errors.New("the buffer has no memory")
	case c.readable:
		v.raw = unsafe.Slice((*byte)(data), v.size)
		if !v.packed { // most calls
			v.BorrowBytes(v.raw)
			return nil
		}
	case v.size > 0 && v.host:
		return c.load(v)
	case v.size > 0:
		v.BorrowBytes(nil)
		return nil
	}
	v.attach()
	if v.input {
		v.read = true
		v.unpack()
	}
	return nil
}

// load points v to host memory for a value on the device. The value of an input is there after arrive.
func (c *call) load(v *view) error {
	if err := c.stage(v); err != nil {
		return err
	}
	v.attach()
	if v.input {
		v.read, c.late = true, true
		return c.memory.ToHost(c.queue, v.raw, v.device)
	}
	return nil
}

// attach points the tensor to the value's bytes, or to memory for its elements if XLA packs them.
func (v *view) attach() {
	if !v.packed {
		v.BorrowBytes(v.raw)
		return
	}
	n := int(v.shape.NumElements())
	if cap(v.scratch) < n {
		v.scratch = make([]byte, n)
	}
	v.scratch = v.scratch[:n]
	v.BorrowBytes(v.scratch)
}

// unpack unpacks the elements of a value that was read.
func (v *view) unpack() {
	if v.read && v.packed {
		xlatypes.Unpack(v.scratch, v.raw, v.DType())
	}
	v.read = false
}

// stage sets v.raw to host memory for a copy of the value.
func (c *call) stage(v *view) error {
	if c.pool == nil {
		v.raw = v.stage(v.size)
		return nil
	}
	b, err := c.pool.Take(c.queue, v.size)
	if err != nil {
		return err
	}
	v.pinned, v.raw = b, b.Bytes()[:v.size]
	return nil
}

// release returns the host memory of a copy.
func (c *call) release(v *view) {
	if v.pinned != nil {
		c.pool.Give(c.queue, v.pinned, v.sent || c.late)
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
		xlatypes.Pack(v.raw, v.scratch, v.DType())
	}
}
