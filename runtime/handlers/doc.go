// Package handlers holds the handlers that come with hlocb, one file each, and Table, which names them for the
// command line. A program that embeds hlocb uses them by their Go constructors, or writes its own: a handler is
// anything that implements runtime.Handler.
//
// Some look on (print, record, stats, finite, count, sample): any number of them may be bound to a hook. The others
// answer: they write the hook's results, and exactly one of them is bound.
//
// What a module says never chooses a handler, a command or a path; and its names are escaped before they are
// written to where a person reads them.
package handlers
