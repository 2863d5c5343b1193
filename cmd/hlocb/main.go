// Command hlocb converts the host callbacks of HLO and StableHLO modules into one form, runs the modules on the
// embedded engine or a PJRT plugin, and delivers the callbacks to handlers.
package main

import (
	"os"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/heap"
)

func main() {
	if os.Getenv("GOGC") == "" {
		heap.Tune()
	}
	if _, set := os.LookupEnv("TF_CPP_MIN_LOG_LEVEL"); !set {
		// XLA reads it when a plugin is loaded. Without it XLA logs every client and compilation to standard error.
		os.Setenv("TF_CPP_MIN_LOG_LEVEL", "2")
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
