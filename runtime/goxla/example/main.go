//go:build cgo

// Command goxla builds a training step with the StableHLO builder of github.com/gomlx/go-xla, lets hlocb turn the
// builder's custom calls into hooks with an order, and runs the result with go-xla's own PJRT client: the Go
// functions below are called from the compiled program, in the middle of it.
//
// It needs XLA's CPU plugin: hlocb plugin install cpu.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/go-xla/pjrt"
	"github.com/gomlx/go-xla/stablehlo"
	"github.com/gomlx/go-xla/types/shapes"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/goxla"
	hpjrt "github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

func main() {
	if err := run(context.Background(), plugins.System(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// build writes y = clip(x*x) + x with go-xla's builder. clip is a custom call that no compiler knows.
func build() ([]byte, error) {
	b := stablehlo.New("step")
	main := b.Main()
	shape := shapes.Make(dtypes.F32, 4)
	x, err := main.Input(shape)
	if err != nil {
		return nil, err
	}
	square, err := stablehlo.Multiply(x, x)
	if err != nil {
		return nil, err
	}
	clipped, err := stablehlo.CustomCallV2("clip", "", []*stablehlo.Value{square}, nil, []shapes.Shape{shape}, nil)
	if err != nil {
		return nil, err
	}
	y, err := stablehlo.Add(clipped[0], x)
	if err != nil {
		return nil, err
	}
	if err := main.Return(y); err != nil {
		return nil, err
	}
	return b.Build()
}

func run(ctx context.Context, env plugins.Environment, w io.Writer) error {
	text, err := build()
	if err != nil {
		return err
	}
	p, err := hlocb.Parse(ctx, "step.mlir", text, hlocb.HookTargets("clip"))
	if err != nil {
		return err
	}

	found, err := env.Find("cpu")
	if err != nil {
		return err
	}
	plugin, err := goxla.Plugin("cpu", found[0].Path)
	if err != nil {
		return err
	}
	client, err := plugin.NewClient(nil)
	if err != nil {
		return err
	}
	defer client.Destroy()

	// The host's part: the program calls this handler with views of its memory.
	var handlers runtime.Bindings
	handlers.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		in, out := tensor.View[float32](c.Operands[0]), tensor.View[float32](c.Results[0])
		fmt.Fprintf(w, "%s got %v\n", c.Site.Name, in)
		for i, v := range in {
			out[i] = min(v, 5)
		}
		return nil
	}))
	attached, err := goxla.Attach(ctx, client, p.Manifest(), hpjrt.AttachOptions{Handlers: &handlers})
	if err != nil {
		return err
	}
	defer attached.Detach()
	program, err := client.Compile().WithStableHLO(p.Text()).Done()
	if err != nil {
		return err
	}
	defer program.Destroy()

	for _, x := range [][]float32{{1, 2, 3, 4}, {-1, 0, 0.5, 10}} {
		in, err := pjrt.ArrayToBuffer(client, x, len(x))
		if err != nil {
			return err
		}
		out, err := program.Execute(in).Done()
		if err != nil {
			if failed := attached.Err(); failed != nil {
				return failed // the failed hook and the cause; err has only XLA's text
			}
			return err
		}
		y, _, err := pjrt.BufferToArray[float32](out[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "x = %v gives y = %v\n", x, y)
	}
	return nil
}
