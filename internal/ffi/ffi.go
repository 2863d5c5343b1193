//go:build cgo

// Package ffi calls handlers of the XLA FFI, in this process or in a shared library, with hlocb's own call frame. It
// needs no plugin.
package ffi

// #cgo CFLAGS: -D_GNU_SOURCE
// #cgo LDFLAGS: -ldl -lpthread
// #include <stdlib.h>
// #include "ffi.h"
import "C"

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"unsafe"

	"github.com/hlocb/hlocb/internal/xlatypes"
	"github.com/hlocb/hlocb/tensor"
)

// Handler is a handler of the XLA FFI in this process, which hlocb calls with its own call frame. Several threads
// may call it at once.
type Handler struct{ handler unsafe.Pointer }

// New asks a handler for its FFI version, and refuses another major version than hlocb's. A handler that is
// built for a newer minor version gets an error from functions that hlocb lacks.
func New(handler unsafe.Pointer) (*Handler, error) {
	major, minor, err := Version(handler)
	switch {
	case err != nil:
		return nil, err
	case major < 0:
		return nil, errors.New("it does not report its version of the XLA FFI")
	case major != C.HL_FFI_MAJOR:
		return nil, fmt.Errorf("it was built for XLA FFI %d.%d, hlocb has %d.%d", major, minor, int(C.HL_FFI_MAJOR), int(C.HL_FFI_MINOR))
	}
	return &Handler{handler}, nil
}

// Address returns the handler's function, which a plugin can register.
func (h *Handler) Address() unsafe.Pointer { return h.handler }

// Version returns the version of the FFI that a handler was built for, -1 if the handler does not report it.
func Version(handler unsafe.Pointer) (major, minor int, err error) {
	var x, y C.int32_t
	if message := C.hl_ffi_handler_version(handler, &x, &y); message != nil {
		return 0, 0, errors.New(takeMessage(message))
	}
	return int(x), int(y), nil
}

// takeMessage returns a message that C code allocated, and frees it. C code leaves the message nil if it has no
// memory for it.
func takeMessage(message *C.char) string {
	if message == nil {
		return "out of memory"
	}
	defer C.free(unsafe.Pointer(message))
	return C.GoString(message)
}

// Call is a call of a Handler in the stage execute.
type Call struct {
	// Operands and Results are row-major; nil is a token. A result that is an operand shares its memory. Types narrower
	// than a byte are packed for the handler, low bits first.
	Operands, Results []*tensor.Tensor
	Attrs             *Attrs
	Run               int64
	Device            int32
	// UserData is a C function void *(void *of, int64_t type). It returns the user data of a type, or NULL. A nil
	// UserData means none.
	UserData, Of unsafe.Pointer
}

// Call calls the handler and waits until the call is complete. The handler's error is a *Error.
func (h *Handler) Call(c *Call) error {
	var pin goruntime.Pinner
	defer pin.Unpin()
	values := append(append(make([]*tensor.Tensor, 0, len(c.Operands)+len(c.Results)), c.Operands...), c.Results...)
	buffers := make([]C.hl_ffi_buffer, len(values)+1)
	packed := make([][]byte, len(values))
	for i, t := range values {
		b := &buffers[i]
		b.size = C.size_t(unsafe.Sizeof(*b))
		if t == nil {
			b.dtype = xlatypes.FFIToken
			continue
		}
		b.dtype, b.rank = C.int32_t(xlatypes.FFICode(t.DType())), C.int64_t(len(t.Shape()))
		data := t.Peek()
		if i >= len(c.Operands) {
			data = t.Bytes()
		}
		if bits := xlatypes.PackedBits(t.DType()); bits != 0 {
			packed[i] = make([]byte, xlatypes.PackedSize(len(data), bits))
			xlatypes.Pack(packed[i], data, t.DType())
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
	ctx := C.hl_ffi_handler_context{run_id: C.int64_t(c.Run), ordinal: C.int32_t(c.Device), user_data: c.UserData, of: c.Of}
	message := C.hl_ffi_handler_call(h.handler, &buffers[0], C.int64_t(len(c.Operands)), C.int64_t(len(c.Results)), c.Attrs.list, ctx, &code)
	goruntime.KeepAlive(c.Attrs)
	if message != nil || code != 0 {
		return &Error{xlatypes.Code(code), takeMessage(message)}
	}
	for i, r := range c.Results {
		if p := packed[len(c.Operands)+i]; p != nil {
			xlatypes.Unpack(r.Bytes(), p, r.DType())
		}
	}
	return nil
}
