package interp

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestZeroOfType: constant(0, element_type) of the specification is NaN in f8E8M0FNU, which has no zero. In quantized
// types it is the zero point. Padding and holes of a convolution add nothing, as in upstream's interpreter and XLA.
func TestZeroOfType(t *testing.T) {
	const nan = 0xFF
	for _, c := range []struct {
		name, text string
		args       []*tensor.Tensor
		want       []uint64
	}{
		{"nobody sends", `func.func @main(%x: tensor<2xT>) -> tensor<2xT> {
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<> : tensor<0x2xi64>} : (tensor<2xT>) -> tensor<2xT>
  return %0 : tensor<2xT>
}`, []*tensor.Tensor{small(tensor.Shape{2}, 127, 128)}, []uint64{nan, nan}},
		{"quantized, nobody sends", `func.func @main() -> tensor<2xi8> {
  %x = stablehlo.constant() {value = dense<5> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32:0, {0.5:-3, 0.25:7}>>
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<> : tensor<0x2xi64>} : (tensor<2x!quant.uniform<i8:f32:0, {0.5:-3, 0.25:7}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5:-3, 0.25:7}>>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2x!quant.uniform<i8:f32:0, {0.5:-3, 0.25:7}>>) -> tensor<2xi8>
  return %1 : tensor<2xi8>
}`, nil, []uint64{0xFD, 7}},
		{"row of no group", `func.func @main(%l: tensor<2x1xT>, %r: tensor<1x1x1xT>) -> tensor<2x1xT> {
  %n = stablehlo.constant dense<1> : tensor<1xi32>
  %0 = "chlo.ragged_dot"(%l, %r, %n) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<2x1xT>, tensor<1x1x1xT>, tensor<1xi32>) -> tensor<2x1xT>
  return %0 : tensor<2x1xT>
}`, []*tensor.Tensor{small(tensor.Shape{2, 1}, 127, 128), small(tensor.Shape{1, 1, 1}, 128)}, []uint64{128, nan}},
		{"sum of nothing", `func.func @main(%l: tensor<1x0xT>, %r: tensor<0x1xT>) -> tensor<1x1xT> {
  %0 = stablehlo.dot %l, %r : (tensor<1x0xT>, tensor<0x1xT>) -> tensor<1x1xT>
  return %0 : tensor<1x1xT>
}`, []*tensor.Tensor{small(tensor.Shape{1, 0}), small(tensor.Shape{0, 1})}, []uint64{nan}},
		{"padding and holes", `func.func @main(%x: tensor<1x2x1xT>, %k: tensor<2x1x1xT>) -> tensor<1x5x1xT> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[2, 1]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1xT>, tensor<2x1x1xT>) -> tensor<1x5x1xT>
  return %0 : tensor<1x5x1xT>
}`, []*tensor.Tensor{small(tensor.Shape{1, 2, 1}, 127, 129), small(tensor.Shape{2, 1, 1}, 127, 128)}, []uint64{nan, 128, 127, 130, 129}},
	} {
		out := run(t, strings.ReplaceAll(c.text, "xT>", "xf8E8M0FNU>"), c.args...)
		for i, w := range c.want {
			if got := out[0].Bits(i); got != w {
				t.Errorf("%s: element %d is %#x, not %#x", c.name, i, got, w)
			}
		}
	}
}

func small(shape tensor.Shape, codes ...uint64) *tensor.Tensor {
	t := tensor.New(tensor.F8E8M0FNU, shape)
	for i, c := range codes {
		t.SetBits(i, c)
	}
	return t
}

// TestEmptyOfHugeDimension makes values without elements that have another dimension far too large for a loop.
func TestEmptyOfHugeDimension(t *testing.T) {
	for _, body := range []string{
		`%0 = stablehlo.iota dim = 0 : tensor<1000000000000x0xf32>`,
		`%s = stablehlo.constant dense<[1, 2]> : tensor<2xui64>
  %r, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<1000000000000x0xui32>)
  %0 = stablehlo.convert %1 : (tensor<1000000000000x0xui32>) -> tensor<1000000000000x0xf32>`,
		`%i = stablehlo.iota dim = 0 : tensor<1000000000000x0x1xi32>
  %b = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = "stablehlo.gather"(%b, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<1000000000000x0x1xi32>) -> tensor<1000000000000x0xf32>`,
	} {
		out := run(t, "func.func @main() -> tensor<1000000000000x0xf32> {\n  "+body+"\n  return %0 : tensor<1000000000000x0xf32>\n}")
		if n := out[0].NumElements(); n != 0 {
			t.Errorf("%d elements of\n%s", n, body)
		}
	}
}
