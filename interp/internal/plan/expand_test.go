package plan_test

import (
	"testing"

	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestExpandedDynamicOps: an op without a kernel is expanded for the shapes of each call. Its region may use values
// from outside.
func TestExpandedDynamicOps(t *testing.T) {
	const text = `func.func @main(%x: tensor<?xf64>, %y: tensor<?x1xf64>, %k: tensor<f64>) -> (tensor<?xf64>, tensor<?x?xf64>, tensor<?xf64>, tensor<f64>, tensor<?xi1>) {
  %0 = chlo.digamma %x : tensor<?xf64> -> tensor<?xf64>
  %1 = chlo.broadcast_multiply %x, %y : (tensor<?xf64>, tensor<?x1xf64>) -> tensor<?x?xf64>
  %2:2 = chlo.scan(%x) inits (%k) dimension=0 {
  ^bb0(%e: tensor<f64>, %c: tensor<f64>):
    %s = stablehlo.add %e, %c : tensor<f64>
    %m = stablehlo.multiply %s, %k : tensor<f64>
    stablehlo.return %m, %s : tensor<f64>, tensor<f64>
  } : (tensor<?xf64>, tensor<f64>) -> (tensor<?xf64>, tensor<f64>)
  %3 = chlo.is_inf %x : tensor<?xf64> -> tensor<?xi1>
  return %0, %1, %2#0, %2#1, %3 : tensor<?xf64>, tensor<?x?xf64>, tensor<?xf64>, tensor<f64>, tensor<?xi1>
}`
	exe, err := compileText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	vector := func(shape tensor.Shape, v ...float64) *tensor.Tensor {
		out := tensor.New(tensor.F64, shape)
		copy(tensor.View[float64](out), v)
		return out
	}
	want := map[int64][]string{
		2: {"dense<[-0.57721566490153342, 0.42278433509846747]> : tensor<2xf64>", "dense<[[3.000000e+00, 6.000000e+00], [5.000000e+00, 1.000000e+01]]> : tensor<2x2xf64>",
			"dense<[1.100000e+02, 1.300000e+02]> : tensor<2xf64>", "dense<1.300000e+01> : tensor<f64>", "dense<false> : tensor<2xi1>"},
		3: {"dense<[-0.57721566490153342, 0.42278433509846747, 1.2561176684318007]> : tensor<3xf64>",
			"dense<[[3.000000e+00, 6.000000e+00, 1.200000e+01], [5.000000e+00, 1.000000e+01, 2.000000e+01]]> : tensor<2x3xf64>",
			"dense<[1.100000e+02, 1.300000e+02, 1.700000e+02]> : tensor<3xf64>", "dense<1.700000e+01> : tensor<f64>", "dense<false> : tensor<3xi1>"},
	}
	for _, n := range []int64{2, 3, 2} {
		out, err := exe.Run(t.Context(), []*tensor.Tensor{vector(tensor.Shape{n}, 1, 2, 4), vector(tensor.Shape{2, 1}, 3, 5), vector(nil, 10)})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range out {
			if got := string(r.AppendLiteral(nil, 100)); got != want[n][i] {
				t.Errorf("%d elements: result %d is %s, not %s", n, i, got, want[n][i])
			}
		}
	}
}

// TestExpandedOnReplicas: several machines share the plan of an op that is expanded when it executes.
func TestExpandedOnReplicas(t *testing.T) {
	exe, err := compileWith(t, `func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.constant dense<20> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %z, %y = %x) : tensor<i32>, tensor<?xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %s = chlo.asinh %y : tensor<?xf32> -> tensor<?xf32>
      %w = stablehlo.concatenate %s, %s, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %e = stablehlo.slice %w [0:2] : (tensor<?xf32>) -> tensor<2xf32>
      %d = stablehlo.convert %e : (tensor<2xf32>) -> tensor<?xf32>
      stablehlo.return %j, %d : tensor<i32>, tensor<?xf32>
    }
  return %r#1 : tensor<?xf32>
}`, interp.Options{}, runtime.CompileOptions{Replicas: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	x := tensor.New(tensor.F32, tensor.Shape{3})
	for i := range 3 {
		x.SetFloat(i, 1)
	}
	out, err := exe.Run(t.Context(), []*tensor.Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	if got := out[0].FloatAt(0); got < 0.3 || got > 0.4 {
		t.Errorf("twenty times asinh of 1 is %v", got)
	}
}
