package passes_test

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
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

// RewriteHooks turns the hooks of any notation into one call. The manifest says what they are.
func ExampleRewriteHooks() {
	m, err := testkit.TryParse("noisy.mlir", []byte(noisy))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := passes.RewriteHooks(context.Background(), m, passes.RewriteOptions{})
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

// A pipeline is text, and its canonical text reads back as the same pipeline.
func ExampleParsePipeline() {
	p, err := passes.ParsePipeline("builtin.module(raise-hooks, order-hooks{ order=source },lower-hooks)", passes.Builtin())
	fmt.Println(p, err)
	_, err = passes.ParsePipeline("raise-hooks,oder-hooks", passes.Builtin())
	fmt.Println(err != nil)
	// Output:
	// builtin.module(raise-hooks,order-hooks{order=source},lower-hooks) <nil>
	// true
}

// doubling is a pass: it replaces x + x by x * 2.
type doubling struct{}

var doublingInfo = &passes.Info{Name: "doubling", Doc: "Replaces the sum of a value and itself by its double."}

func (doubling) Info() *passes.Info { return doublingInfo }

func (doubling) Run(_ *passes.Context, m *ir.Module) error {
	var sums []*ir.Op
	m.Walk(func(op *ir.Op) bool {
		if op.Name() == "stablehlo.add" && op.Operand(0) == op.Operand(1) {
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
func ExamplePass() {
	m, err := testkit.TryParse("sum.mlir", []byte("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n%0 = stablehlo.add %x, %x : tensor<4xf32>\nreturn %0 : tensor<4xf32>\n}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	d := &passes.Driver{Verify: ir.Verify}
	if err := d.Run(passes.NewContext(context.Background()), passes.Pipeline{{Pass: doubling{}}}, m); err != nil {
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
