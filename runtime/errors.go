package runtime

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/hook"
)

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

// TimeoutError is the cause of a HookError where the handler did not return in time. It is also the cause of an error at an
// op where a program went on for that long without coming to a hook or to its end.
type TimeoutError struct {
	After   string
	Program bool // it was the program that took too long
}

func (e *TimeoutError) Error() string {
	if e.Program {
		return "takes longer than " + e.After + " without a callback"
	}
	return "handler did not return within " + e.After
}

// LostError says that a program could not be stopped. The devices of its backend stay busy with it, and run nothing more.
type LostError struct{ Cause error }

func (e *LostError) Error() string {
	return fmt.Sprintf("the program cannot be stopped (%v); its devices are lost", e.Cause)
}

// Unwrap returns why the program was to stop.
func (e *LostError) Unwrap() error { return e.Cause }

// UnwrittenError is the cause of a HookError where the handler left a result unwritten, or a part of it.
type UnwrittenError struct {
	Result int
	Part   bool    // the handler wrote something of the result, but not all
	Index  []int64 // of an element that was not written, where Part is set; others may be missing before it
}

func (e *UnwrittenError) Error() string {
	if e.Part {
		return fmt.Sprintf("handler did not write all of result %d: element %s is missing", e.Result, indexText(e.Index))
	}
	return fmt.Sprintf("handler did not write result %d", e.Result)
}

func indexText(index []int64) string {
	parts := make([]string, len(index))
	for i, k := range index {
		parts[i] = strconv.FormatInt(k, 10)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// ShapeError is the cause of a HookError where a handler gave a value of another type or shape than the program takes.
type ShapeError struct {
	Result    int
	Got, Want hook.TensorType
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("handler gave a %s for result %d, the program takes a %s", e.Got, e.Result, e.Want)
}

// SizeError is the cause of a HookError where a handler gave another number of values than a result has elements,
// or bytes where it gave bytes.
type SizeError struct {
	Result    int
	Got, Want int
	Unit      string // "bytes", "elements"
	Type      hook.TensorType
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("handler gave %d %s for result %d, the program takes %d (%s)", e.Got, e.Unit, e.Result, e.Want, e.Type)
}
