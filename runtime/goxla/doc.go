// Package goxla delivers hlocb's hooks to programs that github.com/gomlx/go-xla compiles and executes.
//
// A program must be in hlocb's own form, as 'hlocb rewrite' or the passes write it. Attach registers hlocb's
// handler with the plugin of a go-xla client and binds the hooks; go-xla's executions then call the handlers.
//
// What this cannot do, because go-xla gives its executions no launch id: tell two executions of one program
// apart. All events of an attachment have run 0 and one sequence per device, and a program can be attached
// once at a time in a process. Who needs overlapping runs, timeouts or cancellation executes through package
// runtime/pjrt instead. Handlers that execute programs themselves must use another client than the one whose
// program called them.
//
// Without cgo the package is empty.
package goxla
