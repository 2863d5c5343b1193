package exec

import (
	"errors"
	"io"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/runtime"
)

// OpError is an error located at an op. It occurs during compilation or execution.
type OpError struct {
	Diag  *diag.Diagnostic
	Op    string // the op's name
	Cause error
}

func (e *OpError) Error() string { return e.Diag.Error() }

// Unwrap returns the diagnostic and the cause, such as an *UnsupportedError, or the context's error if the run was
// cancelled.
func (e *OpError) Unwrap() []error { return []error{e.Diag, e.Cause} }

// Render writes the diagnostic with its source line.
func (e *OpError) Render(w io.Writer) { e.Diag.Render(w) }

func located(err error) bool {
	var o *OpError
	var h *runtime.HookError
	return errors.As(err, &o) || errors.As(err, &h)
}
