package cli_test

import (
	"os"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/heap"
)

// TestMain makes the test binary the command where the command starts itself as a child process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "plugin" || os.Args[1] == "opt") {
		heap.Tune() // as cmd/hlocb does
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
