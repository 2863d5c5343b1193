package shardy_test

import (
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
