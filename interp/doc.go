// Package interp is the embedded engine: it executes modules in pure Go, without any plugin.
//
// A module is compiled once into a plan. Every value of a function gets a slot of the function's frame, every
// op becomes an instruction with a kernel chosen by op name, element type and shape, and liveness says after
// which instruction a slot dies. Kernels read and write the typed payloads of tensors; nothing is boxed per
// element. A run is a machine that walks the plan: buffers of dead values go back to a free list or are
// overwritten in place, so that a loop allocates nothing per iteration.
//
// Files: types.go (static types of values), attrs.go (reading attributes), plan.go (module to plan), machine.go
// (frames, buffers, the loop over instructions), control.go (calls, while, if, case), table.go (op name to
// kernel maker), and one file per family of kernels. A kernel cites the section of the StableHLO specification
// that says what it computes.
//
// Every error is located at the op that caused it. A panic inside a kernel is a bug; it is caught in one place
// and reported as an internal error at the op that was executing.
package interp
