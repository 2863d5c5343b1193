package transforms_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
)

// compileScript compiles the modules whose files stdin names with XLA for the CPU, and writes the compiled programs.
const compileScript = `
import sys
from jax.extend.backend import get_backend
from jaxlib import _hlo, _jax
b = get_backend("cpu")
options = _hlo.HloPrintOptions()
options.print_metadata = False
for line in sys.stdin:
    path = line.strip()
    m = b.compile_and_load(open(path).read(), b.devices()[:1], _jax.CompileOptions()).hlo_modules()[0]
    open(path + ".hlo", "w").write(m.to_string(options))
`

// numbers matches the numbers that make names unique.
var numbers = regexp.MustCompile(`(%[\w-]+(?:\.[\w-]*[a-z_][\w-]*)*)\.[\d.]+`)

// compiledText returns the text of a compiled program, without the numbers of names.
func compiledText(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path + ".hlo")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n\n"))
	return strings.Split(string(numbers.ReplaceAll(text, []byte("$1"))), "\n")
}

// TestCompiledAlike compiles programs with XLA, unchanged and after canonicalize, cse and dce. XLA compiles both to the
// same program, so the passes make no program slower. One exception becomes smaller: its loop carries a value twice
// before the passes and once after them.
func TestCompiledAlike(t *testing.T) {
	peer.EachPart(t, label.Part, func(t *testing.T, p *peer.Interpreter, part func(first bool) bool) {
		wanted := func(i int) bool { return part(i%8 == 0) }
		if p.Version() != peer.MainVersion {
			wanted = func(i int) bool { return i%4 == 0 }
		}
		checkCompiledAlike(t, p, wanted)
	})
}

func checkCompiledAlike(t *testing.T, python *peer.Interpreter, wanted func(i int) bool) {
	files, err := filepath.Glob("../../testdata/programs/*.mlir")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d programs, %v", len(files), err)
	}
	var part []string
	for i, f := range files {
		if wanted(i) {
			part = append(part, f)
		}
	}
	files = part
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	pipeline, err := pass.Parse("canonicalize,cse,dce", passes.Builtin(passes.Host{Evaluator: interp.NewEvaluator(1 << 30)}))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var input strings.Builder
	changed := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m, err := parse.Parse(diag.NewSource(f, text), ir.NewContext(reg), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := print.String(m, print.Options{})
		if err := (&pass.Driver{Verify: ir.VerifyContext}).Run(pass.NewContext(t.Context(), m), pipeline); err != nil {
			t.Fatal(err)
		}
		after := print.String(m, print.Options{})
		if after != before {
			changed++
		}
		for name, text := range map[string]string{"before.": before, "after.": after} {
			path := filepath.Join(dir, name+filepath.Base(f))
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			input.WriteString(path + "\n")
		}
	}
	if changed < len(files)/2 {
		t.Errorf("the passes changed %d of %d programs", changed, len(files))
	}
	python.Run(t, compileScript, []byte(input.String()))
	for _, f := range files {
		name := filepath.Base(f)
		before, after := compiledText(t, filepath.Join(dir, "before."+name)), compiledText(t, filepath.Join(dir, "after."+name))
		switch diff := cmp.Diff(before, after); {
		case len(before) < 10:
			t.Errorf("%s: XLA made %d lines of it", name, len(before))
		case name == "nuts_step.mlir" && len(after) < len(before):
		case diff != "":
			t.Errorf("%s: XLA compiles another program after the passes (-before +after):\n%s", name, diff)
		}
	}
}
