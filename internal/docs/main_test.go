package docs_test

import (
	"os"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
)

// TestMain makes the test binary the command if 'hlocb plugin check' starts itself as a child process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "plugin" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
