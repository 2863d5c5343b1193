package interp

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/runtime"
)

// OpError is an error located at an op: found when the module was compiled or while it ran.
type OpError struct {
	Diag  *diag.Diagnostic
	Op    string // the op's name
	Cause error
}

func (e *OpError) Error() string { return e.Diag.Error() }

// Unwrap returns the diagnostic and the cause: a context's error where the run was cancelled, *UnsupportedError and the
// like.
func (e *OpError) Unwrap() []error { return []error{e.Diag, e.Cause} }

// Render writes the diagnostic with its source line.
func (e *OpError) Render(w io.Writer) { e.Diag.Render(w) }

// UnsupportedError says that the engine does not execute an op.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return e.What + " is not supported by the embedded engine" }

// PluginError says that a custom call needs a plugin, since only XLA's own libraries implement it.
type PluginError struct{ Target string }

func (e *PluginError) Error() string {
	return fmt.Sprintf("custom call target %q is implemented by no engine of this module and needs a plugin for %s", e.Target, e.backend())
}

// backend returns which plugin is the one to try: the targets of CUDA's libraries say so by their names.
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
