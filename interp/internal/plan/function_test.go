package plan_test

import (
	"math"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

var hypot = &ir.Def{
	Name:     "math.hypot",
	Operands: []ir.Arg{{Name: "x"}, {Name: "y"}},
	Results:  []ir.Arg{{Name: "result"}},
}

// TestFunctions: a function of numbers computes an op of another dialect, on every type of such numbers, alone and
// fused with other ops.
func TestFunctions(t *testing.T) {
	registry, err := ir.NewRegistry(append(all.Dialects(), &ir.Dialect{Name: "math", Ops: []*ir.Def{hypot}})...)
	if err != nil {
		t.Fatal(err)
	}
	for typ, fused := range map[string]bool{"tensor<3000xf32>": true, "tensor<8xbf16>": false, "tensor<2xi8>": false} {
		text := strings.ReplaceAll(`func.func @main(%x: T, %y: T) -> T {
  %a = stablehlo.add %x, %y : T
  %h = "math.hypot"(%a, %y) : (T, T) -> T
  %r = stablehlo.subtract %h, %x : T
  return %r : T
}`, "T", typ)
		m, err := parse.Parse(diag.NewSource("test.mlir", []byte(text)), ir.NewContext(registry), parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var plan strings.Builder
		b := interp.New(interp.Options{Plan: &plan, Functions: map[*ir.Def]interp.Function{hypot: {
			Floats: math.Hypot,
			Ints:   func(x, y int64) int64 { return int64(math.Hypot(float64(x), float64(y))) },
		}}})
		exe, err := b.Compile(t.Context(), &runtime.Program{Module: m}, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d, shape, err := tensor.ParseType(typ)
		if err != nil {
			t.Fatal(err)
		}
		x, y := tensor.New(d, shape), tensor.New(d, shape)
		set := func(to *tensor.Tensor, v int) {
			for i := range to.NumElements() {
				if d.IsFloat() {
					to.SetFloat(i, float64(v))
				} else {
					to.SetInt(i, int64(v))
				}
			}
		}
		set(x, 5)
		set(y, 12)
		out, err := exe.Run(t.Context(), []*tensor.Tensor{x, y})
		if err != nil {
			t.Fatal(err)
		}
		want := tensor.New(d, shape)
		set(want, 15) // hypot(17, 12) is 20.8
		if d.IsFloat() {
			for i := range want.NumElements() {
				h := tensor.New(d, nil)
				h.SetFloat(0, math.Hypot(17, 12))
				want.SetFloat(i, h.FloatAt(0)-5)
			}
		}
		if string(out[0].Bytes()) != string(want.Bytes()) {
			t.Errorf("%s: %s, want %s", typ, out[0].AppendLiteral(nil, 5), want.AppendLiteral(nil, 5))
		}
		if is := strings.Contains(plan.String(), "stablehlo.add + math.hypot + stablehlo.subtract"); is != fused {
			t.Errorf("%s: fused is %v\n%s", typ, is, plan.String())
		}
	}
}
