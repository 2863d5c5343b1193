package parse

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
)

// TestQuick reads modules of all ops twice, with the quick way for common forms and without: as they are, so that the second
// reading of each op may use what the first left, and with a few bytes changed. Modules and messages are the same.
func TestQuick(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../testdata/ops/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	more, _ := filepath.Glob("../testdata/mlir/*.mlir")
	quickly := 0
	read := func(text string, general bool) string {
		out, n := readAs(text, reg, general)
		quickly += n
		return out
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	changes := []string{"", "", " ", ",", "(", "%", "[", "0", "#1", ": ", "{a = 1}", "loc(\"x\")", "// c\n", "-", "x", "tensor<f32>", ":", "()"}
	for _, name := range append(files, more...) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if twice := text + strings.ReplaceAll(strings.ReplaceAll(text, "\n#", "\n//"), "\n!", "\n//"); !strings.HasPrefix(read(twice, true), "in.mlir:") {
			text = twice
		}
		if len(text) > 100_000 {
			continue
		}
		compare := func(text string) {
			t.Helper()
			if got, want := read(text, false), read(text, true); got != want {
				t.Fatalf("%s: quickly:\n%s\nin general:\n%s\nof:\n%s", name, got, want, text)
			}
		}
		compare(text)
		for range 200 {
			at := rnd.IntN(len(text))
			compare(text[:at] + changes[rnd.IntN(len(changes))] + text[at+rnd.IntN(min(3, len(text)-at)):])
		}
	}
	if quickly < 5000 {
		t.Errorf("%d ops were read quickly", quickly)
	}
	t.Logf("%d ops were read quickly", quickly)
}

// readAs reads text with the quick way or without, and returns all that the module is, or the error. quickly counts the
// ops that were read quickly.
func readAs(text string, reg *ir.Registry, general bool) (out string, quickly int) {
	p := newParser(diag.NewSource("in.mlir", []byte(text)), ir.NewContext(), reg)
	p.maxErrors, p.general = 3, general
	m, err := p.parse()
	if err != nil {
		return err.Error(), 0
	}
	var pos strings.Builder
	m.Walk(func(o *ir.Op) bool { fmt.Fprint(&pos, o.Pos(), " "); return true })
	return pos.String() + string(print.Append(nil, m, print.Options{Generic: true, DebugInfo: true})), p.quickly
}

// FuzzQuick: what is read quickly is what is read in general.
func FuzzQuick(f *testing.F) {
	reg, err := all.Registry()
	if err != nil {
		f.Fatal(err)
	}
	files, err := filepath.Glob("../testdata/*/*.mlir")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err != nil {
			f.Fatal(err)
		} else if len(text) <= 4<<10 {
			f.Add(string(text))
			f.Add(string(text) + "\n" + string(text)) // what was read once is read quickly the second time
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _ := readAs(text, reg, false)
		if want, _ := readAs(text, reg, true); got != want {
			t.Fatalf("quickly:\n%s\nin general:\n%s", got, want)
		}
	})
}
