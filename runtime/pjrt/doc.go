// Package pjrt runs programs on XLA's plugins: a thin binding of the PJRT C API, and the handler through which
// a compiled program's hooks reach Go.
//
// Open gives a runtime.Backend; Load, NewClient and the types below it are the binding itself, for tools that
// inspect plugins. The package needs cgo and a C compiler, no headers and no library of anybody else's: abi.h
// declares the part of the two interfaces that is used. Without cgo there is Check alone.
//
// What makes the calls of hooks cheap: one C handler is registered per process and target. It asks XLA for the
// run's number, crosses to Go once, finds the run in a table without locks and the hook in a hash table,
// and hands the handler views of XLA's own memory in a Call that is used again. Nothing is allocated and no
// clock is read.
package pjrt
