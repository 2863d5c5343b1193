package kernel

import (
	"github.com/hlocb/hlocb/tensor"
)

// Kernel computes results from operands.
type Kernel struct {
	// run writes every element of every result. It never writes an operand, except that the first result may share its
	// payload with an operand that inplace names.
	Run     func(in, out []*tensor.Tensor) error
	Inplace uint64      // bit i: operand i may be overwritten by the first result
	Others  []uint64    // the same for the results after the first
	Loop    ElementLoop // of an elementwise kernel; cost is in nanoseconds per element
	Cost    int
	Scratch int64  // additional bytes that run needs, if they can far exceed the operands and results
	Family  string // the kind of kernel, for plans that are printed
	Parts   Parts  // how run splits its work over the cores
}

// Parts are N pieces of work that one core does at least Grain of. The zero value says nothing.
type Parts struct{ N, Grain int }

// Threads returns the number of the given cores that work on the parts.
func (p Parts) Threads(cores int) int { return max(1, min(cores, p.N/max(p.Grain, 1))) }

// Signature is the types that a kernel is built for.
type Signature struct {
	Name    string // of the op, for errors
	In      []Type
	Out     []Type
	Reserve func(bytes int64) error // charges for memory that the kernel keeps
}
