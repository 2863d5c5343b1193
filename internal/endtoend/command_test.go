package endtoend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/tensorio"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/tensor"
)

// TestCommandDeliversRecordedEvents runs JAX's programs with 'hlocb run' and compares the files of --events and
// --results with the events and results that JAX recorded. It runs their artifacts, too.
func TestCommandDeliversRecordedEvents(t *testing.T) {
	for _, backend := range []string{"interp", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			open(t, backend) // skips the test if the plugin is missing
			for _, file := range testkit.Glob(t, "events/*.json") {
				name := strings.TrimSuffix(filepath.Base(file), ".json")
				if name == "jax_pure_pair" {
					continue // its host computes; TestPurePairComputes runs it
				}
				var want recordedEvents
				if err := json.Unmarshal(readFile(t, file), &want); err != nil {
					t.Fatal(err)
				}
				for _, suffix := range []string{".mlir", ".hlo"} {
					t.Run(name+suffix, func(t *testing.T) { compareCommand(t, backend, strings.TrimSuffix(file, ".json")+suffix, &want) })
				}
				if backend == "cpu" && label.Less() {
					continue // the engine runs the artifacts
				}
				for _, route := range []artifact.Route{artifact.XLA, artifact.XLAMixed} {
					t.Run(name+".vhlo/"+route.String(), func(t *testing.T) {
						module := filepath.Join(t.TempDir(), name+".vhlo")
						var stderr bytes.Buffer
						args := []string{"translate", strings.TrimSuffix(file, ".json") + ".mlir", "--route", route.String(), "--output", module}
						if code := cli.Main(args, strings.NewReader(""), io.Discard, &stderr); code != 0 {
							t.Fatalf("exit code %d: %s", code, stderr.Bytes())
						}
						compareCommand(t, backend, module, &want)
					})
				}
				if dir := os.Getenv("HLOCB_BYTECODE"); dir != "" { // artifacts of jaxlib
					t.Run(name+".bc", func(t *testing.T) {
						list, err := filepath.Glob(filepath.Join(dir, "shared_corpus_events_"+name, "*", "1.17.0*.bc"))
						if err != nil || len(list) == 0 {
							t.Fatal("no artifact of jaxlib", err)
						}
						for _, module := range list {
							compareCommand(t, backend, module, &want)
						}
					})
				}
			}
		})
	}
}

// compareCommand runs module with the command on backend and compares its files with want.
func compareCommand(t *testing.T, backend, module string, want *recordedEvents) {
	dir := t.TempDir()
	events, results := filepath.Join(dir, "events.jsonl"), filepath.Join(dir, "results.json")
	args := []string{"run", module, "--backend", backend, "--on", "*=echo", "--events", events, "--results", results}
	for _, v := range want.args(t) {
		args = append(args, "--arg", fmt.Sprintf("dense<%s> : tensor<%s%s>", tensor.AppendDense(nil, v, -1), dims(v.Shape()), v.DType()))
	}
	var stderr bytes.Buffer
	if code := cli.Main(args, strings.NewReader(""), io.Discard, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.Bytes())
	}
	var got [][]json.RawMessage
	for line := range bytes.Lines(readFile(t, events)) {
		var e struct{ Operands []json.RawMessage }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		got = append(got, e.Operands)
	}
	if len(got) != len(want.Events) {
		t.Fatalf("%d events, expected %d", len(got), len(want.Events))
	}
	for i, e := range want.Events {
		compareJSON(t, fmt.Sprintf("event %d", i), got[i], e.Operands)
	}
	if want.Results != nil {
		var got []json.RawMessage
		if err := json.Unmarshal(readFile(t, results), &got); err != nil {
			t.Fatal(err)
		}
		compareJSON(t, "results", got, want.Results)
	}
}

// compareJSON compares tensors that the command wrote with recorded tensors.
func compareJSON(t *testing.T, what string, got []json.RawMessage, want []recorded) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, expected %d", what, len(got), len(want))
	}
	for i := range want {
		v, err := tensorio.FromJSON(got[i])
		if err != nil {
			t.Fatalf("%s, value %d: %v", what, i, err)
		}
		if w := want[i].tensor(t); !near(v, w) {
			t.Errorf("%s, value %d is %s, expected % x", what, i, got[i], w.Bytes())
		}
	}
}

func dims(shape tensor.Shape) string {
	s := ""
	for _, d := range shape {
		s += fmt.Sprint(d) + "x"
	}
	return s
}
