// Package endtoend tests hlocb as a whole. The tests rewrite programs, run them on the embedded engine and on XLA,
// and compare the events of their hooks with the meaning of the source. Some programs are random (package randprog
// evaluates them independently), some are known to be reordered by XLA, some are written by JAX with the events that
// JAX delivered, and some are partitioned.
//
// All tests share one harness: open returns a backend, rewrite a program for it, and a recorder keeps the events.
package endtoend
