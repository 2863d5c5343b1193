package passes_test

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/passes"
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
