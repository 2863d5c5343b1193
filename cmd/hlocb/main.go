// Command hlocb runs StableHLO modules with your own callbacks, on the embedded engine or a PJRT plugin, and rewrites
// their hooks.
package main

import (
	"os"
	"runtime/debug"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/heap"
)

func main() {
	// A plugin that aborts or writes to a wrong address then ends the process with its signal, exit code 134 or 139,
	// and not with Go's 2, which means a wrong command line.
	debug.SetTraceback("crash")
	if os.Getenv("GOGC") == "" {
		heap.Tune()
	}
	if stdoutClosed() {
		os.Stdout.Close() // so that writing to it fails
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
