package ir_test

import (
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// TestRemapAttr: an outside dialect keeps its discardable attributes in step with the results of any op, whatever
// rebuilds the op. The attribute kept one entry for each former result.
func TestRemapAttr(t *testing.T) {
	reg, err := ir.NewRegistry(builtin.Dialect(), &ir.Dialect{Name: "units", RemapAttr: func(op *ir.Op, name string, a ir.Attr, types []ir.Type, from []int) ir.Attr {
		list, ok := a.(*ir.ArrayAttr)
		if name != "units.of" || !ok || len(list.Elems()) != op.NumResults() {
			return a
		}
		if len(types) == 0 {
			return nil
		}
		var out []ir.Attr
		for _, k := range from {
			if k < 0 {
				out = append(out, ir.NewString("none"))
			} else {
				out = append(out, list.Elems()[k])
			}
		}
		return ir.NewArray(out)
	}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(`%a, %b, %c = "my.op"() {units.of = ["m", "s", "kg"], units.other = ["x"], other.of = ["y"]} : () -> (i32, i64, i1)`)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	op := m.Body().First()
	rebuild := func(types []ir.Type, to []int) string {
		st := op.State()
		st.Types = types
		op = m.Rebuild(op, st, to)
		if a := op.Attr("units.of"); a != nil {
			return a.String()
		}
		return ""
	}
	types := op.ResultTypes()
	for _, step := range []struct {
		types []ir.Type
		to    []int
		want  string
	}{
		{[]ir.Type{types[2], ir.Int(8), types[0]}, []int{2, -1, 0}, `["kg", "none", "m"]`},
		{[]ir.Type{types[2], ir.Int(8), types[0], types[1]}, nil, `["kg", "none", "m", "none"]`},
		{[]ir.Type{types[0]}, []int{-1, -1, 0, -1}, `["m"]`},
		{nil, []int{-1}, ""},
	} {
		if got := rebuild(step.types, step.to); got != step.want {
			t.Errorf("results %v: units.of is %s, want %s", step.to, got, step.want)
		}
	}
	if op.Attr("units.other") == nil || op.Attr("other.of") == nil {
		t.Error("other attributes are gone")
	}
}
