package interp

import (
	"slices"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

func TestEinsum(t *testing.T) {
	out := run(t, `func.func @main() -> (tensor<2x2xi32>, tensor<2xi32>) {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = stablehlo.constant dense<[[1, 0], [0, 1], [1, 1]]> : tensor<3x2xi32>
  %r = stablehlo.einsum %a, %b, config = "ab,bc->ca" : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  %s = stablehlo.unary_einsum %a, config = "ab->a" : (tensor<2x3xi32>) -> tensor<2xi32>
  return %r, %s : tensor<2x2xi32>, tensor<2xi32>
}`)
	if got, want := tensor.View[int32](out[0]), []int32{4, 10, 5, 11}; !slices.Equal(got, want) {
		t.Errorf("einsum gives %v, want %v", got, want)
	}
	if got, want := tensor.View[int32](out[1]), []int32{6, 15}; !slices.Equal(got, want) {
		t.Errorf("unary_einsum gives %v, want %v", got, want)
	}
}

func TestAsync(t *testing.T) {
	out := run(t, `func.func @main(%a: tensor<2xi32>) -> tensor<2xi32> {
  %f = "stablehlo.async_start"(%a) ({
  ^bb0(%x: tensor<2xi32>):
    %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
    "stablehlo.return"(%y) : (tensor<2xi32>) -> ()
  }) : (tensor<2xi32>) -> !stablehlo.future<tensor<2xi32>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}`, func() *tensor.Tensor {
		x := tensor.New(tensor.I32, tensor.Shape{2})
		copy(tensor.View[int32](x), []int32{3, 4})
		return x
	}())
	if got := tensor.View[int32](out[0]); !slices.Equal(got, []int32{3, 4}) {
		t.Errorf("got %v", got)
	}
}
