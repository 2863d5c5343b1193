// Package randprog generates random programs with hooks for tests. A program is a tree. The package writes it as
// StableHLO in the format of any producer of hooks, and evaluates it by its reference semantics without using the
// code under test. A seed yields the same program on every machine.
//
// Programs nest loops, branches and function calls, call functions twice, put hooks into loop conditions, thread one
// or two streams of tokens, and use values without elements. Their arithmetic is exact (integers that wrap, floats
// that stay small integers and are never -0), so every compiler must return the same bits.
package randprog
