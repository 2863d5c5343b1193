// Command hlocb converts the host callbacks of HLO and StableHLO modules into one form, runs the modules on the
// embedded engine or a PJRT plugin, and delivers the callbacks to handlers.
package main

import (
	"os"
	"runtime/debug"

	"github.com/hlocb/hlocb/internal/cli"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a module is built once and thrown away at exit: collect less often
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
