package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/command"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/tensor"
)

func (a *app) benchCommand() *cobra.Command {
	return command.Parent(&cobra.Command{Use: "bench", Short: "Measure the cost of hooks here"}, a.benchCallbacksCommand())
}

func (a *app) benchCallbacksCommand() *cobra.Command {
	var backend string
	var rounds int
	c := &cobra.Command{
		Use:   "callbacks",
		Short: "Measure latency and throughput of hooks",
		Long: `Measure the cost of a hook: a callback in a device loop, with and without a time limit, and an execution whose hook returns its operand, by the operand's size.

The time of the loop without a hook is subtracted. Other work on the machine disturbs the figures, the best times least.`,
		Example: "  hlocb bench callbacks\n  hlocb bench callbacks --backend engine --rounds 100",
		Args:    command.Args(),
		RunE: command.Body(func(cmd *cobra.Command, _ []string) error {
			if rounds < 1 {
				return usagef("--rounds must be positive")
			}
			b, err := backends.Open(cmd.Context(), backend, a.backendOptions())
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "%s\n\n", b.Describe())
			return errors.Join(a.benchCallbacks(cmd.Context(), b, rounds), b.Close())
		}),
	}
	c.Flags().StringVar(&backend, "backend", "auto", "`NAME|PATH` auto, engine, cpu, cuda or a plugin")
	c.Flags().IntVar(&rounds, "rounds", 20, "`N` repetitions of each measurement")
	command.Group(c, "Flags")
	command.CompleteFixed(c, "backend", "auto", "engine", "cpu", "cuda")
	return c
}

// benchTrips is the number of callbacks in the measured loop.
const benchTrips = 5000

// benchLoop computes on four floats in a device loop, with an operation in each iteration.
const benchLoop = `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<TRIPS> : tensor<i32>
  %f = stablehlo.constant dense<1.0> : tensor<4xf32>
  %out:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4xf32>
   cond {
    %more = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %v, %f : tensor<4xf32>
    OPERATION
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<4xf32>
  }
  return %out#1 : tensor<4xf32>
}
`

// benchCall returns a value of TYPE from the host.
const benchCall = `func.func @main(%x: TYPE) -> TYPE {
  %y = stablehlo.custom_call @host(%x) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "value"}} : (TYPE) -> TYPE
  return %y : TYPE
}
`

func (a *app) benchCallbacks(ctx context.Context, b runtime.Backend, rounds int) error {
	read := runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		if len(c.Results) > 0 {
			return c.SetResult(0, c.Operands[0])
		}
		_ = tensor.View[float32](c.Operands[0])[0]
		return nil
	})
	loop := strings.ReplaceAll(benchLoop, "TRIPS", fmt.Sprint(benchTrips))
	withHook := strings.Replace(loop, "OPERATION", `stablehlo.custom_call @host(%next) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "value"}} : (tensor<4xf32>) -> ()`, 1)
	empty, err := benchRun(ctx, b, strings.Replace(loop, "OPERATION", "", 1), nil, 0, 4, rounds)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.Out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "in a device loop, each\tbest\tp50\tp99\n")
	for _, c := range []struct {
		name    string
		timeout time.Duration
	}{{"callback of 16 B", 0}, {"with a time limit", time.Minute}} {
		t, err := benchRun(ctx, b, withHook, read, c.timeout, 4, rounds)
		if err != nil {
			return err
		}
		per := func(d time.Duration) string {
			return fmt.Sprintf("%d ns", max(0, d-empty[0]).Nanoseconds()/benchTrips)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.name, per(t[0]), per(t[len(t)/2]), per(t[len(t)*99/100]))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\none execution, answered\tbest\tp50\tp99\tMB/s\n")
	for _, n := range []int{4, 256, 16 << 10, 256 << 10, 4 << 20} {
		t, err := benchRun(ctx, b, strings.ReplaceAll(benchCall, "TYPE", fmt.Sprintf("tensor<%dxf32>", n)), read, 0, n, rounds*max(1, min(100, 100_000/n)))
		if err != nil {
			return err
		}
		micro := func(d time.Duration) string { return fmt.Sprintf("%.1f µs", float64(d.Nanoseconds())/1e3) }
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.0f\n", sizeText(int64(4*n)), micro(t[0]), micro(t[len(t)/2]), micro(t[len(t)*99/100]), float64(4*n)/t[0].Seconds()/1e6)
	}
	return w.Flush()
}

// benchRun returns the times of a module's executions, shortest first. Its calls of @host are hooks.
func benchRun(ctx context.Context, b runtime.Backend, module string, h runtime.Handler, timeout time.Duration, elements, rounds int) ([]time.Duration, error) {
	p, err := hlocb.Parse(ctx, "bench.mlir", []byte(module), hlocb.HookTargets("host"))
	if err != nil {
		return nil, err
	}
	var bind runtime.Bindings
	if h != nil {
		bind.Answer("*", h)
	}
	exe, err := p.Compile(ctx, hlocb.OnBackend(b), hlocb.Bind(&bind), hlocb.Timeout(timeout))
	if err != nil {
		return nil, err
	}
	args := []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{int64(elements)})}
	// Check for Ctrl-C only between executions: with a cancellable context, each execution would run on a new
	// goroutine.
	var times []time.Duration
	for i := 0; i <= rounds && ctx.Err() == nil; i++ {
		start := time.Now()
		if _, err = exe.RunTensors(context.WithoutCancel(ctx), args); err != nil {
			break
		}
		if i > 0 {
			times = append(times, time.Since(start))
		}
	}
	if err = errors.Join(err, ctx.Err(), exe.Close()); err != nil {
		return nil, err
	}
	slices.Sort(times)
	return times, nil
}
