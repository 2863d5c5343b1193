// Package randprog makes random programs with hooks for tests: a program is a tree that is written as StableHLO in the
// notation of any producer of hooks, and evaluated here by its reference semantics, without any of the code under
// test. A seed gives the same program on every machine.
//
// Programs nest loops, branches and calls of functions, call functions twice, put hooks into conditions of loops,
// thread one or two streams of tokens, and use values without elements. Their arithmetic is exact (integers that
// wrap, floats that stay small integers and are never -0), so every compiler must give the same bits.
package randprog
