//go:build cgo

package pjrt

// #include <stdlib.h>
// #include "calls.h"
// #include "crash.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/hlocb/hlocb/internal/xlatypes"
)

// Error is an error of a plugin.
type Error struct {
	Op      string // the request: "compile", "execute", ...
	Code    Code
	Message string
	Program string // for "compile": the form of the program, "portable artifact of StableHLO 1.13.3" or "MLIR text"
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s: %s", e.Op, e.Code, e.Message)
	if e.Program != "" {
		s += fmt.Sprintf(" (the plugin got the program as %s)", e.Program)
	}
	return s
}

// Code classifies a plugin's errors.
type Code = xlatypes.Code

// errNoMemory says that C code could not allocate memory.
var errNoMemory = errors.New("out of memory")

// takeMessage returns a message that C code allocated, and frees it. C code leaves the message nil if it has no
// memory for it.
func takeMessage(message *C.char) string {
	if message == nil {
		return errNoMemory.Error()
	}
	defer C.free(unsafe.Pointer(message))
	return C.GoString(message)
}

// cText returns a text as C code reads it, for the arguments of one call.
func cText(s string) *C.char { return (*C.char)(unsafe.Pointer(unsafe.StringData(s + "\x00"))) }

// check converts a PJRT error to a Go error and frees it. No other function frees PJRT errors.
func (p *Plugin) check(op string, e unsafe.Pointer) error {
	if e == nil {
		return nil
	}
	if fn := C.hl_missing(e); fn >= 0 {
		return &Error{Op: op, Code: xlatypes.Unimplemented, Message: fmt.Sprintf("the table of %s has no %s", p.path, C.GoString(C.hl_function(fn)))}
	}
	defer C.hl_error_free(p.api, e)
	text, code := C.hl_error_message_args{error: e}, C.hl_error_code_args{error: e, code: C.int32_t(xlatypes.Unknown)}
	rawCall(p, C.HL_ERROR_MESSAGE, &text)
	C.hl_error_free(p.api, rawCall(p, C.HL_ERROR_CODE, &code))
	message := goText(text.message, text.message_size)
	if message == "" {
		message = "the plugin says nothing more"
	}
	return &Error{Op: op, Code: Code(code.code), Message: message}
}

// maxText limits the texts that a plugin returns, in bytes. goText returns no longer text: its size must be wrong.
const maxText = 64 << 20

// goText returns a plugin's text.
func goText(text *C.char, size C.size_t) string {
	if text == nil || size > maxText {
		return ""
	}
	return C.GoStringN(text, C.int(size))
}

// invalid says that a plugin returned something impossible.
func (p *Plugin) invalid(op, format string, args ...any) error {
	return &Error{Op: op, Code: xlatypes.Internal, Message: fmt.Sprintf("%s returned ", p.path) + fmt.Sprintf(format, args...)}
}

// rawCall calls a function of the plugin's table with its struct of arguments, whose size it sets. It returns a PJRT
// error.
func rawCall[T any](p *Plugin, fn C.int, args *T) unsafe.Pointer {
	sized(args)
	return C.hl_call(p.api, fn, unsafe.Pointer(args))
}

// sized sets the size of a struct of the C API, which is its first field.
func sized[T any](args *T) *T {
	(*C.hl_plain_args)(unsafe.Pointer(args)).size = C.size_t(unsafe.Sizeof(*args))
	return args
}

// invoke calls a function of the plugin's table; op names it in errors.
func invoke[T any](p *Plugin, op string, fn C.int, args *T) error {
	return p.check(op, rawCall(p, fn, args))
}

func (p *Plugin) text(op string, fn C.int, object unsafe.Pointer) (string, error) {
	a := C.hl_text_args{object: object}
	err := invoke(p, op, fn, &a)
	if err != nil {
		return "", err
	}
	if a.text == nil && a.text_size > 0 || a.text_size > maxText {
		return "", p.invalid(op, "a text of %d bytes at %p", a.text_size, a.text)
	}
	return goText(a.text, a.text_size), nil
}

func (p *Plugin) number(op string, fn C.int, object unsafe.Pointer) (int, error) {
	a := C.hl_int_args{object: object}
	err := invoke(p, op, fn, &a)
	return int(a.number), err
}

func (p *Plugin) object(op string, fn C.int, of unsafe.Pointer) (unsafe.Pointer, error) {
	a := C.hl_get_args{object: of}
	err := invoke(p, op, fn, &a)
	if err == nil && a.other == nil {
		err = p.invalid(op, "nothing")
	}
	return a.other, err
}

func (p *Plugin) list(op string, fn C.int, of unsafe.Pointer) ([]unsafe.Pointer, error) {
	a := C.hl_list_args{object: of}
	err := invoke(p, op, fn, &a)
	if err != nil {
		return nil, err
	}
	return elements(p, op, (*unsafe.Pointer)(a.items), a.num_items)
}

// maxItems limits the lists that a plugin returns.
const maxItems = 1 << 24

// elements returns a plugin's list.
func elements[T any](p *Plugin, op string, items *T, n C.size_t) ([]T, error) {
	if items == nil && n > 0 || n > maxItems {
		return nil, p.invalid(op, "a list of %d at %p", n, items)
	}
	return unsafe.Slice(items, int(n)), nil
}
