//go:build cgo

package pjrt

// #include <stdlib.h>
// #include "calls.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
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

// Code classifies a plugin's errors. The numbers come from the C API.
type Code int

// Codes that callers distinguish.
const (
	InvalidArgument Code = 3
	NotFound        Code = 5
	Unimplemented   Code = 12
	Internal        Code = 13
)

var codeNames = [...]string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL",
	"UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// String returns the spelling that XLA uses.
func (c Code) String() string {
	if c < 0 || int(c) >= len(codeNames) {
		return fmt.Sprintf("code %d", int(c))
	}
	return codeNames[c]
}

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

// check converts a PJRT error to a Go error and frees it. No other function frees PJRT errors.
func (p *Plugin) check(op string, e unsafe.Pointer) error {
	if e == nil {
		return nil
	}
	var message *C.char
	var size C.size_t
	code := C.hl_error_read(p.api, e, &message, &size)
	err := &Error{Op: op, Code: Code(code), Message: C.GoStringN(message, C.int(size))}
	C.hl_error_free(p.api, e)
	return err
}
