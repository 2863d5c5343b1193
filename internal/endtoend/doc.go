// Package endtoend tests the whole. The tests rewrite programs, run them on the embedded engine and on XLA, and
// compare the events of their hooks with the meaning of the source. The programs are random (package randprog
// evaluates them on its own), or known to be reordered by XLA, or written by JAX with the events that JAX delivered,
// or partitioned.
//
// All tests share one harness: open returns a backend, rewrite a program for it, and a recorder keeps the events.
package endtoend
