package kernel

import (
	"fmt"

	"github.com/hlocb/hlocb/tensor"
)

// Failure is the value of the panic that ends a compilation or a run. A maker panics with it if it cannot make a kernel
// or an instruction, a kernel if it cannot compute, a machine if memory runs out or the run is cancelled.
type Failure struct{ Err error }

// Fail panics with a Failure if err is not nil.
func Fail(err error) {
	if err != nil {
		panic(Failure{err})
	}
}

// Must returns v. It panics with a Failure if err is not nil.
func Must[T any](v T, err error) T {
	Fail(err)
	return v
}

// FailIf panics with a Failure if cond holds.
func FailIf(cond bool, format string, args ...any) {
	if cond {
		panic(Failure{Err: fmt.Errorf(format, args...)})
	}
}

// UnsupportedIf panics with an *UnsupportedError as the Failure if cond holds.
func UnsupportedIf(cond bool, format string, args ...any) {
	if cond {
		panic(Failure{Err: Unsupported(format, args...)})
	}
}

// Cause returns the error of a recovered panic. Panics other than a Failure are internal errors.
func Cause(v any) error {
	if f, ok := v.(Failure); ok {
		return f.Err
	}
	return fmt.Errorf("internal error: %v", v)
}

// Try calls f and returns the cause of its panic.
func Try(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Cause(v)
		}
	}()
	f()
	return nil
}

// Kernel computes results from operands.
type Kernel struct {
	// Run writes every element of every result. It never writes an operand, except that the first result may share its
	// payload with an operand that Inplace names. It panics with a Failure if the operands' values are invalid.
	Run     func(in, out []*tensor.Tensor)
	Inplace uint64      // bit i: operand i may be overwritten by the first result
	Others  []uint64    // the same for the results after the first
	Loop    ElementLoop // of an elementwise kernel; Cost is in nanoseconds per element
	Cost    int
	Single  *Lanes // of an elementwise kernel without Lanes that a loop on single values may compile; else nil
	Lanes   *Lanes // of an elementwise kernel that a chain may compile together with others; nil for other kernels
	Scratch int64  // additional bytes that Run needs, if they can far exceed the operands and results
	Family  string // the kind of kernel, for printed plans
	Parts   Parts  // how Run splits its work over the cores
}

// Overwrites returns the operands whose payload result i may take, as a mask.
func (k *Kernel) Overwrites(i int) uint64 {
	switch {
	case i == 0:
		return k.Inplace
	case i <= len(k.Others):
		return k.Others[i-1]
	}
	return 0
}

// Parts describes the split of a kernel's work into N pieces, with at least Grain pieces for each core. The zero value
// means that the split is unknown.
type Parts struct{ N, Grain int }

// Threads returns the number of the given cores that work on the parts.
func (p Parts) Threads(cores int) int { return max(1, min(cores, p.N/max(p.Grain, 1))) }

// Signature holds the types that a kernel is built for.
type Signature struct {
	Name    string // of the op, for errors
	In      []Type
	Out     []Type
	Reserve func(bytes int64) // charges for memory that the kernel keeps
}

// UnsupportedError reports that the engine does not support an op.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return e.What + " is not supported by the embedded engine" }

// Unsupported returns an *UnsupportedError.
func Unsupported(format string, args ...any) error {
	return &UnsupportedError{fmt.Sprintf(format, args...)}
}
