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

// change changes one op of an imported module, and reports whether it did.
type change struct {
	name   string
	change func(m *ir.Module, op *ir.Op) bool
}

var changes = []change{
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

// exported returns the HLO of each sample of an op, and of the small modules in testdata, by name.
func exported(t *testing.T) map[string]string {
	texts := map[string]string{}
	export := func(name string, m *ir.Module) {
		if out, err := hlo.Export(m); err == nil {
			texts[name] = string(out.AppendText(nil, hlo.TextOptions{}))
		}
	}
	for _, path := range testkit.Glob(t, "ops/*.mlir") {
		for i, s := range testkit.Samples(t, filepath.Base(path)) {
			if m, err := testkit.TryParse(s.Op, s.Main(t)); err == nil && ir.Verify(m) == nil {
				export(fmt.Sprintf("%s.%d", s.Op, i), m)
			}
		}
	}
	for s, m := range testkit.Valid(testkit.Sources(t)) {
		if strings.HasSuffix(s.Name, ".mlir") && len(s.Text) < 1500 && !strings.HasPrefix(s.Name, "hooks/") {
			export(s.Name, m)
		}
	}
	return texts
}

// TestUpdateTexts: Export writes the same HLO. HLO stays as it is if no op of its module changes, and each change of an
// op has the same effect on the text.
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
	for name, text := range exported(t) {
		texts[name] = text
	}
	reg := testkit.Registry(t)
	golden.Fingerprints(t, "testdata/updates.txt", func(add func(name, text string)) {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			old := read(t, texts[name])
			m, err := hlo.Import(old, ir.NewContext(reg))
			if err != nil { // such as an asynchronous call of several ops
				add(name, err.Error())
				continue
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
			var all strings.Builder
			all.WriteString(string(old.AppendText(nil, hlo.TextOptions{})))
			for _, c := range changes {
				for i := 0; i < n; i += 1 + n/4 {
					m, err := hlo.Import(old, ir.NewContext(reg))
					if err != nil {
						t.Fatal(err)
					}
					if op := ops(m)[i]; c.change(m, op) {
						fmt.Fprintf(&all, "// %s %d: %s\n%s", c.name, i, op.Name(), update(m))
					}
				}
			}
			add(name, all.String())
		}
	})
}

// TestExportTexts compares the HLO of the modules in testdata.
func TestExportTexts(t *testing.T) {
	golden.Texts(t, "testdata/export*.txtar", func(t *testing.T, name, text string) string {
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
