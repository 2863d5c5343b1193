// Package pjrt runs programs on XLA's plugins. It is a thin binding of the PJRT C API, with the handler through which a
// compiled program's hooks reach Go.
//
// Open returns a runtime.Backend. Load, NewClient and the types below them are the binding itself, for tools that
// inspect plugins. The package needs cgo and a C compiler, but no headers and no library: abi.h declares the part of
// the two interfaces that hlocb uses. Without cgo the package has only Check.
//
// The package registers one C handler per process and target. The handler asks XLA for the run's number and crosses
// to Go once. Go finds the run in a table without locks and the hook in a hash table. It passes views of XLA's own
// memory in a Call, which it reuses. It allocates nothing and reads no clock.
//
// XLA logs every client and compilation to standard error. To silence it, set TF_CPP_MIN_LOG_LEVEL=2 before the process
// starts threads, as the hlocb command does; the package changes no environment variable.
package pjrt
