package conformance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// jaxlib returns MLIR's print of the texts, in the form of all versions of jaxlib.
func jaxlib(t testing.TB, python *peer.Interpreter, texts map[string]string) map[string]peer.Asm {
	t.Helper()
	out := python.MLIR(t, texts, true)
	if python.Differs("generic form of sdy.all_reduce") != "" {
		for name, a := range out {
			a.Generic = strings.ReplaceAll(a.Generic, ", reduction_op = 0 : i32", "")
			out[name] = a
		}
	}
	return out
}

// read parses text under MLIR's name for strings.
func read(t testing.TB, reg *ir.Registry, text string) (*ir.Module, error) {
	t.Helper()
	return parse.Parse(diag.NewSource("-", []byte(text)), ir.NewContext(reg), parse.Options{})
}

// same fails with the first differing lines.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			t.Errorf("%s: line %d is\n  %s\nwant\n  %s", what, i+1, line(g, i), line(w, i))
			return
		}
	}
	t.Errorf("%s: %d lines, want %d", what, len(g), len(w))
}

func line(lines []string, i int) string {
	if i >= len(lines) {
		return "<end>"
	}
	if len(lines[i]) > 2000 {
		return lines[i][:2000]
	}
	return lines[i]
}

// forms are the three texts that are compared.
var forms = []struct {
	name    string
	options print.Options
	of      func(peer.Asm) string
}{
	{"pretty", print.Options{}, func(a peer.Asm) string { return a.Pretty }},
	{"generic", print.Options{Generic: true}, func(a peer.Asm) string { return a.Generic }},
	{"debug", print.Options{DebugInfo: true}, func(a peer.Asm) string { return a.Debug }},
	{"local", print.Options{DebugInfo: true, LocalScope: true}, func(a peer.Asm) string { return a.Local + "\n" }}, // the peer's text has no line break at the end
	{"elided", print.Options{ElideLarger: 4}, func(a peer.Asm) string { return a.Elided }},
}

// TestPrintsAsMLIR compares the three texts of every module with jaxlib's, byte for byte, and reads each text again to
// the same text.
func TestPrintsAsMLIR(t *testing.T) {
	peer.Each(t, label.Part, checkPrintsAsMLIR)
}

func checkPrintsAsMLIR(t *testing.T, python *peer.Interpreter) {
	compareWithJaxlib(t, python, testkit.Texts(t, "hooks/*.mlir", "events/*.mlir", "order/*.mlir", "transformer_grad*.mlir",
		"../internal/conformance/testdata/*.mlir"))
}

func compareWithJaxlib(t *testing.T, python *peer.Interpreter, texts map[string]string) {
	reg := testkit.Registry(t)
	refused := 0
	for name, want := range jaxlib(t, python, texts) {
		if want.Error != "" {
			refused++
			t.Logf("%s: jaxlib does not read it: %s", name, want.Error)
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			m, err := read(t, reg, texts[name])
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range forms {
				same(t, f.name, print.String(m, f.options), f.of(want))
			}
			for _, f := range forms {
				again, err := read(t, reg, f.of(want))
				if err != nil {
					t.Errorf("%s text read again: %v", f.name, err)
					continue
				}
				same(t, f.name+" read again", print.String(again, f.options), f.of(want))
			}
		})
	}
	t.Logf("%d modules, %d of them not read by jaxlib", len(texts), refused)
}
