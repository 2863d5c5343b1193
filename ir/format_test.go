package ir_test

import (
	"testing"

	"github.com/hlocb/hlocb/ir"
)

// TestFormatsAreComplete: a registry refuses a format whose text would lose a part of an op. Such texts read back as
// other, valid ops.
func TestFormatsAreComplete(t *testing.T) {
	in, out := []ir.Arg{{Name: "in"}}, []ir.Arg{{Name: "out"}}
	body := []ir.RegionSpec{{Name: "body"}}
	list := &ir.Directive{}
	for _, tt := range []struct {
		name string
		def  ir.Def
		want string
	}{
		{"whole", ir.Def{Operands: in, Results: out, Format: "$in attr-dict `:` type($in) `->` type($out)"}, ""},
		{"all", ir.Def{Operands: in, Results: out, Regions: body, Format: "operands regions attr-dict `:` functional-type(operands, results)"}, ""},
		{"same", ir.Def{Operands: in, Results: out, Traits: ir.SameType, Format: "$in attr-dict `:` type($out)"}, ""},
		{"inferred", ir.Def{Operands: in, Results: out, Format: "$in attr-dict `:` type($in)", Infer: func(*ir.Context, *ir.OpState) ([]ir.Type, error) { return nil, nil }}, ""},
		{"directive", ir.Def{Operands: in, Results: out, Regions: body, Format: "custom<List>($in, $body) attr-dict custom<List>(type($in), type($out))"}, ""},
		{"optional", ir.Def{Operands: []ir.Arg{{Name: "in", Mult: ir.Optional}}, Format: "($in^ `:` type($in))? attr-dict"}, ""},
		{"no attr-dict", ir.Def{Operands: in, Results: out, Format: "$in `:` type($in) `->` type($out)"}, "format of t.op: attr-dict is not in the format, so its text would lose attributes"},
		{"no operand", ir.Def{Operands: []ir.Arg{{Name: "in"}, {Name: "other"}}, Results: out, Format: "$in attr-dict `:` functional-type(operands, results)"}, "format of t.op: operand 'other' is not in the format, so its text would lose it"},
		{"no region", ir.Def{Operands: in, Regions: body, Format: "$in attr-dict `:` type($in)"}, "format of t.op: region 'body' is not in the format, so its text would lose it"},
		{"no type of an operand", ir.Def{Operands: in, Format: "$in attr-dict"}, "format of t.op: the type of operand 'in' is not in the format, so its text would lose it"},
		{"no type of a result", ir.Def{Operands: in, Results: out, Format: "$in attr-dict `:` type($in)"}, "format of t.op: the type of result 'out' is not in the format, so its text would lose it"},
		{"only a reference", ir.Def{Operands: in, Results: out, Format: "custom<List>(ref($in)) attr-dict `:` functional-type(operands, results)"}, "format of t.op: operand 'in' is not in the format, so its text would lose it"},
		{"twice", ir.Def{Operands: in, Results: out, Format: "$in `,` $in attr-dict `:` functional-type(operands, results)"}, "format of t.op: 'in' is in the format twice"},
	} {
		tt.def.Name = "t.op"
		_, err := ir.NewRegistry(&ir.Dialect{Name: "t", Ops: []*ir.Def{&tt.def}, Directives: map[string]*ir.Directive{"List": list}})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: error %q, expected %q", tt.name, got, tt.want)
		}
	}
}
