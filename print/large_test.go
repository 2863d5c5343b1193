package print_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/print"
)

// TestSharedPieces: one op with a text of many megabytes, because its attributes and types share parts, is written in
// short pieces. Printing ends at the first piece that cannot be written.
func TestSharedPieces(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	aliases := "#s = \"" + strings.Repeat("x", 1<<16) + "\"\n!t = !a.b<" + strings.Repeat("x", 1<<16) + ">\n"
	list := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+", ", n), ", ") }
	for _, c := range []struct {
		name, text string // $ stands for a list
		part       string // of the list
	}{
		{"array", "\"foo.a\"() {v = [$]} : () -> ()", "#s"},
		{"array of arrays", "\"foo.a\"() {v = [$]} : () -> ()", "[#s]"},
		{"array of dictionaries", "\"foo.a\"() {v = [$]} : () -> ()", "{a = #s, b}"},
		{"results", "\"foo.a\"() : () -> ($)", "!t"},
		{"tuple", "\"foo.a\"() : () -> tuple<$>", "!t"},
		{"function", "\"foo.a\"() {v = () -> ($)} : () -> ()", "!t"},
		{"arguments", "func.func private @f($)", "!t"},
	} {
		for _, o := range []print.Options{{}, {DebugInfo: true}, {Generic: true, LocalScope: true}} {
			read := func(n int) *ir.Module {
				text := aliases + strings.ReplaceAll(c.text, "$", list(c.part, n)) + "\n\"foo.map\"() {m = affine_map<() -> ()>} : () -> ()\n"
				m, err := parse.Parse(diag.NewSource("m.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				return m
			}
			var pieces longest
			m := read(200)
			if err := print.Print(&pieces, m, o); err != nil {
				t.Fatal(err)
			}
			if want := print.String(m, o); pieces.String() != want || pieces.longest > 3<<20 {
				t.Errorf("%s, %+v: %d bytes in pieces of at most %d bytes, want %d bytes", c.name, o, pieces.Len(), pieces.longest, len(want))
			}
			stop := &stopped{after: 20}
			if err := print.Print(stop, m, o); err == nil || stop.calls > 21 {
				t.Errorf("%s, %+v: %v after %d pieces", c.name, o, err, stop.calls)
			}
		}
	}
}

// longest keeps what it gets.
type longest struct {
	strings.Builder
	longest int
}

func (p *longest) Write(b []byte) (int, error) {
	p.longest = max(p.longest, len(b))
	return p.Builder.Write(b)
}

// stopped refuses all pieces after some.
type stopped struct{ after, calls int }

func (s *stopped) Write(b []byte) (int, error) {
	if s.calls++; s.calls > s.after {
		return 0, fmt.Errorf("no space left")
	}
	return len(b), nil
}
