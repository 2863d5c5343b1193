// Command embed runs a module inside of a Go program: it answers one hook with a Go function and looks on at all
// others.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// module asks its host for the learning rate of each of three steps and reports the value that it reaches.
const module = `
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %out:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<f32>
   cond {
    %more = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %rate = stablehlo.custom_call @ask(%i) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "rate"}} : (tensor<i32>) -> tensor<f32>
    %step = stablehlo.multiply %rate, %v : tensor<f32>
    %next = stablehlo.subtract %v, %step : tensor<f32>
    stablehlo.custom_call @ask(%next) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "value"}} : (tensor<f32>) -> ()
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<f32>
  }
  return %out#1 : tensor<f32>
}
`

func main() {
	log.SetFlags(0)
	name := "auto"
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	if err := run(context.Background(), name, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, backendName string, out io.Writer) (err error) {
	// Read the module, and turn the calls to @ask into hooks.
	registry, err := all.Registry()
	if err != nil {
		return err
	}
	m, err := parse.Parse(diag.NewSource("rates.mlir", []byte(module)), ir.NewContext(), registry, parse.Options{})
	if err != nil {
		return err
	}
	rewritten, err := passes.RewriteHooks(ctx, m, passes.RewriteOptions{Targets: []string{"ask"}})
	if err != nil {
		return err
	}

	// Say who answers and who looks on.
	var bind runtime.Bindings
	bind.Observe("value", handlers.NewPrint(out, 0))
	bind.Answer("rate", runtime.Func(func(_ context.Context, step runtime.Array[int32]) (runtime.Array[float32], error) {
		return runtime.Scalar(0.5 / float32(int32(1)<<step.Data[0])), nil
	}))

	// Compile once; run as often as you like, from as many goroutines as you like.
	env := plugins.Environment{Getenv: os.Getenv}
	if dir, err := os.UserCacheDir(); err == nil {
		env.CacheDir = filepath.Join(dir, "hlocb", "plugins")
	}
	backend, err := backends.Open(ctx, backendName, backends.Options{Plugins: env})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	exe, err := backend.Compile(ctx, &runtime.Program{Module: m, Text: print.Append(nil, m, print.Options{}), Manifest: rewritten.Manifest},
		runtime.CompileOptions{Handlers: &bind})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(exe.Close(), err) }()
	x := tensor.New(tensor.F32, tensor.Shape{})
	tensor.View[float32](x)[0] = 64
	results, err := exe.Run(ctx, []*tensor.Tensor{x})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "result %s\n", results[0].AppendLiteral(nil, 0))
	return err
}
