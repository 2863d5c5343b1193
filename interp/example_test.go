package interp_test

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// load reads a module with every dialect.
func load(text string) *ir.Module {
	reg, err := all.Registry()
	if err != nil {
		panic(err)
	}
	m, err := parse.Parse(diag.NewSource("in.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		panic(err)
	}
	return m
}

// The engine is a backend: it compiles a module once and runs it many times. Most programs use package hlocb instead.
func Example() {
	m := load("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { %y = stablehlo.multiply %x, %x : tensor<3xf32>\n return %y : tensor<3xf32> }")
	ctx := context.Background()
	exe, err := interp.New(interp.Options{}).Compile(ctx, &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		panic(err)
	}
	defer exe.Close()
	x, _ := tensor.ParseLiteral("dense<[1.0, 2.0, 3.0]> : tensor<3xf32>")
	results, err := exe.Run(ctx, []*tensor.Tensor{x})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(results[0].AppendLiteral(nil, 10)))
	// Output: dense<[1.000000e+00, 4.000000e+00, 9.000000e+00]> : tensor<3xf32>
}
