// Package plan compiles functions to instructions.
//
// Every value gets a slot in the function's frame. Liveness analysis determines the instruction after which a slot
// dies. Chains of element-wise ops become one instruction (fuse.go), also together with a reduction of their result
// (attach.go). Products read through transposes (transposes.go). Regions on scalars are compiled again for vectors
// (lift.go). Ops whose shapes are known only at run time are compiled for the shapes of the run (lazy.go).
package plan
