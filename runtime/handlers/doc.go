// Package handlers holds hlocb's own handlers, one file each, and Table, which lists them for the command line. A
// program that embeds hlocb uses them by their Go constructors, or writes its own: a handler is anything that
// implements runtime.Handler.
//
// An observer sees the events of a hook, which may have any number of them. A responder writes the hook's results; a
// hook has one. Table says which of the two a handler is.
//
// A module never chooses a handler, a command or a path. Printed output has the module's names escaped.
package handlers
