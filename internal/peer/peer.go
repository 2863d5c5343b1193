// Package peer finds and runs the Python that tests compare with: jaxlib, ml_dtypes and numpy. It is used by
// tests only; without such a Python they are skipped with the reason.
package peer

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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

// Find returns the path of a Python that imports jaxlib, empty where there is none.
func Find() string { return find() }

// Python returns the interpreter, or skips the test where there is none. The environment variable HLOCB_PYTHON
// names one; else the virtual environment in the user's cache and python3 are tried.
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
