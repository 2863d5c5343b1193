// Package exec holds a handler in Python for hlocb's exec protocol, and the test that runs it. rnn.py (Equinox) and
// transformer.py (flax) are programs to look into with 'hlocb exec': see docs/interposer.md.
package exec

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
)

func TestHandler(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("skip: no python3")
	}
	var out, errs bytes.Buffer
	args := []string{"run", "softmax.mlir", "--backend", "interp", "--hook-target", "host", "--on", "softmax=exec:python3 handler.py",
		"--arg", "dense<[0.0, 0.0, 0.0, 0.0]> : tensor<4xf32>"}
	if code := cli.Main(args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if want := "dense<2.500000e-01> : tensor<4xf32>\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}
