package realprograms

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/launch"
	"github.com/hlocb/hlocb/internal/peer"
)

// TestThroughJAX: the programs run through JAX on the engine, in place of JAX's own CPU client. Results and callbacks
// are those of JAX's client.
func TestThroughJAX(t *testing.T) {
	python, programs := os.Getenv("HLOCB_REAL_PYTHON"), directory(t)
	if python == "" {
		t.Skip("skip: no Python with JAX's libraries ('make test-real' makes one)")
	}
	dir := t.TempDir()
	if err := launch.Build(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(dir, "hlocb")
	if out, err := peer.Command("go", "build", "-o", tool, "../../cmd/hlocb").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := peer.Command(tool, "exec", "--backend", "engine", "--", python, "programs.py", "--check", programs)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, messages.String())
	}
	programsRun := 0
	for line := range strings.Lines(string(out)) {
		name, outcome, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue // a program prints, too
		}
		programsRun++
		t.Run(name, func(t *testing.T) {
			if outcome != "ok" {
				t.Error(outcome)
			}
		})
	}
	if programsRun < 40 {
		t.Errorf("%d programs, expected at least 40", programsRun)
	}
}
