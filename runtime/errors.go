package runtime

import "fmt"

// HookError is how a handler's failure ends a run: by an error it returned, a panic, results it did not give,
// or a timeout. errors.As finds it, errors.Is sees the cause.
type HookError struct {
	Hook   string // the hook's name
	ID     string
	Loc    string // MLIR location, empty where unknown
	Device int
	Run    int64
	Seq    int64
	Cause  error
}

func (e *HookError) Error() string {
	at := ""
	if e.Loc != "" {
		at = " at " + e.Loc
	}
	return fmt.Sprintf("hook %q%s failed at event %d on device %d: %v", e.Hook, at, e.Seq, e.Device, e.Cause)
}

// Unwrap returns the cause.
func (e *HookError) Unwrap() error { return e.Cause }

// PanicError is the cause of a HookError where the handler panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("handler panicked: %v", e.Value) }

// TimeoutError is the cause of a HookError where the handler did not return in time.
type TimeoutError struct{ After string }

func (e *TimeoutError) Error() string { return "handler did not return within " + e.After }

// UnwrittenError is the cause of a HookError where the handler left a result unwritten. A result of fewer than
// eight bytes that was not written is zero instead, and one that was written in part is not found out.
type UnwrittenError struct{ Result int }

func (e *UnwrittenError) Error() string {
	return fmt.Sprintf("handler did not write result %d", e.Result)
}
