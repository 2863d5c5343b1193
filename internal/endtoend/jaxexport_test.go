package endtoend

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/cli"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

//go:embed testdata/jax_exports.py
var exportsScript string

// TestExports runs files of jax.export with 'hlocb run' and compares the results with JAX's. It also reads, prints and
// writes each file again to the same bytes.
func TestExports(t *testing.T) {
	label.Once(t)
	peer.Each(t, label.Part, checkExports)
}

func checkExports(t *testing.T, python *peer.Interpreter) {
	lines := bufio.NewScanner(bytes.NewReader(python.Run(t, exportsScript, nil)))
	lines.Buffer(nil, 64<<20)
	dir := t.TempDir()
	command := func(t *testing.T, want int, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := cli.Main(args, strings.NewReader(""), &stdout, &stderr); code != want {
			t.Fatalf("%q: exit code %d, want %d: %s", args, code, want, stderr.Bytes())
		}
		return stdout.String() + stderr.String()
	}
	programs := 0
	for lines.Scan() {
		var p struct {
			recordedEvents
			Name, File, Missing string
		}
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatalf("%v: %.200s", err, lines.Text())
		}
		if p.Missing != "" {
			t.Skipf("skip: Python lacks %s, which jax.export needs", p.Missing)
		}
		programs++
		data, err := hex.DecodeString(p.File)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, p.Name+".jaxexport")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Run(p.Name+"/again", func(t *testing.T) {
			again := filepath.Join(t.TempDir(), "again.jaxexport")
			command(t, 0, "translate", path, "--output", again)
			if !bytes.Equal(readFile(t, again), data) {
				t.Error("written again, the file differs")
			}
			if text := command(t, 0, "translate", path, "--to", "mlir"); !strings.Contains(text, "func.func public @main") {
				t.Errorf("no main in\n%s", text)
			}
			if info := command(t, 0, "info", path); !strings.Contains(info, "form: file of jax.export\n") || !strings.Contains(info, "platforms: cpu") {
				t.Errorf("info shows\n%s", info)
			}
		})
		for _, backend := range []string{"interp", "cpu"} {
			t.Run(p.Name+"/"+backend, func(t *testing.T) {
				open(t, backend)
				if p.Args == nil {
					if text := command(t, 2, "run", path, "--backend", backend, "--fill", "zeros"); !strings.Contains(text, "has a dynamic shape: use --arg") {
						t.Errorf("the error is %s", text)
					}
					return
				}
				compareCommand(t, backend, path, &p.recordedEvents)
			})
		}
	}
	if err := lines.Err(); err != nil || programs < 10 {
		t.Fatalf("%d programs (%v)", programs, err)
	}
	var stderr bytes.Buffer
	if code := cli.Main([]string{"translate", "../../testdata/bytecode/tan.mlir", "--to", "export"}, strings.NewReader(""), io.Discard, &stderr); code != 1 ||
		!strings.Contains(stderr.String(), "only a file of jax.export can be written as a file of jax.export") {
		t.Errorf("a module as jax.export: exit code %d, %s", code, stderr.Bytes())
	}
}
