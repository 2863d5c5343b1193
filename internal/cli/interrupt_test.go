package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/cli"
)

// TestInterrupt: Ctrl-C during a handler ends the run soon, and all that was recorded before is on disk.
func TestInterrupt(t *testing.T) {
	for _, backend := range []string{"interp", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			if backend == "cpu" {
				if why := missingPlugin(); why != "" {
					t.Skip("skip: " + why)
				}
			}
			events := filepath.Join(t.TempDir(), "events.jsonl")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			time.AfterFunc(2*time.Second, cancel)
			var out, errs bytes.Buffer
			start := time.Now()
			code := cli.Run(ctx, []string{"run", "../../testdata/mlir/train_step.mlir", "--fill", "iota", "--backend", backend,
				"--events", events, "--inject", "loss=delay=30s@2"}, strings.NewReader(""), &out, &errs)
			if code != 130 {
				t.Errorf("exit code is %d, want 130: %s", code, errs.String())
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("the run ended after %s", took)
			}
			text, err := os.ReadFile(events)
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(text, []byte("\n")); n != 5 {
				t.Errorf("%d events on disk, want the 4 before the one that was interrupted and its own:\n%s", n, text)
			}
		})
	}
}
