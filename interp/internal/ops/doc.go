// Package ops defines how each op executes. BuildTable connects an op to the maker of its kernel or of its instruction.
// Each family of ops has a file. A maker reads the op's attributes and passes the geometry to the kernel.
package ops
