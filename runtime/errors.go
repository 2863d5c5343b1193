package runtime

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/internal/words"
)

// HookError ends a run whose handler failed: it returned an error, panicked, left results unwritten, or took too long.
// errors.As finds it, errors.Is finds its cause.
type HookError struct {
	Hook   string // the hook's name
	ID     string
	Loc    string // MLIR location, empty if unknown
	Device int
	Run    int64
	Seq    int64
	Cause  error
}

// maxNameText limits how much of a name or location an error message repeats, because the module chooses them.
const maxNameText = 500

func (e *HookError) Error() string {
	at := ""
	if e.Loc != "" {
		at = " at " + words.Shorten(diag.Escape(hook.Frame(e.Loc)), maxNameText)
	}
	return fmt.Sprintf("hook %q%s failed at event %d on device %d: %v", words.Shorten(e.Hook, maxNameText), at, e.Seq, e.Device, e.Cause)
}

// Unwrap returns the cause.
func (e *HookError) Unwrap() error { return e.Cause }

// PanicError is the cause of a HookError whose handler panicked.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("handler panicked: %v", e.Value) }

// TimeoutError is the cause of a HookError whose handler did not return in time. With Program set it is the cause of an
// error at an op instead: the program ran for that long without reaching a hook or its end.
type TimeoutError struct {
	After   string
	Program bool
}

func (e *TimeoutError) Error() string {
	if e.Program {
		return "takes longer than " + e.After + " without a callback"
	}
	return "handler did not return within " + e.After
}

// LostError says that a program could not be stopped. The devices of its backend stay busy and run nothing else.
type LostError struct{ Cause error }

func (e *LostError) Error() string {
	return fmt.Sprintf("the program cannot be stopped (%v); its devices are lost", e.Cause)
}

// Unwrap returns the reason for stopping the program.
func (e *LostError) Unwrap() error { return e.Cause }

// WaitError says that a run ended at its deadline before its program started: the handler of another run was busy all
// the time on the same devices.
type WaitError struct {
	Program string // of the run
	Hook    string // whose handler was busy
	Of      string // the program of the hook
	Cause   error  // the reason of the run's context
}

func (e *WaitError) Error() string {
	return fmt.Sprintf("%v: the run of %s waited for hook %q of %s; if its handler waits for the run, pass the handler's context on to it",
		e.Cause, e.Program, words.Shorten(e.Hook, maxNameText), e.Of)
}

// Unwrap returns the reason of the run's context.
func (e *WaitError) Unwrap() error { return e.Cause }

// UnwrittenError is the cause of a HookError whose handler left a result unwritten, or a part of it.
type UnwrittenError struct {
	Result int
	Part   bool    // the handler wrote a part of the result
	Index  []int64 // with Part, the index of an element that is missing; others may be missing before it
}

func (e *UnwrittenError) Error() string {
	if e.Part {
		return fmt.Sprintf("handler did not write all of result %d: element %s is missing", e.Result, mlirtext.AppendInts(nil, e.Index))
	}
	return fmt.Sprintf("handler did not write result %d", e.Result)
}

// ShapeError is the cause of a HookError whose handler returned a value of another type or shape than the program
// expects.
type ShapeError struct {
	Result    int
	Got, Want hook.TensorType
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("handler returned a %s for result %d, the program expects a %s", e.Got, e.Result, e.Want)
}

// SizeError is the cause of a HookError whose handler returned more or fewer elements or bytes than the result has.
type SizeError struct {
	Result    int
	Got, Want int
	Unit      string // "bytes", "elements"
	Type      hook.TensorType
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("handler returned %d %s for result %d, the program expects %d (%s)", e.Got, e.Unit, e.Result, e.Want, e.Type)
}
