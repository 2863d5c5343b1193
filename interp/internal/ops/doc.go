// Package ops says how each op executes: Table connects an op to the maker of its kernel or its instruction. There is
// one file per family of ops. A maker reads the op's attributes and gives the kernel its geometry.
package ops
