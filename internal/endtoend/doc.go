// Package endtoend tests what no package can test alone: that rewritten programs deliver, on the embedded engine
// and on XLA, the events that their sources mean. It holds a generator of random programs with hooks in nested
// control flow and an interpreter of its own for them, which knows nothing of the IR.
package endtoend
