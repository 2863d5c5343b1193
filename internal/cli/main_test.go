package cli_test

import (
	"os"
	"slices"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/heap"
)

// TestMain runs the command if the test binary is a child process of the command. CHILD_STATUS_FILE names a file for
// the child's /proc/self/status at its end.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"plugin", "opt", "hooks"}, os.Args[1]) || os.Getenv("CHILD_STATUS_FILE") != "" || os.Getenv("HLOCB_TEST_COMMAND") != "" {
		heap.Tune() // as cmd/hlocb does
		code := cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		if file := os.Getenv("CHILD_STATUS_FILE"); file != "" {
			status, err := os.ReadFile("/proc/self/status")
			if err == nil {
				err = os.WriteFile(file, status, 0o666)
			}
			if err != nil {
				panic(err)
			}
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}
