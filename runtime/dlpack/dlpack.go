//go:build cgo

package dlpack

// #include "dlpack.h"
import "C"

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"runtime/cgo"
	"unsafe"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// Options configure Export.
type Options struct {
	// Versioned exports a DLManagedTensorVersioned of DLPack 1.1. Every consumer accepts the default, a
	// DLManagedTensor.
	Versioned bool
	// Writable allows the consumer to write, for results and the operands of an inout hook. Only the versioned struct
	// can forbid it.
	Writable bool
}

// ManagedTensor is an exported tensor. It is valid until Close, which a handler must call before it returns, because
// the program uses the memory again.
type ManagedTensor struct {
	ptr       unsafe.Pointer
	versioned C.int
	taken     bool // a consumer has the pointer
	pin       goruntime.Pinner
}

// ErrHeld says that a consumer still holds an exported tensor whose memory the program is about to use again.
var ErrHeld = errors.New("the consumer of a DLPack tensor still holds it, and its memory ends with the hook's call")

// TypeError says that an element type cannot be exported.
type TypeError struct {
	Type      tensor.DType
	Versioned bool
}

func (e *TypeError) Error() string {
	if e.Type.Bits() < 8 && !e.Versioned {
		return fmt.Sprintf("unversioned DLPack has no elements of type %s in a byte each", e.Type)
	}
	return fmt.Sprintf("DLPack has no elements of type %s", e.Type)
}

// The codes of DLPack's element types. Codes up to 6 are from version 0.8, higher codes from 1.1.
const (
	codeInt     = 0
	codeUint    = 1
	codeFloat   = 2
	codeBfloat  = 4
	codeComplex = 5
	codeBool    = 6
)

var smallFloats = map[tensor.DType]C.uint8_t{
	tensor.F8E3M4: 7, tensor.F8E4M3: 8, tensor.F8E4M3B11FNUZ: 9, tensor.F8E4M3FN: 10, tensor.F8E4M3FNUZ: 11, tensor.F8E5M2: 12,
	tensor.F8E5M2FNUZ: 13, tensor.F8E8M0FNU: 14, tensor.F6E2M3FN: 15, tensor.F6E3M2FN: 16, tensor.F4E2M1FN: 17,
}

// dataType returns DLPack's code and the bits of an element type.
func dataType(d tensor.DType, versioned bool) (code, bits C.uint8_t, err error) {
	bits = C.uint8_t(d.Bits())
	if d.Bits() < 8 && d != tensor.I1 && !versioned {
		return 0, 0, &TypeError{d, versioned}
	}
	if c, ok := smallFloats[d]; ok {
		return c, bits, nil
	}
	switch {
	case d == tensor.I1:
		return codeBool, 8, nil
	case d == tensor.BF16:
		return codeBfloat, bits, nil
	case d.IsComplex():
		return codeComplex, bits, nil
	case d.IsFloat():
		return codeFloat, bits, nil
	case d.Kind() == tensor.KindSigned:
		return codeInt, bits, nil
	case d.Kind() == tensor.KindUnsigned:
		return codeUint, bits, nil
	}
	return 0, 0, &TypeError{d, versioned}
}

// Export describes t to a consumer of DLPack, without a copy: row-major, in host memory. Types narrower than a byte
// have a byte per element; only the versioned struct can say so.
func Export(t *tensor.Tensor, opts Options) (*ManagedTensor, error) {
	code, bits, err := dataType(t.DType(), opts.Versioned)
	if err != nil {
		return nil, err
	}
	m := &ManagedTensor{}
	var flags C.uint64_t
	data := t.Peek()
	if opts.Writable {
		data = t.Bytes()
	} else {
		flags |= C.HL_DL_READ_ONLY
	}
	if bits < 8 {
		flags |= C.HL_DL_SUBBYTE_PADDED
	}
	if opts.Versioned {
		m.versioned = 1
	}
	var at unsafe.Pointer
	if len(data) > 0 {
		at = unsafe.Pointer(&data[0])
		m.pin.Pin(at)
	}
	return m.describe(C.hl_dl_device{_type: C.int32_t(runtime.HostMemory)}, at, code, bits, t.Shape(), flags)
}

// describe makes the struct.
func (m *ManagedTensor) describe(d C.hl_dl_device, at unsafe.Pointer, code, bits C.uint8_t, shape tensor.Shape, flags C.uint64_t) (*ManagedTensor, error) {
	m.ptr = C.hl_dlpack_new(m.versioned, d, at, code, bits, (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(shape))), C.int32_t(len(shape)), flags)
	if m.ptr == nil {
		m.pin.Unpin()
		return nil, errors.New("out of memory")
	}
	return m, nil
}

// ExportPointer describes a value where the program computes it, without a copy: t is an operand or a result of c, and
// p its device pointer. On a GPU the consumer works in the stream c.Stream, or waits for it. Only the versioned struct
// has types narrower than a byte; they are packed. The memory of some devices cannot be exported.
func ExportPointer(c *runtime.Call, p runtime.DevicePointer, t *tensor.Tensor, opts Options) (*ManagedTensor, error) {
	if p.Memory == runtime.FarMemory {
		return nil, errors.New("DLPack has no device for memory that only the backend reaches")
	}
	code, bits, err := dataType(t.DType(), opts.Versioned)
	if err != nil {
		return nil, err
	}
	m := &ManagedTensor{}
	var flags C.uint64_t
	if !opts.Writable {
		flags |= C.HL_DL_READ_ONLY
	}
	if opts.Versioned {
		m.versioned = 1
	}
	at := *(*unsafe.Pointer)(unsafe.Pointer(&p.Address))
	return m.describe(C.hl_dl_device{_type: C.int32_t(p.Memory), id: C.int32_t(c.Ordinal)}, at, code, bits, t.Shape(), flags)
}

// Pointer returns the DLManagedTensor, or with Options.Versioned the DLManagedTensorVersioned. It belongs to one
// consumer, which calls its deleter once, on any thread.
func (m *ManagedTensor) Pointer() unsafe.Pointer {
	m.taken = true
	return m.ptr
}

// Close ends the export. It returns ErrHeld if a consumer got the pointer and has not called the deleter. Close may be
// called again.
func (m *ManagedTensor) Close() error {
	if m.ptr == nil {
		return nil
	}
	ptr := m.ptr
	m.ptr = nil
	if !m.taken {
		C.hl_dlpack_delete(ptr, m.versioned)
	}
	if C.hl_dlpack_drop(ptr, m.versioned) == 0 {
		// Pin the Go memory for the rest of the process: the consumer still uses it.
		cgo.NewHandle(m)
		return ErrHeld
	}
	m.pin.Unpin()
	return nil
}
