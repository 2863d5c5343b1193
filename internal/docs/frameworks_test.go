package docs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
)

// walked marks the blocks that TestFrameworks runs.
const walked = notRun + "make test-frameworks runs it -->"

// TestFrameworks walks the pages of PyTorch and GoMLX: it installs the packages that they name, and compares what their
// commands print. 'make test-frameworks' prepares an environment.
func TestFrameworks(t *testing.T) {
	if os.Getenv("HLOCB_FRAMEWORKS") == "" {
		t.Skip("skip: no packages of frameworks ('make test-frameworks' installs them)")
	}
	for _, page := range []string{"start-pytorch.md", "start-gomlx.md"} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../docs", page))
			if err != nil {
				t.Fatal(err)
			}
			dir, ran := t.TempDir(), 0
			writeScripts(t, text, dir)
			for _, b := range consoles(page, text) {
				if b.mark != walked {
					continue
				}
				for _, c := range b.commands(t) {
					ran++
					t.Logf("%s:%d: %s", page, c.line, c.text)
					shell := peer.Command("bash", "-c", c.text)
					shell.Dir = dir
					out, err := shell.CombinedOutput()
					if err != nil {
						t.Fatalf("%s:%d: %s: %v\n%s", page, c.line, c.text, err, out)
					}
					b.compare(t, c, string(out))
				}
			}
			if ran == 0 {
				t.Error("no command")
			}
		})
	}
}
