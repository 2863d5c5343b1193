// Command loop shows a loop of another compiler's dialect inside hlocb. The dialect below has two ops. The Flow of the
// row of loop.for says how values move through the loop. hlocb therefore orders the hook inside and proves the order,
// and the embedded engine runs the loop with the dialect's kernel.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// module doubles a value three times and reports each step to the host.
const module = `
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %r = "loop.for"(%zero, %three, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %w = stablehlo.add %v, %v : tensor<f32>
    stablehlo.custom_call @host(%w) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "step"}} : (tensor<f32>) -> ()
    "loop.yield"(%w) : (tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
`

// forOp counts from operand 0 to operand 1. The other operands are carried: the body takes the counter and the carried
// values, and yields the carried values of the next trip. The values after the last trip are the results.
var forOp = &ir.Def{
	Name:     "loop.for",
	Doc:      "Counts from the first operand to the second.",
	Operands: []ir.Arg{{Name: "from"}, {Name: "to"}, {Name: "carried", Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Regions:  []ir.RegionSpec{{Name: "body"}},
	Traits:   ir.SingleBlock,
	Flow: &ir.Flow{
		Runs:    []ir.Runs{ir.RunsRepeated},
		Control: 2,
		Edges: []ir.FlowEdge{
			{From: ir.Port{At: ir.AtOperands, First: 2}, To: ir.Port{At: ir.AtArgs, First: 1}},
			{From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtArgs, First: 1}},
			{From: ir.Port{At: ir.AtOperands, First: 2}, To: ir.Port{At: ir.AtResults}},
			{From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtResults}},
		},
	},
}

var yieldOp = &ir.Def{
	Name:     "loop.yield",
	Doc:      "Ends the body of a loop.",
	Operands: []ir.Arg{{Name: "values", Mult: ir.Variadic}},
	Traits:   ir.Terminator | ir.ReturnLike,
}

// runFor is the kernel of loop.for.
func runFor(x *interp.Execution) error {
	in := x.Operands()
	from, to := tensor.View[int32](in[0].Tensor())[0], tensor.View[int32](in[1].Tensor())[0]
	carried := in[2:]
	for i := from; i < to; i++ {
		counter := tensor.New(tensor.I32, nil)
		tensor.View[int32](counter)[0] = i
		v, err := x.New(counter)
		if err != nil {
			return err
		}
		if carried, err = x.Run(0, append([]interp.Value{v}, carried...)...); err != nil {
			return err
		}
	}
	x.Return(carried...)
	return nil
}

func main() {
	log.SetFlags(0)
	backend := "engine"
	if len(os.Args) > 1 {
		backend = os.Args[1]
	}
	if err := run(context.Background(), backend, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, backend string, out io.Writer) (err error) {
	registry, err := ir.NewRegistry(append(all.Dialects(), &ir.Dialect{Name: "loop", Ops: []*ir.Def{forOp, yieldOp}})...)
	if err != nil {
		return err
	}
	m, err := parse.Parse(diag.NewSource("loop.mlir", []byte(module)), ir.NewContext(registry), parse.Options{})
	if err != nil {
		return err
	}
	// Convert the hook and prove its order. Calls to @host are hooks.
	p, err := hlocb.FromModule(ctx, m, hlocb.HookTargets("host"))
	if err != nil {
		return err
	}
	where := hlocb.On(backend)
	if backend == "engine" {
		where = hlocb.OnBackend(interp.New(interp.Options{Kernels: map[*ir.Def]interp.Kernel{forOp: runFor}}))
	}
	exe, err := p.Compile(ctx, where, hlocb.Observe("step", handlers.NewPrint(out, 0)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exe.Close()) }()
	results, err := exe.Run(ctx, hlocb.Scalar[float32](1.5))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "result %s\n", results[0].AppendLiteral(nil, 0))
	return err
}
