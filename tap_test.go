package hlocb_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/runtime"
)

// TestTap: taps show values of a program without hooks, to a handler or as their kind says, on the executions that they
// select. A tap that cannot be served is refused when the program is read.
func TestTap(t *testing.T) {
	const text = `func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %n = stablehlo.constant dense<10> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %twice = stablehlo.add %v, %v : tensor<f32> loc(callsite("layer"("net.py":3:5) at "main"("net.py":9:1)))
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %twice : tensor<i32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}`
	for _, backend := range []string{"engine", "cpu"} {
		t.Run(backend, func(t *testing.T) {
			var seen []float32
			see := hlocb.ObserverFunc(func(_ context.Context, v hlocb.Array[float32]) error {
				seen = append(seen, v.Data[0])
				return nil
			})
			var printed bytes.Buffer
			p, err := hlocb.Parse(t.Context(), "m.mlir", []byte(text),
				hlocb.Tap("net.py:3", hlocb.Every(4), hlocb.To(see)),
				hlocb.Tap("under:net.py:9=stats", hlocb.First(1), hlocb.Output(&printed)))
			if err != nil {
				t.Fatal(err)
			}
			b, err := p.OpenBackend(t.Context(), backend, hlocb.DefaultBackends())
			if err != nil {
				t.Skip("skip:", err)
			}
			defer b.Close()
			exe, err := p.Compile(t.Context(), hlocb.OnBackend(b))
			if err != nil {
				t.Fatal(err)
			}
			defer exe.Close()
			if _, err := exe.Run(t.Context(), hlocb.Scalar[float32](1)); err != nil {
				t.Fatal(err)
			}
			if want := []float32{2, 32, 512}; !slices.Equal(seen, want) {
				t.Errorf("the handler saw %v, expected %v", seen, want)
			}
			if got := printed.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "min 2 max 2") {
				t.Errorf("the tap of statistics printed\n%s", got)
			}
		})
	}
	// A handler that does not fit is refused before the program runs, also if it sees only some events.
	wrong := hlocb.ObserverFunc(func(context.Context, hlocb.Array[int32]) error { return nil })
	for _, options := range [][]hlocb.TapOption{{hlocb.To(wrong)}, {hlocb.To(wrong), hlocb.Every(4)}} {
		p, err := hlocb.Parse(t.Context(), "m.mlir", []byte(text), hlocb.Tap("net.py:3", options...))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Compile(t.Context(), hlocb.On("engine")); !errors.As(err, new(*runtime.BindError)) {
			t.Errorf("%d options: error is %v, expected a BindError", len(options), err)
		}
	}
	for spec, want := range map[string]string{
		"net.py:9":    "tap net.py:9 selects no value", // no value has this innermost frame
		"(":           "tap (: error parsing regexp",
		"twice=stats": "it has a kind and a handler",
		"x=record":    "use To with handlers.NewRecord",
	} {
		_, err := hlocb.Parse(t.Context(), "m.mlir", []byte(text), hlocb.Tap(spec, hlocb.To(hlocb.ObserverFunc(func(context.Context, hlocb.Array[float32]) error { return nil }))))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, expected %q", spec, err, want)
		}
	}
}
