package pass_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
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
