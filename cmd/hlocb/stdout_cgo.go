//go:build cgo && unix

package main

// #include <fcntl.h>
// #include <stdbool.h>
// #include <unistd.h>
//
// static bool stdout_closed;
//
// __attribute__((constructor)) static void look(void) { stdout_closed = fcntl(STDOUT_FILENO, F_GETFD) == -1; }
//
// static bool hl_stdout_closed(void) { return stdout_closed; }
import "C"

// stdoutClosed reports whether the process was started without standard output. Only C can see that: Go's runtime opens
// the null device in its place before any Go code runs, and output would be lost without an error.
func stdoutClosed() bool { return bool(C.hl_stdout_closed()) }
