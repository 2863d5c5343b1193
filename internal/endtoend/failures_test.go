package endtoend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// threeCalls calls the host three times, each call with the previous answer. In the large program XLA's concurrent
// executor runs the ops between the calls; without chains the plugin would not keep the calls in order.
func threeCalls(large bool) string {
	work := ""
	if large {
		for i := range 8 {
			work += fmt.Sprintf("    %%w%d = stablehlo.dot_general %%%s, %%wide, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n",
				i, map[bool]string{true: "wide", false: fmt.Sprintf("w%d", i-1)}[i == 0])
		}
		work = "    %wide = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>\n" + work
	} else {
		work = "    %w7 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>\n"
	}
	call := func(result, operand, name string, line int) string {
		return fmt.Sprintf("    %%%s = stablehlo.custom_call @host(%%%s) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = %q}} : (tensor<64xf32>) -> tensor<64xf32> loc(\"step.py\":%d:1)\n", result, operand, name, line)
	}
	return "func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64x64xf32>) {\n" +
		call("a", "x", "first", 3) + call("b", "x", "second", 4) + call("c", "x", "third", 5) + work +
		"    %s = stablehlo.add %a, %b : tensor<64xf32>\n    %r = stablehlo.add %s, %c : tensor<64xf32>\n    return %r, %w7 : tensor<64xf32>, tensor<64x64xf32>\n}\n"
}

