package kernel

import (
	"fmt"
)

// UnsupportedError reports that the engine does not support an op.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return e.What + " is not supported by the embedded engine" }

// Unsupported returns an *UnsupportedError.
func Unsupported(format string, args ...any) error {
	return &UnsupportedError{fmt.Sprintf(format, args...)}
}
