// Package goxla delivers hlocb's hooks to programs that github.com/gomlx/go-xla compiles and executes.
//
// A program must be in hlocb's own form, as 'hlocb rewrite' and the passes write it. Attach registers hlocb's handler
// with the plugin of a go-xla client and binds the hooks. go-xla's executions then call the handlers.
//
// go-xla sets no launch id on its executions, so two executions of one program cannot be distinguished: all events of
// an attachment have run 0 and one sequence per device, and a process can attach a program once at a time. For
// overlapping runs, timeouts and cancellation use package runtime/pjrt. A handler that executes programs must use
// another client than the program that called it.
//
// The package needs cgo; without it the package is empty.
package goxla
