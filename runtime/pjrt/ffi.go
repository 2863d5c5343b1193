//go:build cgo

package pjrt

// #include "calls.h"
// #include "foreign.h"
import "C"

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"unsafe"

	"github.com/hlocb/hlocb/tensor"
)

// FFIHandler is a handler of the XLA FFI in this process, which hlocb calls with its own call frame. Several threads
// may call it at once.
type FFIHandler struct{ handler unsafe.Pointer }

// NewFFIHandler asks a handler for its FFI version, and refuses another major version than hlocb's. A handler that is
// built for a newer minor version gets an error from functions that hlocb lacks.
func NewFFIHandler(handler unsafe.Pointer) (*FFIHandler, error) {
	var major, minor C.int32_t
	if message := C.hl_foreign_version(handler, &major, &minor); message != nil {
		return nil, errors.New(takeMessage(message))
	}
	switch {
	case major < 0:
		return nil, errors.New("it does not report its version of the XLA FFI")
	case major != C.HL_FFI_MAJOR:
		return nil, fmt.Errorf("it was built for XLA FFI %d.%d, hlocb has %d.%d", int(major), int(minor), int(C.HL_FFI_MAJOR), int(C.HL_FFI_MINOR))
	}
	return &FFIHandler{handler}, nil
}

// FFICall is a call of an FFIHandler in the stage execute.
type FFICall struct {
	// Operands and Results are row-major; nil is a token. A result that is an operand shares its memory. Types narrower
	// than a byte are packed for the handler, low bits first.
	Operands, Results []*tensor.Tensor
	Attrs             *FFIAttrs
	Run               int64
	Device            int32
	// UserData is a C function void *(void *of, int64_t type). It returns the user data of a type, or NULL. A nil
	// UserData means none.
	UserData, Of unsafe.Pointer
}

// Call calls the handler and waits until the call is complete. The handler's error is a *ForeignError.
func (h *FFIHandler) Call(c *FFICall) error {
	var pin goruntime.Pinner
	defer pin.Unpin()
	values := append(append(make([]*tensor.Tensor, 0, len(c.Operands)+len(c.Results)), c.Operands...), c.Results...)
	buffers := make([]C.hl_ffi_buffer, len(values)+1)
	packed := make([][]byte, len(values))
	for i, t := range values {
		b := &buffers[i]
		b.size = C.size_t(unsafe.Sizeof(*b))
		if t == nil {
			b.dtype = ffiToken
			continue
		}
		b.dtype, b.rank = C.int32_t(ffiCode(t.DType())), C.int64_t(len(t.Shape()))
		data := t.Peek()
		if i >= len(c.Operands) {
			data = t.Bytes()
		}
		if bits := packedBits(t.DType()); bits != 0 {
			packed[i] = make([]byte, packedSize(len(data), bits))
			pack(packed[i], data, t.DType())
			data = packed[i]
			for k := range i {
				if values[k] == t { // the result shares the memory of its operand
					packed[i], data = packed[k], packed[k]
				}
			}
		}
		if len(data) > 0 {
			pin.Pin(&data[0])
			b.data = unsafe.Pointer(&data[0])
		}
		if len(t.Shape()) > 0 {
			pin.Pin(&t.Shape()[0])
			b.dims = (*C.int64_t)(unsafe.Pointer(&t.Shape()[0]))
		}
	}
	var code C.int32_t
	ctx := C.hl_foreign_context{run_id: C.int64_t(c.Run), ordinal: C.int32_t(c.Device), user_data: c.UserData, of: c.Of}
	message := C.hl_foreign_call(h.handler, &buffers[0], C.int64_t(len(c.Operands)), C.int64_t(len(c.Results)), c.Attrs.list, ctx, &code)
	goruntime.KeepAlive(c.Attrs)
	if message != nil || code != 0 {
		return &ForeignError{Code(code), takeMessage(message)}
	}
	for i, r := range c.Results {
		if p := packed[len(c.Operands)+i]; p != nil {
			unpack(r.Bytes(), p, r.DType())
		}
	}
	return nil
}
