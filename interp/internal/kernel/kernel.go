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
	Scratch int64 // additional bytes that run needs, if they can far exceed the operands and results
}

// Signature is the types that a kernel is built for.
type Signature struct {
	Name    string // of the op, for errors
	In      []Type
	Out     []Type
	Reserve func(bytes int64) error // charges for memory that the kernel keeps
}
