// Package handlers holds hlocb's own handlers, one file each, and Table, which lists them for the command line. A
// program that embeds hlocb uses them by their Go constructors, or writes its own: a handler is anything that
// implements runtime.Handler.
//
// The observers are print, record, npz, stats, finite, count and sample; a hook may have any number of them. The other
// handlers are responders, which write the hook's results; a hook has one.
//
// A module never chooses a handler, a command or a path. Printed output has the module's names escaped.
package handlers
