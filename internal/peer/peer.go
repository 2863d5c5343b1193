// Package peer finds and runs the Python that tests compare with: jaxlib, ml_dtypes and numpy. Only tests and
// benchmarks use it. Without such a Python, tests are skipped with the reason.
package peer

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// Interpreter is a Python that imports jaxlib.
type Interpreter struct{ path string }

var find = sync.OnceValue(func() string {
	var tries []string
	if p := os.Getenv("HLOCB_PYTHON"); p != "" {
		tries = []string{p}
	} else {
		if dir, err := os.UserCacheDir(); err == nil {
			tries = append(tries, filepath.Join(dir, "hlocb", "venv", "bin", "python"))
		}
		tries = append(tries, "python3")
	}
	for _, p := range tries {
		if exec.Command(p, "-c", "import jaxlib, ml_dtypes, numpy").Run() == nil {
			return p
		}
	}
	return ""
})

// Find returns the path of a Python that imports jaxlib, empty if there is none.
func Find() string { return find() }

// Python returns the interpreter, or skips the test if there is none: the one that the environment variable
// HLOCB_PYTHON names, or the virtual environment in hlocb's cache directory, or python3.
func Python(t testing.TB) *Interpreter {
	t.Helper()
	if p := find(); p != "" {
		return &Interpreter{p}
	}
	t.Skip("skip: jaxlib not installed")
	return nil
}

// Run runs a script with stdin and arguments and returns its standard output. A failure fails the test.
func (p *Interpreter) Run(t testing.TB, script string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(p.path, append([]string{"-c", script}, args...)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", p.path, err, stderr.Bytes())
	}
	return out
}

// Asm is what MLIR prints for a text in several forms, or its error.
type Asm struct{ Pretty, Generic, Debug, Local, Elided, Error string }

// mlirScript reads {name: text} as JSON and writes {name: Asm}.
const mlirScript = `
import json, sys
from jaxlib.mlir import ir
from jax._src.interpreters import mlir as jm
ctx = jm.make_ir_context()
ctx.allow_unregistered_dialects = sys.argv[1] == "true"
out = {}
with ctx:
    for name, text in json.load(sys.stdin).items():
        try:
            op = ir.Module.parse(text).operation
            out[name] = {"Pretty": op.get_asm(), "Generic": op.get_asm(print_generic_op_form=True),
                         "Debug": op.get_asm(enable_debug_info=True),
                         "Local": op.get_asm(enable_debug_info=True, use_local_scope=True),
                         "Elided": op.get_asm(large_elements_limit=4)}
        except Exception as e:
            out[name] = {"Error": str(e)}
json.dump(out, sys.stdout)
`

// MLIR has jaxlib parse and verify the texts, given by name, and returns what it prints. unregistered allows ops of
// unknown dialects. Without jaxlib the test is skipped.
func MLIR(t testing.TB, texts map[string]string, unregistered bool) map[string]Asm {
	t.Helper()
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]Asm
	if err := json.Unmarshal(Python(t).Run(t, mlirScript, in, strconv.FormatBool(unregistered)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
