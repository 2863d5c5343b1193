// Package plugin holds a handler in C for hlocb's plugin, and the test that compiles and runs it.
package plugin

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/peer"
)

func TestHandler(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("skip: no C compiler")
	}
	library := filepath.Join(t.TempDir(), "libclip.so")
	if out, err := peer.Command(cc, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, filepath.Join("clip", "clip.c")).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	for _, backend := range []string{"interp", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			var out, errs bytes.Buffer
			args := []string{"run", "clip.mlir", "--backend", backend, "--hook-target", "host", "--on", "clip=plugin:" + library,
				"--arg", "dense<[[-9.0, -2.5, -1.0], [0.0, 2.0, 3.0]]> : tensor<2x3xf32>"}
			code := cli.Main(args, strings.NewReader(""), &out, &errs)
			switch text := errs.String(); {
			case strings.Contains(text, "no PJRT plugin"), strings.Contains(text, "need cgo"), strings.Contains(text, "needs cgo"):
				t.Skip("skip: " + text)
			case code != 0:
				t.Fatalf("exit code %d: %s", code, text)
			}
			if want := "dense<[[-2.500000e+00, -2.500000e+00, -1.000000e+00], [0.000000e+00, 2.000000e+00, 2.500000e+00]]> : tensor<2x3xf32>\n"; out.String() != want {
				t.Errorf("printed %q, want %q", out.String(), want)
			}
		})
	}
}
