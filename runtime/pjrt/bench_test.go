//go:build cgo

package pjrt

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// loopProgram calls one inout hook n times inside a device loop.
func loopProgram(n int) *runtime.Program {
	v := tt(tensor.F32, 4)
	s := hookSite(0x4d65822107fcfd52, "loss", hook.InOut, []hook.TensorType{v}, []hook.TensorType{v})
	body := fmt.Sprintf(`%%i0 = stablehlo.constant dense<0> : tensor<i32>
%%n = stablehlo.constant dense<%d> : tensor<i32>
%%one = stablehlo.constant dense<1> : tensor<i32>
%%w:3 = stablehlo.while(%%i = %%i0, %%c = %%c0, %%y = %%x) : tensor<i32>, tensor<ui64>, tensor<4xf32>
cond {
  %%p = stablehlo.compare LT, %%i, %%n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %%p : tensor<i1>
} do {
  %s
  %%j = stablehlo.add %%i, %%one : tensor<i32>
  stablehlo.return %%j, %%r#0, %%r#1 : tensor<i32>, tensor<ui64>, tensor<4xf32>
}
return %%w#2 : tensor<4xf32>
`, n, hookCall("%r", s, "%c", "%y"))
	return program("(%x: tensor<4xf32>) -> tensor<4xf32>", body, s)
}

const loopTrips = 10_000

func benchLoop(b *testing.B, p *runtime.Program, handlers *runtime.Bindings) {
	e := compile(b, p, handlers)
	args := []*tensor.Tensor{f32(tensor.Shape{4}, 1, 2, 3, 4)}
	run(b, e, args...)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		run(b, e, args...)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/loopTrips, "ns/call")
}

// BenchmarkLoopC measures a C handler that does nothing, in the module of BenchmarkLoopGo with another target.
func BenchmarkLoopC(b *testing.B) {
	yardsticks, err := backend(b).Plugin().RegisterYardsticks("cpu")
	if err != nil {
		b.Fatal(err)
	}
	p := loopProgram(loopTrips)
	p.Module = mustParse(strings.ReplaceAll(string(text(p)), hook.Target, yardsticks[0].Target))
	benchLoop(b, p, nil)
}

// BenchmarkLoopGo measures a Go handler that reads one element of its operand.
func BenchmarkLoopGo(b *testing.B) {
	var sum float32
	var h runtime.Bindings
	h.Answer("loss", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		sum += tensor.View[float32](c.Operands[0])[0]
		return nil
	}))
	benchLoop(b, loopProgram(loopTrips), &h)
}

// BenchmarkRun measures one execution: four floats in, one call hook, four floats out.
func BenchmarkRun(b *testing.B) {
	v := tt(tensor.F32, 4)
	s := hookSite(7, "f", hook.Call, []hook.TensorType{v}, []hook.TensorType{v})
	p := program("(%x: tensor<4xf32>) -> tensor<4xf32>", hookCall("%r", s, "%c0", "%x")+"return %r#1 : tensor<4xf32>\n", s)
	var h runtime.Bindings
	h.Answer("f", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		copy(c.Results[0].Bytes(), c.Operands[0].Bytes())
		return nil
	}))
	e := compile(b, p, &h)
	arg := f32(tensor.Shape{4}, 1, 2, 3, 4)
	b.ReportAllocs()
	for range b.N {
		run(b, e, arg)
	}
}

// BenchmarkLoopTimeout measures BenchmarkLoopGo with a timeout: copies, a goroutine and a timer.
func BenchmarkLoopTimeout(b *testing.B) {
	var sum float32
	var h runtime.Bindings
	h.Answer("loss", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		sum += tensor.View[float32](c.Operands[0])[0]
		return nil
	}))
	e := compileTimeout(b, loopProgram(loopTrips), time.Minute, runtime.CompileOptions{Handlers: &h})
	args := []*tensor.Tensor{f32(tensor.Shape{4}, 1, 2, 3, 4)}
	for b.Loop() {
		run(b, e, args...)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/loopTrips, "ns/call")
}
