// Package runtime is the contract between programs, the backends that execute them and the handlers that
// answer their hooks: Backend, Executable, Bindings, Handler, Call. It is pure Go and knows none of its
// implementations; package runtime/backends chooses one.
package runtime
