// Package runtime is the contract between programs, the backends that execute them and the handlers of their hooks:
// Backend, Executable, Bindings, Handler, Call. It is pure Go and imports no backend. Package runtime/backends chooses
// a backend.
package runtime
