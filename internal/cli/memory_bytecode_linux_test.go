//go:build !race

package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/hlocb/hlocb/artifact"
	"github.com/hlocb/hlocb/bytecode"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/reader"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// TestBytecodeMemory reads and writes large files of bytecode of many kinds. A process takes at most 64 MB and 200
// times the file.
func TestBytecodeMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("skip: a process for each of many large files")
	}
	size, every := 300_000, 4
	if os.Getenv("HLOCB_LONG") != "" {
		size, every = 5_000_000, 1
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	registry, err := reader.Registry()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, status := filepath.Join(dir, "in.bc"), filepath.Join(dir, "status")
	forms := [][]string{{"--to", "mlir"}, {"--to", "generic"}, {"--to", "bytecode"}, {"--to", "vhlo", "--target", "current"}, {"--keep-vhlo", "--to", "mlir"}}
	for i, c := range largeTexts(size) {
		if i%every != 0 {
			continue
		}
		m, err := parse.Parse(diag.NewSource("m.mlir", []byte(c.text)), ir.NewContext(), registry, parse.Options{})
		if err != nil {
			continue
		}
		files := map[string][]byte{}
		if data, err := bytecode.Append(nil, m, bytecode.Options{}); err == nil {
			files["bytecode"] = data
		}
		if data, _, err := artifact.Append(nil, m, artifact.Options{Target: vhlo.Current, KeepOthers: true}); err == nil {
			files["artifact"] = data
		}
		for kind, data := range files {
			if err := os.WriteFile(file, data, 0o666); err != nil {
				t.Fatal(err)
			}
			form := forms[i/every%len(forms)]
			t.Run(c.name+"/"+kind+"/"+form[1], func(t *testing.T) {
				cmd := exec.Command(self, append([]string{"translate", file, "--output", os.DevNull}, form...)...)
				cmd.Env = append(os.Environ(), "CHILD_STATUS_FILE="+status)
				var errs bytes.Buffer
				cmd.Stderr = &errs
				stop := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
				err := cmd.Run()
				stop.Stop()
				if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 || cmd.ProcessState.ExitCode() < 0 {
					t.Fatalf("%v: %.300s", err, errs.String())
				}
				peak := peakMemory(t, status)
				t.Logf("%d bytes: %.1f times and 64 MB", len(data), float64(peak-64<<20)/float64(len(data)))
				if limit := 200*int64(len(data)) + 64<<20; peak > limit {
					t.Errorf("%d bytes of bytecode take %d bytes of memory, more than %d", len(data), peak, limit)
				}
			})
		}
	}
}