// hostProgram turns a module's calls of @host into hooks.
func hostProgram(t *testing.T, text string) *runtime.Program {
	t.Helper()
	p, err := rewrite("host.mlir", []byte(text), passes.RewriteHooks{Targets: []string{"host"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFailureKinds makes the second of three hooks fail in each way that a handler can fail, on both engines and many
// times. The error must be the same everywhere and name hook, place, event and cause. No later hook may fire, and the
// next run must work.
func TestFailureKinds(t *testing.T) {
	short := make([]byte, 4*63)
	kinds := []struct {
		name    string
		fail    func(ctx context.Context, c *runtime.Call) error
		want    string
		cause   func(err error) bool
		timeout time.Duration
	}{
		{"error", func(context.Context, *runtime.Call) error { return errors.New("disk full") }, "disk full", nil, 0},
		{"panic", func(context.Context, *runtime.Call) error { panic("index out of range") }, "handler panicked: index out of range", is[*runtime.PanicError], 0},
		{"wrong shape", func(_ context.Context, c *runtime.Call) error {
			return c.SetResult(0, tensor.New(tensor.F32, tensor.Shape{65}))
		}, "handler returned a tensor<65xf32> for result 0, the program expects a tensor<64xf32>", is[*runtime.ShapeError], 0},
		{"wrong size", func(_ context.Context, c *runtime.Call) error { return c.SetResultBytes(0, short) },
			"handler returned 252 bytes for result 0, the program expects 256 (tensor<64xf32>)", is[*runtime.SizeError], 0},
		{"nothing written", func(context.Context, *runtime.Call) error { return nil }, "handler did not write result 0", is[*runtime.UnwrittenError], 0},
		{"a part written", func(_ context.Context, c *runtime.Call) error { copy(c.Results[0].Bytes(), short); return nil },
			"handler did not write all of result 0: element [63] is missing", is[*runtime.UnwrittenError], 0},
		{"timeout", func(ctx context.Context, _ *runtime.Call) error {
			<-ctx.Done()
			time.Sleep(20 * time.Millisecond)
			return nil
		},
			"handler did not return within 300ms", is[*runtime.TimeoutError], 300 * time.Millisecond},
	}
	for _, backend := range backendNames() {
		b := open(t, backend)
		for _, size := range []string{"small", "large"} {
			if !label.Part(size == "small" || backend == "interp") {
				continue
			}
			p := hostProgram(t, threeCalls(size == "large"))
			for _, k := range kinds {
				t.Run(backend+"/"+size+"/"+k.name, func(t *testing.T) {
					var failing atomic.Bool
					var third atomic.Int64
					var h runtime.Bindings
					h.Answer("*", runtime.HandlerFunc(func(ctx context.Context, c *runtime.Call) error {
						if c.Site.Name == "third" {
							third.Add(1)
						}
						if c.Site.Name == "second" && failing.Load() {
							return k.fail(ctx, c)
						}
						return c.SetResult(0, c.Operands[0])
					}))
					e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h, Timeout: k.timeout})
					if err != nil {
						t.Fatal(err)
					}
					defer e.Close()
					x := count(tensor.Shape{64}, 1)
					times := 30
					if k.timeout > 0 {
						times = 3
					}
					want := `hook "second" at step.py:4:1 failed at event 1 on device 0: ` + k.want
					for i := range times {
						failing.Store(true)
						third.Store(0)
						results, err := e.Run(context.Background(), []*tensor.Tensor{x})
						var failed *runtime.HookError
						if !errors.As(err, &failed) || err.Error() != want || results != nil {
							t.Fatalf("run %d: error is\n%v, expected\n%s", i, err, want)
						}
						if k.cause != nil && !k.cause(err) || failed.Hook != "second" || failed.Seq != 1 || failed.Loc != `"step.py":4:1` {
							t.Fatalf("run %d: error is %#v", i, failed)
						}
						if n := third.Load(); n != 0 {
							t.Fatalf("run %d: a hook fired after the one that failed", i)
						}
						failing.Store(false)
						results, err = e.Run(context.Background(), []*tensor.Tensor{x})
						if err != nil || third.Load() != 1 || tensor.View[float32](results[0])[63] != 3*64 {
							t.Fatalf("run %d: the run after the failed one gave %v, %d events of the last hook", i, err, third.Load())
						}
					}
				})
			}
		}
	}
}

// TestReversingAnswer: an answer may use the memory of an operand that is not used later. A handler that writes the
// answer while it reads the operand gets the same result as with separate memory. (Plugins use one memory only if a
// handler asks for device pointers: package runtime/pjrt tests that.)
func TestReversingAnswer(t *testing.T) {
	p := hostProgram(t, `func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %y = stablehlo.add %x, %x : tensor<5xf32>
  %r = stablehlo.custom_call @host(%y) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "reverse"}} : (tensor<5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}
`)
	for _, backend := range backendNames() {
		for _, timeout := range []time.Duration{0, time.Minute} {
			b := open(t, backend)
			var h runtime.Bindings
			h.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
				x, y := tensor.View[float32](c.Operands[0]), tensor.View[float32](c.Results[0])
				for i := range x {
					y[i] = x[len(x)-1-i]
				}
				return nil
			}))
			e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h, Timeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Run(context.Background(), []*tensor.Tensor{count(tensor.Shape{5}, 1)})
			if err != nil || fmt.Sprint(tensor.View[float32](r[0])) != "[10 8 6 4 2]" {
				t.Errorf("%s: reversed is %v, %v", backend, tensor.View[float32](r[0]), err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// is reports whether the error has a cause of type E.
func is[E error](err error) bool {
	var cause E
	return errors.As(err, &cause)
}

// TestFaults injects each fault into the fourth event of a hook and checks the error of the run.
func TestFaults(t *testing.T) {
	const loop = `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<6> : tensor<i32>
  %out:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4xf32>
   cond {
    %more = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %y = stablehlo.custom_call @host(%v) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "ask"}} : (tensor<4xf32>) -> tensor<4xf32>
    %next = stablehlo.add %y, %y : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<4xf32>
  }
  return %out#1 : tensor<4xf32>
}
`
	p := hostProgram(t, loop)
	const failed = `hook "ask" failed at event 3 on device 0: `
	for _, backend := range backendNames() {
		b := open(t, backend)
		for _, f := range []struct {
			fault, err, result string
			events             int
			atLeast            time.Duration
			timeout            time.Duration
		}{
			{"error@3", failed + "injected fault", "", 3, 0, 0},
			{"panic@3", failed + "handler panicked: injected fault", "", 3, 0, 0},
			{"wrong-shape@3", failed + "handler returned a tensor<5xf32> for result 0, the program expects a tensor<4xf32>", "", 3, 0, 0},
			{"unwritten@3", failed + "handler did not write result 0", "", 3, 0, 0},
			{"delay=100ms@3", "", "[64 128 192 256]", 6, 100 * time.Millisecond, 0},
			{"delay=1m@3", failed + "handler did not return within 200ms", "", 3, 200 * time.Millisecond, 200 * time.Millisecond},
			{"nan@3", "", "[NaN NaN NaN NaN]", 6, 0, 0},
			{"zero@3", "", "[0 0 0 0]", 6, 0, 0},
		} {
			t.Run(backend+"/"+f.fault, func(t *testing.T) {
				fault, err := handlers.ParseFault(f.fault)
				if err != nil {
					t.Fatal(err)
				}
				var answered atomic.Int64
				var h runtime.Bindings
				h.Answer("ask", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
					answered.Add(1)
					return c.SetResult(0, c.Operands[0])
				}))
				h.Wrap("ask", fault.Wrap)
				e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h, Timeout: f.timeout})
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				start := time.Now()
				results, err := e.Run(context.Background(), []*tensor.Tensor{count(tensor.Shape{4}, 1)})
				took := time.Since(start)
				switch {
				case f.err == "" && err != nil, f.err != "" && (err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(f.err, `hook "ask"`))):
					t.Fatalf("error is %v, expected %q", err, f.err)
				case f.err == "" && fmt.Sprint(tensor.View[float32](results[0])) != f.result:
					t.Errorf("result is %v, expected %s", tensor.View[float32](results[0]), f.result)
				}
				if int(answered.Load()) != f.events || took < f.atLeast {
					t.Errorf("%d events were answered in %v, expected %d in %v", answered.Load(), took, f.events, f.atLeast)
				}
			})
		}
	}
}
