package shardy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/shardy"
	"github.com/hlocb/hlocb/internal/testkit"
)

// TestResultShardings: shardings of results follow from those of arguments. A callback without results states one
// sharding, as a token's in JAX, and a callback with results one for each.
func TestResultShardings(t *testing.T) {
	m := testkit.Parse(t, "in.mlir", `module {
  sdy.mesh @mesh = <["x"=2]>
  sdy.mesh @maximal = <[], device_ids=[0]>
  func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<4x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
    stablehlo.custom_call @none(%a) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal, []>]>} : (tensor<8x4xf32>) -> ()
    %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %1:2 = stablehlo.custom_call @two(%a) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>, <@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    %2 = stablehlo.custom_call @open(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0, %1#0, %1#1, %2 : tensor<4x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
  }
}`)
	want := [][]int{{0, 1}, {0, 1}, {1, 0}, nil} // the number of axes of each dimension
	got := shardy.ResultShardings(m)
	if len(got) != len(want) {
		t.Fatalf("%d shardings, want %d", len(got), len(want))
	}
	for i, s := range got {
		if (s == nil) != (want[i] == nil) {
			t.Errorf("result %d: %v, want %v", i, s, want[i])
			continue
		}
		for d, n := range want[i] {
			if len(s.Dims[d].Axes) != n {
				t.Errorf("result %d: dimension %d has axes %v, want %d", i, d, s.Dims[d].Axes, n)
			}
		}
	}
}

// TestPropagation: a result is sharded as what it is computed from. Each case is the body of main with the arguments
// %a: 8x4 on x, %b: 4x16 on y in its last dimension, and %r: 8x4, which every device holds whole.
func TestPropagation(t *testing.T) {
	for _, c := range []struct{ body, result, want string }{
		{`%0 = stablehlo.add %a, %r : tensor<8x4xf32>`, "8x4", "[x] []"},
		{`%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>`, "8x16", "[x] [y]"},
		{`%0 = stablehlo.dot_general %a, %r, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>`, "4x4", "[] []"},
		{`%0 = stablehlo.dot_general %a, %r, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8xf32>`, "8", "[x]"},
		{`%0 = stablehlo.transpose %b, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>`, "16x4", "[y] []"},
		{`%0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<8x1x2x2xf32>`, "8x1x2x2", "[x] [] [] []"},
		{`%0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<4x8xf32>`, "4x8", "[] []"},
		{`%0 = stablehlo.reshape %b : (tensor<4x16xf32>) -> tensor<2x2x16xf32>`, "2x2x16", "[] [] [y]"},
		{`%c = stablehlo.constant dense<0.0> : tensor<f32>
		  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>`, "8", "[x]"},
		{`%c = stablehlo.constant dense<0.0> : tensor<f32>
		  %0 = stablehlo.reduce(%b init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4x16xf32>, tensor<f32>) -> tensor<16xf32>`, "16", "[y]"},
		{`%0 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<3x8x4xf32>`, "3x8x4", "[] [x] []"},
		{`%0 = stablehlo.concatenate %a, %r, dim = 1 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>`, "8x8", "[x] []"},
		{`%0 = stablehlo.slice %a [0:4, 0:4] : (tensor<8x4xf32>) -> tensor<4x4xf32>`, "4x4", "[] []"},
		{`%0 = stablehlo.optimization_barrier %a : tensor<8x4xf32>`, "8x4", "[x] []"},
		{`%0 = func.call @same(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>`, "8x4", "[x] []"},
		{`%0 = stablehlo.while(%i = %a) : tensor<8x4xf32> cond {
		    %f = stablehlo.constant dense<false> : tensor<i1>
		    stablehlo.return %f : tensor<i1>
		  } do { stablehlo.return %i : tensor<8x4xf32> }`, "8x4", "[x] []"},
		// A constraint keeps what it leaves open, also on JAX's empty mesh, and replaces the rest.
		{`%0 = sdy.sharding_constraint %a <@empty, [{?}, {?}]> : tensor<8x4xf32>`, "8x4", "[x] []"},
		{`%0 = sdy.sharding_constraint %a <@empty, [{}, {?}]> : tensor<8x4xf32>`, "8x4", "[] []"},
		{`%0 = sdy.sharding_constraint %a <@mesh, [{?}, {"y"}]> : tensor<8x4xf32>`, "8x4", "[x] [y]"},
		{`%0 = sdy.sharding_constraint %a <@mesh, [{?}, {"x"}]> : tensor<8x4xf32>`, "8x4", "[] [x]"},
	} {
		m := testkit.Parse(t, "in.mlir", fmt.Sprintf(`module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @empty = <[]>
  func.func @main(%%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      %%b: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %%r: tensor<8x4xf32>) -> tensor<%sxf32> {
    %s
    return %%0 : tensor<%[1]sxf32>
  }
  func.func private @same(%%a: tensor<8x4xf32>) -> tensor<8x4xf32> { return %%a : tensor<8x4xf32> }
}`, c.result, c.body))
		s := shardy.ResultShardings(m)[0]
		if s == nil {
			t.Errorf("%s: no sharding, expected %s", c.body, c.want)
			continue
		}
		var dims []string
		for _, d := range s.Dims {
			var axes []string
			for _, a := range d.Axes {
				axes = append(axes, a.Name)
			}
			dims = append(dims, fmt.Sprint(axes))
		}
		if got := strings.Join(dims, " "); got != c.want {
			t.Errorf("%s: %s, expected %s", c.body, got, c.want)
		}
	}
}
