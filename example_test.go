package hlocb_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hlocb/hlocb"
)

// A module asks its host for a scale and reports a sum.
const scaled = `
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %s = stablehlo.custom_call @ask(%x) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "scale"}} : (tensor<3xf32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %y = stablehlo.multiply %x, %b : tensor<3xf32>
  stablehlo.custom_call @ask(%y) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "scaled"}} : (tensor<3xf32>) -> ()
  return %y : tensor<3xf32>
}
`

func Example() {
	ctx := context.Background()
	p, err := hlocb.Parse(ctx, "scaled.mlir", []byte(scaled), hlocb.HookTargets("ask"))
	if err != nil {
		log.Fatal(err)
	}
	exe, err := p.Compile(ctx,
		hlocb.Answer("scale", hlocb.Func(func(_ context.Context, x hlocb.Array[float32]) (hlocb.Array[float32], error) {
			return hlocb.Scalar(1 / x.Data[0]), nil
		})),
		hlocb.Observe("scaled", hlocb.ObserverFunc(func(_ context.Context, y hlocb.Array[float32]) error {
			fmt.Println("scaled", y.Data)
			return nil
		})))
	if err != nil {
		log.Fatal(err)
	}
	defer exe.Close()
	out, err := exe.Run(ctx, hlocb.ArrayOf([]float32{4, 8, 12}))
	if err != nil {
		log.Fatal(err)
	}
	y, err := hlocb.As[float32](out[0])
	fmt.Println(y.Data, err)
	// Output:
	// scaled [1 2 3]
	// [1 2 3] <nil>
}

func ExampleProgram_Hooks() {
	p, err := hlocb.Parse(context.Background(), "scaled.mlir", []byte(scaled), hlocb.HookTargets("ask"))
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range p.Hooks() {
		fmt.Println(h.Name, h.Kind, h.Operands)
	}
	// Output:
	// scale call [tensor<3xf32>]
	// scaled tap [tensor<3xf32>]
}
