package runtime_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// askModule is a module that asks its host for half of a vector.
const askModule = `
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @host(%x) {api_version = 4 : i32, backend_config = {name = "halve"}, has_side_effect = true} : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}`

func program(text string) (*runtime.Program, error) {
	registry, err := all.Registry()
	if err != nil {
		return nil, err
	}
	m, err := parse.Parse(diag.NewSource("asking.mlir", []byte(text)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		return nil, err
	}
	r, err := passes.Rewrite(context.Background(), m, passes.RewriteHooks{Targets: []string{"host"}})
	if err != nil {
		return nil, err
	}
	return &runtime.Program{Module: m, Manifest: r.Manifest}, nil
}

// run compiles the program for the embedded engine and runs it on 1, 2, 3. backends.Open opens other backends.
func run(handlers *runtime.Bindings) ([]*tensor.Tensor, error) {
	p, err := program(askModule)
	if err != nil {
		return nil, err
	}
	b := interp.New(interp.Options{})
	defer b.Close()
	exe, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: handlers})
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	x := tensor.New(tensor.F32, tensor.Shape{3})
	copy(tensor.View[float32](x), []float32{1, 2, 3})
	return exe.Run(context.Background(), []*tensor.Tensor{x})
}

// A handler is a Go function. This one reads and writes the program's memory.
func ExampleHandlerFunc() {
	var bind runtime.Bindings
	bind.Answer("halve", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		for i, x := range tensor.View[float32](c.Operands[0]) {
			tensor.View[float32](c.Results[0])[i] = x / 2
		}
		return nil
	}))
	out, err := run(&bind)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", out[0].AppendLiteral(nil, 0))
	// Output: dense<[5.000000e-01, 1.000000e+00, 1.500000e+00]> : tensor<3xf32>
}

// Bind checks a typed handler against its hook, before anything runs.
func ExampleFunc() {
	var bind runtime.Bindings
	bind.Answer("halve", runtime.Func(func(_ context.Context, x runtime.Array[int32]) (runtime.Array[int32], error) { return x, nil }))
	_, err := run(&bind)
	var refused *runtime.BindError
	fmt.Println(errors.As(err, &refused), refused.Cause)
	// Output: true operand 0 is tensor<3xf32>, the handler accepts elements of Go type int32
}

// An error of a handler ends the run. The run's error has the hook's name and place.
func ExampleHookError() {
	var bind runtime.Bindings
	bind.Answer("*", runtime.HandlerFunc(func(context.Context, *runtime.Call) error { return errors.New("no answer today") }))
	_, err := run(&bind)
	var failed *runtime.HookError
	if errors.As(err, &failed) {
		fmt.Println(failed.Hook, failed.Seq, failed.Cause)
	}
	// Output: halve 0 no answer today
}

// Hooks without a responder are found before the run.
func ExampleUnboundError() {
	_, err := run(&runtime.Bindings{})
	var unbound *runtime.UnboundError
	fmt.Println(errors.As(err, &unbound))
	// Output: true
}
