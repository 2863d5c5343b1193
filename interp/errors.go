package interp

import (
	"errors"
	"fmt"
	"io"
	"strings"

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

// UnsupportedError reports that the engine does not support an op.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return e.What + " is not supported by the embedded engine" }

// PluginError reports that a custom call needs a plugin, because only XLA's own libraries implement it.
type PluginError struct{ Target string }

func (e *PluginError) Error() string {
	return fmt.Sprintf("custom call target %q is implemented by no engine of this module and needs a plugin for %s", e.Target, e.backend())
}

// backend returns the plugin to try. It recognizes the targets of CUDA's libraries by their names.
func (e *PluginError) backend() string {
	for _, prefix := range []string{"cu_", "cublas", "cudnn", "cufft", "cusolver", "cusparse", "__cublas", "__cudnn", "__gpu$", "mosaic_gpu", "triton"} {
		if strings.HasPrefix(e.Target, prefix) {
			return "cuda"
		}
	}
	return "cpu"
}

func located(err error) bool {
	var o *OpError
	var h *runtime.HookError
	return errors.As(err, &o) || errors.As(err, &h)
}

// unsupported returns an *UnsupportedError.
func unsupported(format string, args ...any) error {
	return &UnsupportedError{fmt.Sprintf(format, args...)}
}
