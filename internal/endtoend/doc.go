// Package endtoend holds the tests of what no package can test alone: programs are rewritten, executed on the embedded
// engine and on XLA, and what their hooks deliver is compared with what the source means. The programs are random ones
// (package randprog, which evaluates them by itself), modules whose order XLA is known to change, what real systems
// recorded, and modules on several devices.
//
// One harness serves them all: open gives a backend, rewrite a program that it can compile, a recorder keeps what the
// hooks deliver.
package endtoend
