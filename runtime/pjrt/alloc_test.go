//go:build cgo

package pjrt

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
)

// TestAllocationsAreChecked lets gcc's analyzer search the C files for uses of memory that was not allocated, and for
// arrays whose length is not constant. Each planted mistake must be found, so the test fails if the analyzer is blind.
func TestAllocationsAreChecked(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	if out, err := peer.Command("gcc", "-fanalyzer", "-fsyntax-only", "-x", "c", os.DevNull).CombinedOutput(); err != nil {
		t.Skipf("skip: gcc with -fanalyzer is missing: %s", out)
	}
	dir := t.TempDir()
	all, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"tool", "cgo", "-objdir", dir}
	for _, name := range all {
		if text, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		} else if bytes.Contains(text, []byte("\nimport \"C\"")) && !strings.HasSuffix(name, "_test.go") {
			args = append(args, name)
		}
	}
	if out, err := peer.Command("go", args...).CombinedOutput(); err != nil { // writes _cgo_export.h
		t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, out)
	}
	analyze := func(path string) (string, error) {
		out, err := peer.Command("gcc", "-std=gnu11", "-O1", "-fanalyzer", "-Werror=vla", "-Werror=analyzer-possible-null-dereference",
			"-Werror=analyzer-possible-null-argument", "-I.", "-I../../internal/ffi", "-I"+dir, "-c", path, "-o", os.DevNull).CombinedOutput()
		return string(out), err
	}
	sources, err := filepath.Glob("*.c")
	if err != nil || len(sources) == 0 {
		t.Fatal("no C files", err)
	}
	const ffi = "../../internal/ffi/ffi.c"
	sources = append(sources, ffi, "../../internal/cuda/cuda.c")
	for _, path := range sources {
		if out, err := analyze(path); err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
	for _, planted := range []struct{ file, old, new, want string }{
		{ffi, "if (!e) return &no_memory;", "", "analyzer-possible-null-dereference"},
		{ffi, "int32_t *kinds = calloc(n + 1, sizeof *kinds);", "int32_t kinds[n + 1];", "vla"},
	} {
		text, err := os.ReadFile(planted.file)
		if err != nil {
			t.Fatal(err)
		}
		broken := strings.Replace(string(text), planted.old, planted.new, 1)
		if broken == string(text) {
			t.Fatalf("%s has no %q", planted.file, planted.old)
		}
		path := filepath.Join(dir, "planted.c")
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := analyze(path); err == nil || !strings.Contains(out, planted.want) {
			t.Errorf("%s without %q is accepted: %v\n%s", planted.file, planted.old, err, out)
		}
	}
}
