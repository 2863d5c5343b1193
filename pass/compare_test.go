package pass_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/pass"
)

// TestCompareCopy: a copy has no changes, and every value matches the copied value.
func TestCompareCopy(t *testing.T) {
	for _, file := range testkit.Glob(t, "*.mlir", "mlir/*.mlir", "hooks/*.mlir") {
		m := testkit.ParseFile(t, file)
		clone := m.Clone()
		c := pass.Compare(m, clone)
		if len(c.Changes) > 0 {
			t.Errorf("%s: %s", file, c.Counts())
		}
		var from, to []*ir.Value
		values := func(m *ir.Module, out *[]*ir.Value) {
			m.Walk(func(op *ir.Op) bool {
				for _, v := range op.Results() {
					*out = append(*out, v)
				}
				for _, r := range op.Regions() {
					for _, b := range r.Blocks() {
						*out = append(*out, b.Args()...)
					}
				}
				return true
			})
		}
		values(m, &from)
		values(clone, &to)
		for i, v := range from {
			if c.Value(v) != to[i] {
				t.Fatalf("%s: value %d does not match its copy", file, i)
			}
		}
	}
}

// TestRecorder: snapshots have the module before and after each pass, with values matched, and show the changes.
func TestRecorder(t *testing.T) {
	m := testkit.Parse(t, "in.mlir", `func.func @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.abs %x : tensor<f32>
  %1 = stablehlo.add %0, %y : tensor<f32>
  return %1 : tensor<f32>
}
`)
	swap := perFunction{func(_ *pass.Context, f *ir.Op) error {
		add := f.Region(0).Entry().First().Next()
		x, y := add.Operand(0), add.Operand(1)
		add.SetOperand(0, y)
		add.SetOperand(1, x)
		return nil
	}}
	still := perFunction{func(*pass.Context, *ir.Op) error { return nil }}
	var r pass.Recorder
	d := &pass.Driver{Instruments: []pass.Instrument{r.Instrument()}}
	if err := d.Run(pass.NewContext(context.Background(), m), pass.Pipeline{pass.On("func.func", swap, still)}); err != nil {
		t.Fatal(err)
	}
	if len(r.Snapshots) != 2 || r.Snapshots[0].Pass != "func.func(per-function)" || r.Snapshots[1].Before != r.Snapshots[1].After {
		t.Fatalf("snapshots are %+v", r.Snapshots)
	}
	c := r.Snapshots[0].Compare()
	var text strings.Builder
	if err := c.Write(&text); err != nil {
		t.Fatal(err)
	}
	want := "@@ func.func @f\n- %1 = stablehlo.add %0, %arg1 : tensor<f32>\n+ %1 = stablehlo.add %arg1, %0 : tensor<f32>\n"
	if text.String() != want || c.Counts() != "1 changed" {
		t.Errorf("changes are %s:\n%s, expected\n%s", c.Counts(), text.String(), want)
	}
	abs := c.Before.Body().First().Region(0).Entry().First()
	if to := c.Value(abs.Result(0)); to == nil || to.DefiningOp() != c.Op(abs) || c.Op(abs).Name() != abs.Name() {
		t.Error("the unchanged op has no match")
	}
}

// compareTexts compares two modules of one context.
func compareTexts(t *testing.T, before, after string) *pass.Comparison {
	t.Helper()
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	ctx := ir.NewContext(reg)
	var m [2]*ir.Module
	for i, text := range []string{before, after} {
		if m[i], err = parse.Parse(diag.NewSource("in.mlir", []byte(text)), ctx, parse.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	return pass.Compare(m[0], m[1])
}

// TestCompare shows the changes from one module to another, and the named values of the first module with the values
// that match them.
func TestCompare(t *testing.T) {
	golden.Texts(t, "testdata/compare.txtar", func(t *testing.T, name, text string) string {
		before, after, ok := strings.Cut(text, "// -----\n")
		if !ok {
			t.Fatal("no second module")
		}
		c := compareTexts(t, before, after)
		var out strings.Builder
		out.WriteString(c.Counts() + "\n")
		if err := c.Write(&out); err != nil {
			t.Fatal(err)
		}
		named := func(v *ir.Value) string {
			if op := v.DefiningOp(); op != nil {
				return fmt.Sprintf("%s#%d", op.Result(0).Name(), v.Index())
			}
			return v.Name()
		}
		value := func(v *ir.Value) {
			if w := c.Value(v); w == nil {
				fmt.Fprintf(&out, "%s: none\n", named(v))
			} else {
				fmt.Fprintf(&out, "%s: %s\n", named(v), named(w))
			}
		}
		c.Before.Walk(func(op *ir.Op) bool {
			for _, v := range op.Results() {
				value(v)
			}
			for _, r := range op.Regions() {
				for _, b := range r.Blocks() {
					for _, v := range b.Args() {
						value(v)
					}
				}
			}
			return true
		})
		return out.String()
	})
}

// TestCompareLong: in long lists without common ops, each op matches the first op alike among the next few.
func TestCompareLong(t *testing.T) {
	const n = 1100
	text := func(first int, unlike string, attr string) string {
		var b strings.Builder
		b.WriteString("func.func @f(%x: tensor<f32>, %y: tensor<f32>) {\n")
		for i := range first {
			fmt.Fprintf(&b, "%%n%d = %s %%x : tensor<f32>\n", i, unlike)
		}
		for i := range n {
			fmt.Fprintf(&b, "%%a%d = stablehlo.custom_call @f%d(%s) : (tensor<f32>) -> tensor<f32>\n", i, i, attr)
		}
		b.WriteString("return\n}\n")
		return b.String()
	}
	for _, first := range []int{0, 63, 64} {
		c := compareTexts(t, text(0, "", "%x"), text(first, "stablehlo.abs", "%y"))
		want := fmt.Sprintf("%d added, %d changed", first, n)
		switch first {
		case 0:
			want = fmt.Sprintf("%d changed", n)
		case 64: // the first op looks at the 64 others only
			want = fmt.Sprintf("%d removed, %d added", n, n+first)
		}
		if got := c.Counts(); got != want {
			t.Errorf("%d ops before: %s, want %s", first, got, want)
		}
		first := c.Before.Body().First().Region(0).Entry().First()
		if to := c.Op(first); to != nil && to.Result(0).Name() != "a0" {
			t.Errorf("%s matches %s", first.Result(0).Name(), to.Result(0).Name())
		}
	}
}
