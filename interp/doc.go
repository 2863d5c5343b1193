// Package interp is the embedded engine: it executes modules in pure Go, without any plugin.
//
// A module is compiled once into a plan. Every value of a function gets a slot in the function's frame. Every op
// becomes an instruction, with a kernel chosen by op name, element type and shape. Liveness analysis determines the
// instruction after which a slot dies. Kernels read and write the typed payloads of tensors, without boxing elements.
// A run is a machine that walks the plan. It returns the buffers of dead values to a free list or overwrites them in
// place; a loop therefore allocates nothing per iteration.
//
// Files: types.go (static types of values), attrs.go (reading attributes), plan.go (module to plan), machine.go
// (frames, buffers, the loop over instructions), control.go (calls, while, if, case), table.go (op name to
// kernel maker), and one file per family of kernels. A kernel cites the section of the StableHLO specification
// that defines it.
//
// Every error is located at the op that caused it. A panic in a kernel is a bug. The engine recovers from it in one
// place and reports an internal error at the op that was executing.
package interp
