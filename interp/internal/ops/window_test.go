package ops_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestEmptyWindow: negative padding may remove more than the whole input. No window is left then (spec,
// "reduce_window": num_windows is 0 if the window is larger than the padded input).
func TestEmptyWindow(t *testing.T) {
	out := run(t, `func.func @main(%a: tensor<0x2xf32>, %z: tensor<f32>) -> tensor<0x4xf32> {
  %0 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 1>, padding = dense<[[-1, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<0x2xf32>, tensor<f32>) -> tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}`, tensor.New(tensor.F32, tensor.Shape{0, 2}), tensor.New(tensor.F32, nil))
	if !out[0].Shape().Equal(tensor.Shape{0, 4}) {
		t.Errorf("result is of shape %v", out[0].Shape())
	}
}

// TestWindowsWithBranches: a region may hold any op. A region with a branch returns the same as the same computation
// without the branch.
func TestWindowsWithBranches(t *testing.T) {
	branch := `%p = stablehlo.compare GT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<i32>
    }, {
      stablehlo.return %y : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>`
	keep := `%q = stablehlo.compare GE, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = "stablehlo.if"(%q) ({
      stablehlo.return %q : tensor<i1>
    }, {
      stablehlo.return %q : tensor<i1>
    }) : (tensor<i1>) -> tensor<i1>`
	for _, c := range []struct{ op, plain, other, ty string }{
		{`"stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>, padding = dense<1> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    $
    stablehlo.return %s : tensor<i32>
  }) : (tensor<5x7xi32>, tensor<i32>) -> tensor<6x4xi32>`, "%s = stablehlo.maximum %x, %y : tensor<i32>", branch, "tensor<6x4xi32>"},
		{`"stablehlo.select_and_scatter"(%a, %b, %z) <{window_dimensions = array<i64: 2, 3>, padding = dense<1> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    $
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<5x7xi32>, tensor<6x7xi32>, tensor<i32>) -> tensor<5x7xi32>`, "%s = stablehlo.compare GE, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>", keep, "tensor<5x7xi32>"},
	} {
		a, b, z := tensor.New(tensor.I32, tensor.Shape{5, 7}), tensor.New(tensor.I32, tensor.Shape{6, 7}), tensor.New(tensor.I32, nil)
		for i := range a.NumElements() {
			a.SetFloat(i, float64(i*17%23-9))
		}
		for i := range b.NumElements() {
			b.SetFloat(i, float64(i+1))
		}
		z.SetFloat(0, -3)
		var got [2]*tensor.Tensor
		for i, body := range []string{c.plain, c.other} {
			text := fmt.Sprintf("func.func @main(%%a: tensor<5x7xi32>, %%b: tensor<6x7xi32>, %%z: tensor<i32>) -> %[1]s {\n  %%0 = %[2]s\n  return %%0 : %[1]s\n}", c.ty, strings.Replace(c.op, "$", body, 1))
			got[i] = run(t, text, a, b, z)[0]
		}
		if !bytes.Equal(got[0].Bytes(), got[1].Bytes()) {
			t.Errorf("%s: a region with a branch gives %s, without one %s", c.op[:30], got[1].AppendLiteral(nil, 64), got[0].AppendLiteral(nil, 64))
		}
	}
}

// TestCollectiveWithBranch: the region of a collective may also hold a branch.
func TestCollectiveWithBranch(t *testing.T) {
	text := `func.func @main(%a: tensor<3xi32>) -> tensor<3xi32> {
  %id = stablehlo.replica_id : tensor<ui32>
  %k = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
  %w = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %b = stablehlo.multiply %a, %w : tensor<3xi32>
  %0 = "stablehlo.all_reduce"(%b) <{replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %p = stablehlo.compare GT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<i32>
    }, {
      stablehlo.return %y : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}`
	exe, err := compileWith(t, text, interp.Options{}, runtime.CompileOptions{Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	a := tensor.New(tensor.I32, tensor.Shape{3})
	for i, v := range []float64{5, -5, 0} {
		a.SetFloat(i, v)
	}
	out, err := exe.Run(t.Context(), []*tensor.Tensor{a})
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.View[int32](out[0]); got[0] != 10 || got[1] != 0 || got[2] != 0 {
		t.Errorf("gives %v", got)
	}
}

// TestPaddingIsLeftOut: windows leave padding out, as on XLA's CPU plugin. The counts start with 1.
func TestPaddingIsLeftOut(t *testing.T) {
	runText(t, `func.func @main() -> (tensor<4xbf16>, tensor<2xi32>, tensor<2xi32>) {
  %x = stablehlo.constant dense<1.0> : tensor<4xbf16>
  %i = stablehlo.constant dense<1.0> : tensor<bf16>
  %0 = "stablehlo.reduce_window"(%x, %i) <{padding = dense<[[1, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  // With holes between the elements.
  %j = stablehlo.constant dense<2> : tensor<i32>
  %y = stablehlo.constant dense<[3, 5]> : tensor<2xi32>
  %1:2 = "stablehlo.reduce_window"(%y, %y, %j, %j) <{base_dilations = array<i64: 2>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<i32>, %c: tensor<i32>, %b: tensor<i32>, %d: tensor<i32>):
    %s = stablehlo.multiply %a, %b : tensor<i32>
    %m = stablehlo.maximum %c, %d : tensor<i32>
    stablehlo.return %s, %m : tensor<i32>, tensor<i32>
  }) : (tensor<2xi32>, tensor<2xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
  return %0, %1#0, %1#1 : tensor<4xbf16>, tensor<2xi32>, tensor<2xi32>
}`, "dense<[3.000000e+00, 4.000000e+00, 4.000000e+00, 3.000000e+00]> : tensor<4xbf16>",
		"dense<[6, 10]> : tensor<2xi32>", "dense<[3, 5]> : tensor<2xi32>")
}
