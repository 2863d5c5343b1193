// Package interp is the embedded engine: it executes modules in pure Go, without any plugin.
//
// A module is compiled once into a plan. Every value of a function gets a slot in the function's frame. Every op
// becomes an instruction, with a kernel chosen by op name, element type and shape. Liveness analysis determines the
// instruction after which a slot dies. Kernels read and write the typed payloads of tensors, without boxing elements.
// A run is a machine that walks the plan. It returns the buffers of dead values to a free list or overwrites them in
// place; a loop therefore allocates nothing per iteration.
//
// The packages below are ops (op to kernel), plan (module to instructions), exec (machines that run them), kernel
// (functions of tensors), special (functions of numbers) and simd (vector loops). docs/engine.md follows an op through
// them.
//
// Every error is located at the op that caused it. Compilation returns errors. An instruction that fails, a kernel that
// cannot compute, exhausted memory and a cancelled run end the run by a panic with kernel.Failure. One place turns it
// into an error at the op that was executing. Any other panic is a bug, which that place reports as an internal error.
package interp
