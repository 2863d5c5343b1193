package hlo_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
)

// changes change one op of an imported module, and report whether they did.
var changes = []struct {
	name   string
	change func(m *ir.Module, op *ir.Op) bool
}{
	{"mark", func(m *ir.Module, op *ir.Op) bool {
		op.SetAttr("mhlo.frontend_attributes", ir.NewDict(ir.AttrList{{Name: "marked", Attr: ir.NewString("yes")}}))
		return true
	}},
	{"erase", func(m *ir.Module, op *ir.Op) bool {
		for _, v := range op.OperandList() {
			if op.NumResults() == 1 && v.Type() == op.Result(0).Type() {
				op.ReplaceWith(v)
				return true
			}
		}
		return false
	}},
	{"insert", func(m *ir.Module, op *ir.Op) bool {
		for i, v := range op.OperandList() {
			if t, ok := v.Type().(*ir.TensorType); ok && t.DType().IsFloat() {
				op.SetOperand(i, m.Before(op).Create(stablehlo.Abs, []*ir.Value{v}, []ir.Type{t}).Result(0))
				return true
			}
		}
		return false
	}},
}

// TestUpdateTexts: HLO stays as it is if no op of its module changes, and each change of an op has the same effect on
// the text.
func TestUpdateTexts(t *testing.T) {
	texts := map[string]string{"scheduled": scheduled, "nested": nested, "sharded": sharded, "pairs": pairs, "chained": chained, "dead": dead,
		"ordered": ordered, "channels": channels, "fused": fused}
	for _, path := range testkit.Glob(t, "hooks/hlo/*.hlo.txt", "today/*.hlo") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(text)
	}
	reg := testkit.Registry(t)
	golden.Fingerprints(t, "testdata/updates.txt", func(add func(name, text string)) {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			old := read(t, texts[name])
			m, err := hlo.Import(old, ir.NewContext(reg))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			update := func(m *ir.Module) string {
				out, err := hlo.Update(m)
				if err != nil {
					return err.Error() + "\n"
				}
				return string(out.AppendText(nil, hlo.TextOptions{}))
			}
			if got, want := update(m.Clone()), string(old.AppendText(nil, hlo.TextOptions{})); got != want {
				t.Errorf("%s changes without a change:\n%s", name, firstDifference(got, want))
			}
			ops := func(m *ir.Module) (list []*ir.Op) {
				m.Walk(func(op *ir.Op) bool {
					if op.NumResults() > 0 {
						list = append(list, op)
					}
					return true
				})
				return list
			}
			n := len(ops(m))
			for _, c := range changes {
				var out strings.Builder
				for i := 0; i < n; i += 1 + n/10 {
					m, err := hlo.Import(old, ir.NewContext(reg))
					if err != nil {
						t.Fatal(err)
					}
					if op := ops(m)[i]; c.change(m, op) {
						fmt.Fprintf(&out, "// %d: %s\n%s", i, op.Name(), update(m))
					}
				}
				add(name+"/"+c.name, out.String())
			}
		}
	})
}

// TestExportTexts compares the HLO of the modules in testdata.
func TestExportTexts(t *testing.T) {
	golden.Texts(t, "testdata/export.txtar", func(t *testing.T, name, text string) string {
		m := testkit.Parse(t, name, text)
		if err := ir.Verify(m); err != nil {
			t.Fatal(err)
		}
		out, err := hlo.Export(m)
		if err != nil {
			return err.Error()
		}
		return string(out.AppendText(nil, hlo.TextOptions{}))
	})
}
