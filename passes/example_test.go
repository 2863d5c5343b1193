package passes_test

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/tensor"
)

// noisy is a module that sends a value out through outfeed.
const noisy = `
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.sine %x : tensor<f32>
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.outfeed"(%y, %t) {outfeed_config = "loss"} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return %y : tensor<f32>
}`

// Rewrite turns the hooks of any format into one call. The manifest lists them.
func ExampleRewrite() {
	m, err := testkit.TryParse("noisy.mlir", []byte(noisy))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := passes.Rewrite(context.Background(), m, passes.RewriteHooks{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range r.Manifest.Sites {
		fmt.Println(s.Name, s.Kind, s.Format, s.Operands)
	}
	calls := 0
	m.Walk(func(op *ir.Op) bool {
		if op.Name() == "stablehlo.custom_call" {
			calls++
		}
		return true
	})
	fmt.Println(calls, "call")
	// Output:
	// loss tap raw-outfeed [tensor<f32>]
	// 1 call
}

// A pipeline is text, and its canonical text reads back as the same pipeline. In Go it is a list of structs.
func ExampleBuiltin() {
	p, err := pass.Parse("raise-hooks, order-hooks{ order=source },lower-hooks", passes.Builtin(passes.Host{}))
	fmt.Println(p, err)
	fmt.Println(pass.Pipeline{passes.RaiseHooks{}, passes.OrderHooks{Order: hook.OrderSource}, passes.LowerHooks{}})
	_, err = pass.Parse("raise-hooks,oder-hooks", passes.Builtin(passes.Host{}))
	fmt.Println(err)
	// Output:
	// builtin.module(raise-hooks,order-hooks{order=source},lower-hooks) <nil>
	// builtin.module(raise-hooks,order-hooks{order=source},lower-hooks)
	// pipeline:13: error: unknown pass "oder-hooks"; did you mean order-hooks?
}

// doubling is a pass over functions: it replaces x + x by x * 2.
type doubling struct{}

var doublingInfo = &pass.Info{Name: "doubling", Doc: "Replaces the sum of a value and itself by its double.", Anchor: "func.func"}

func (doubling) Info() *pass.Info { return doublingInfo }

func (doubling) Run(ctx *pass.Context, f *ir.Op) error {
	m := ctx.Module()
	var sums []*ir.Op
	f.Walk(func(op *ir.Op) bool {
		if op.Is(stablehlo.Add) && op.Operand(0) == op.Operand(1) {
			sums = append(sums, op)
		}
		return true
	})
	for _, op := range sums {
		t, ok := op.Result(0).Type().(*ir.TensorType)
		if !ok || !t.Static() || t.DType() != tensor.F32 {
			continue
		}
		twos := tensor.New(tensor.F32, t.Shape())
		for i := range tensor.View[float32](twos) {
			tensor.View[float32](twos)[i] = 2
		}
		b := m.Before(op).At(op.Loc(), op.Pos())
		two := b.Create(m.Def("stablehlo.constant"), nil, []ir.Type{t}, ir.NamedAttr{Name: "value", Attr: m.Context().DenseFromTensor(twos)})
		double := b.Create(m.Def("stablehlo.multiply"), []*ir.Value{op.Operand(0), two.Result(0)}, []ir.Type{t})
		op.Result(0).ReplaceAllUsesWith(double.Result(0))
		op.Erase()
	}
	return nil
}

// A pass of one's own runs by itself, or in a driver that verifies what it leaves.
func Example_ownPass() {
	m, err := testkit.TryParse("sum.mlir", []byte("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n%0 = stablehlo.add %x, %x : tensor<4xf32>\nreturn %0 : tensor<4xf32>\n}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	d := &pass.Driver{Verify: ir.Verify}
	if err := d.Run(pass.NewContext(context.Background(), m), pass.Pipeline{pass.On("func.func", doubling{})}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(print.String(m, print.Options{}))
	// Output:
	// module {
	//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
	//     %cst = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
	//     %0 = stablehlo.multiply %arg0, %cst : tensor<4xf32>
	//     return %0 : tensor<4xf32>
	//   }
	// }
}
