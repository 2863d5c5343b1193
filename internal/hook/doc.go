// Package hooks is what hlocb knows of hooks, the places where a compiled program talks to its host.
//
// Raise turns every input format (a from_*.go file each, listed in Formats) into hlocb.hook ops. DropTokens
// takes tokens and tuples out of the module, ThreadChain puts one chain through all hooks in program order,
// Alias decides which results share their operand's memory, and Lower writes hlocb's own call. CheckOrder
// proves on a lowered module that every pair of hooks that must be ordered is connected by data flow, and
// ManifestOf lists the hooks of a raised or lowered module for runtimes and users.
//
// The package knows nothing of runtimes and command lines; package passes holds the passes over it.
package hooks
