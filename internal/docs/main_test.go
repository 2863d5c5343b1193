package docs_test

import (
	"os"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
)

// TestMain runs the command instead of the tests if 'hlocb plugin check' started this binary as its child process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "plugin" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
