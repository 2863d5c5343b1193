package parse_test

import (
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// TestDirectivesAreParsed: a reader calls a directive for every op, since its checks may depend on more than the text.
// It skipped equal texts of directives for attributes, which a directive must allow by ByText.
func TestDirectivesAreParsed(t *testing.T) {
	const text = "func.func @f() {\n  t.scaled by 3 {k}\n  t.scaled by 3 {k}\n  t.scaled by 3 {k}\n  return\n}"
	for byText, want := range map[bool]int{false: 3, true: 1} {
		parsed := 0
		scale := &ir.Directive{
			ByText: byText,
			Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
				parsed++
				p.ExpectKeyword("by")
				args[0].Attr = p.ParseAttr(nil)
			},
		}
		row := &ir.Def{Name: "t.scaled", Attrs: []ir.AttrSpec{{Name: "scale"}}, Format: "custom<Scale>($scale) attr-dict"}
		reg, err := ir.NewRegistry(append(all.Dialects(), &ir.Dialect{Name: "t", Ops: []*ir.Def{row}, Directives: map[string]*ir.Directive{"Scale": scale}})...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse.Parse(diag.NewSource("in", []byte(text)), ir.NewContext(reg), parse.Options{}); err != nil {
			t.Fatal(err)
		}
		if parsed != want {
			t.Errorf("by text %v: parsed %d times, expected %d", byText, parsed, want)
		}
	}
}
