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

// TestInterruptWithoutHooks: Ctrl-C in a device loop that calls no hook. The engine stops; the plugin cannot be
// stopped, so the command ends while the plugin still runs.
func TestInterruptWithoutHooks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loop.mlir")
	if err := os.WriteFile(file, []byte(`func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %n = stablehlo.constant dense<900000000> : tensor<i64>
  %w:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i64>, tensor<f32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i64>
    %z = stablehlo.cosine %y : tensor<f32>
    stablehlo.return %j, %z : tensor<i64>, tensor<f32>
  }
  return %w#1 : tensor<f32>
}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, backend := range []string{"engine", "cpu"} {
		if backend == "cpu" {
			if why := missingPlugin(); why != "" {
				t.Log("skip: " + why)
				continue
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		time.AfterFunc(time.Second, cancel)
		var out, errs bytes.Buffer
		start := time.Now()
		code := cli.Run(ctx, []string{"run", file, "--fill", "zeros", "--backend", backend}, strings.NewReader(""), &out, &errs)
		if took := time.Since(start); code != 130 || took > 6*time.Second {
			t.Errorf("%s: exit code is %d after %s, want 130: %s", backend, code, took, errs.String())
		}
	}
}
