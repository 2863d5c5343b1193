// Package testkit has the helpers that tests of several packages share: the modules in testdata, a parser for them, and
// StableHLO's test files. Only tests use it.
package testkit

import (
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// root returns the directory of the repository. Tests run in the directory of their package.
var root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "testdata", "transformer_grad.mlir")); err == nil { // go.mod marks modules inside, too
			rel, _ := filepath.Rel(dir, d)
			return rel
		}
		if d == filepath.Dir(d) {
			return "."
		}
	}
})

// Testdata returns the path of a file or directory below testdata.
func Testdata(elem ...string) string {
	return filepath.Join(append([]string{root(), "testdata"}, elem...)...)
}

// Glob returns the files below testdata that match the patterns. Each pattern must match a file.
func Glob(t testing.TB, patterns ...string) []string {
	t.Helper()
	var out []string
	for _, p := range patterns {
		files, err := filepath.Glob(Testdata(filepath.FromSlash(p)))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Fatalf("no file matches testdata/%s", p)
		}
		out = append(out, files...)
	}
	return out
}

// Texts returns the texts of the files that Glob returns, by their paths.
func Texts(t testing.TB, patterns ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range Glob(t, patterns...) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = string(text)
	}
	return out
}

// Source is a module's name and text.
type Source struct{ Name, Text string }

// Sources returns the modules of MLIR in testdata, those in golden cases too, in the order of their names.
func Sources(t testing.TB) []Source {
	t.Helper()
	var out []Source
	for _, path := range Glob(t, "hooks/*.mlir", "mlir/*.mlir", "ops/*.mlir", "order/*.mlir", "partitioned/*.mlir", "programs/*.mlir", "cli/*.txtar", "passes/*.txtar") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
		if filepath.Ext(path) == ".mlir" {
			out = append(out, Source{name, string(text)})
			continue
		}
		for _, f := range txtar.Parse(text).Files {
			if filepath.Ext(f.Name) == ".mlir" {
				out = append(out, Source{name + "/" + f.Name, string(f.Data)})
			}
		}
	}
	return out
}

// Valid yields the modules of sources that can be read and are valid.
func Valid(sources []Source) iter.Seq2[Source, *ir.Module] {
	return func(yield func(Source, *ir.Module) bool) {
		for _, s := range sources {
			if m, err := TryParse(s.Name, s.Text); err == nil && ir.Verify(m) == nil && !yield(s, m) {
				return
			}
		}
	}
}

// Registry returns all dialects, which the tests of a package share.
func Registry(t testing.TB) *ir.Registry {
	t.Helper()
	reg, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// registry returns all dialects. Making them takes longer than reading a small module.
var registry = sync.OnceValues(func() (*ir.Registry, error) { return all.Registry() })

// TryParse reads text with all dialects. Errors call the text name.
func TryParse[T string | []byte](name string, text T) (*ir.Module, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	return parse.Parse(diag.NewSource(name, []byte(text)), ir.NewContext(reg), parse.Options{})
}

// Parse reads text, which must be correct, with all dialects.
func Parse[T string | []byte](t testing.TB, name string, text T) *ir.Module {
	t.Helper()
	m, err := TryParse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ParseFile reads a file, which must be correct. Errors call it by its name without directory.
func ParseFile(t testing.TB, path string) *ir.Module {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(t, filepath.Base(path), text)
}

// Upstream returns the directory of a StableHLO source tree with its test files, or skips the test: the directory that
// HLOCB_UPSTREAM names, or the archive stablehlo.tar.xz in the directory that HLOCB_CORPUS names.
func Upstream(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("HLOCB_UPSTREAM"); dir != "" {
		return dir
	}
	dir := os.Getenv("HLOCB_CORPUS")
	if dir == "" {
		dir = filepath.Join(root(), "..", "shared", "corpus")
	}
	archive := filepath.Join(dir, "stablehlo.tar.xz")
	if _, err := os.Stat(archive); err != nil {
		t.Skip("skip: StableHLO's test files not found (HLOCB_UPSTREAM names their directory)")
	}
	unpacked := t.TempDir()
	if out, err := peer.Command("tar", "-xJf", archive, "-C", unpacked).CombinedOutput(); err != nil {
		t.Skipf("skip: StableHLO's test files cannot be unpacked: %v: %s", err, out)
	}
	return unpacked
}
