package opgen_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/opgen"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

func codes(d tensor.DType, shape tensor.Shape, bits ...uint64) *tensor.Tensor {
	t := tensor.New(d, shape)
	for i, b := range bits {
		t.SetBits(i, b)
	}
	return t
}

func complexNumber(v complex128) *tensor.Tensor {
	t := tensor.New(tensor.Complex64, nil)
	t.SetComplex(0, v)
	return t
}

func float32Bits(v float32) uint64 { return uint64(math.Float32bits(v)) }

// repeated returns a vector of n equal elements: the result of XLA's vector loops.
func repeated(d tensor.DType, n int, code uint64) *tensor.Tensor {
	return codes(d, tensor.Shape{int64(n)}, slices.Repeat([]uint64{code}, n)...)
}

// program reads a program that is not random.
func program(text string, args ...*tensor.Tensor) (*opgen.Program, error) {
	reg, err := all.Registry()
	if err != nil {
		return nil, err
	}
	m, err := parse.Parse(diag.NewSource("example.mlir", []byte(text)), ir.NewContext(reg), parse.Options{})
	if err != nil {
		return nil, err
	}
	return &opgen.Program{Run: &runtime.Program{Module: m, Manifest: &hook.Manifest{}}, Args: args}, nil
}

// TestDeviations shows each deviation of XLA on an example and checks that the engine follows the specification. The
// deviations that programs avoid have examples too.
func TestDeviations(t *testing.T) {
	engine, xla := engines(t)
	nan, one := uint64(math.Float32bits(float32(math.NaN()))), uint64(math.Float32bits(1))
	shown := map[string]bool{}
	for _, c := range []struct {
		name, text  string
		args        []*tensor.Tensor
		want, other []uint64 // the codes of the engine, and those of XLA
	}{
		{"no denormals", `func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  return %0 : tensor<2xf32>
}`, []*tensor.Tensor{codes(tensor.F32, tensor.Shape{2}, 1, 1<<31|5), codes(tensor.F32, tensor.Shape{2}, 0, 1<<31)}, []uint64{1, 1<<31 | 5}, []uint64{0, 1 << 31}},
		{"no denormals", `func.func @main(%x: tensor<1xbf16>) -> tensor<1xbf16> {
  %0 = stablehlo.add %x, %x : tensor<1xbf16>
  return %0 : tensor<1xbf16>
}`, []*tensor.Tensor{codes(tensor.BF16, tensor.Shape{1}, 63)}, []uint64{126}, []uint64{0}},
		{"no denormals", `func.func @main(%l: tensor<32xbf16>, %x: tensor<32xbf16>, %h: tensor<32xbf16>) -> tensor<32xbf16> {
  %0 = stablehlo.clamp %l, %x, %h : tensor<32xbf16>
  return %0 : tensor<32xbf16>
}`, []*tensor.Tensor{repeated(tensor.BF16, 32, 0x8001), repeated(tensor.BF16, 32, 0x7F), repeated(tensor.BF16, 32, 0x4000)}, []uint64{0x7F}, []uint64{0}},
		{"sorts by way of wider types", `func.func @main(%x: tensor<2xf8E5M2FNUZ>) -> tensor<2xf8E5M2FNUZ> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f8E5M2FNUZ>, %b: tensor<f8E5M2FNUZ>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f8E5M2FNUZ>, tensor<f8E5M2FNUZ>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2xf8E5M2FNUZ>) -> tensor<2xf8E5M2FNUZ>
  return %0 : tensor<2xf8E5M2FNUZ>
}`, []*tensor.Tensor{codes(tensor.F8E5M2FNUZ, tensor.Shape{2}, 5, 4)}, []uint64{4, 5}, []uint64{5, 4}},
		{"sorts by way of wider types", `func.func @main(%x: tensor<2xf8E5M2>) -> tensor<2xf8E5M2> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f8E5M2>, %b: tensor<f8E5M2>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f8E5M2>, tensor<f8E5M2>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2xf8E5M2>) -> tensor<2xf8E5M2>
  return %0 : tensor<2xf8E5M2>
}`, []*tensor.Tensor{codes(tensor.F8E5M2, tensor.Shape{2}, 0x7F, 0x7D)}, []uint64{0x7D, 0x7F}, []uint64{0x7F, 0x7F}},
		{"extrema of complex numbers of one real part", `func.func @main(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>) -> tensor<f32> {
  %0 = stablehlo.minimum %x, %y : tensor<complex<f32>>
  %1 = stablehlo.imag %0 : (tensor<complex<f32>>) -> tensor<f32>
  return %1 : tensor<f32>
}`, []*tensor.Tensor{complexNumber(1 + 0.5i), complexNumber(1 + 0.25i)}, []uint64{float32Bits(0.25)}, []uint64{float32Bits(0.5)}},
		{"sorts of 2-bit integers", `func.func @main(%x: tensor<7xui2>) -> tensor<7xui2> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<ui2>, %b: tensor<ui2>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<ui2>, tensor<ui2>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<7xui2>) -> tensor<7xui2>
  return %0 : tensor<7xui2>
}`, []*tensor.Tensor{codes(tensor.UI2, tensor.Shape{7}, 0, 1, 2, 3, 0, 1, 3)}, []uint64{0, 0, 1, 1, 2, 3, 3}, []uint64{0, 1, 2, 3, 0, 1, 3}},
		{"powers of integers", `func.func @main(%x: tensor<2xi32>, %y: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.power %x, %y : tensor<2xi32>
  return %0 : tensor<2xi32>
}`, []*tensor.Tensor{codes(tensor.I32, tensor.Shape{2}, 2, 3), codes(tensor.I32, tensor.Shape{2}, 64, 66)}, []uint64{0, 1165272329}, []uint64{1, 9}},
		{"powers of integers", `func.func @main(%x: tensor<3xui8>, %y: tensor<3xui8>) -> tensor<3xui8> {
  %0 = stablehlo.power %x, %y : tensor<3xui8>
  return %0 : tensor<3xui8>
}`, []*tensor.Tensor{codes(tensor.UI8, tensor.Shape{3}, 3, 255, 255), codes(tensor.UI8, tensor.Shape{3}, 254, 254, 255)}, []uint64{57, 1, 255}, []uint64{0, 1, 255}},
		{"square roots rounded twice", `func.func @main(%x: tensor<1xf8E3M4>) -> tensor<1xf8E3M4> {
  %0 = stablehlo.sqrt %x : tensor<1xf8E3M4>
  return %0 : tensor<1xf8E3M4>
}`, []*tensor.Tensor{codes(tensor.F8E3M4, tensor.Shape{1}, 0x6F)}, []uint64{0x4F}, []uint64{0x50}}, // of 15.5: 3.875, and 4
		{"the least f8E8M0FNU", `func.func @main(%x: tensor<1xf8E8M0FNU>, %y: tensor<1xf8E8M0FNU>) -> tensor<1xf8E8M0FNU> {
  %0 = stablehlo.add %x, %y : tensor<1xf8E8M0FNU>
  return %0 : tensor<1xf8E8M0FNU>
}`, []*tensor.Tensor{codes(tensor.F8E8M0FNU, tensor.Shape{1}, 0), codes(tensor.F8E8M0FNU, tensor.Shape{1}, 1)}, []uint64{2}, []uint64{1}},
		{"next_after of f8E8M0FNU", `func.func @main(%x: tensor<1xf8E8M0FNU>, %y: tensor<1xf8E8M0FNU>) -> tensor<1xf8E8M0FNU> {
  %0 = chlo.next_after %x, %y : tensor<1xf8E8M0FNU>, tensor<1xf8E8M0FNU> -> tensor<1xf8E8M0FNU>
  return %0 : tensor<1xf8E8M0FNU>
}`, []*tensor.Tensor{codes(tensor.F8E8M0FNU, tensor.Shape{1}, 0), codes(tensor.F8E8M0FNU, tensor.Shape{1}, 0xF1)}, []uint64{1}, []uint64{0x81}},
		{"next_after of f8E8M0FNU", `func.func @main(%x: tensor<2xf8E8M0FNU>, %y: tensor<2xf8E8M0FNU>) -> tensor<2xf8E8M0FNU> {
  %0 = chlo.next_after %x, %y : tensor<2xf8E8M0FNU>, tensor<2xf8E8M0FNU> -> tensor<2xf8E8M0FNU>
  return %0 : tensor<2xf8E8M0FNU>
}`, []*tensor.Tensor{codes(tensor.F8E8M0FNU, tensor.Shape{2}, 0x80, 0x10), codes(tensor.F8E8M0FNU, tensor.Shape{2}, 0x10, 0x81)}, []uint64{0x7F, 0x11}, []uint64{1, 0x0F}},
		{"products below the smallest normal number", `func.func @main(%x: tensor<1xbf16>, %y: tensor<1xbf16>) -> tensor<1xbf16> {
  %0 = stablehlo.multiply %x, %y : tensor<1xbf16>
  return %0 : tensor<1xbf16>
}`, []*tensor.Tensor{codes(tensor.BF16, tensor.Shape{1}, 0x1FFF), codes(tensor.BF16, tensor.Shape{1}, 0x2000)}, []uint64{0x80}, []uint64{0}},
		{"steps of functions of f8E8M0FNU", `func.func @main(%x: tensor<1xf8E8M0FNU>) -> tensor<1xf8E8M0FNU> {
  %0 = chlo.asin %x : tensor<1xf8E8M0FNU> -> tensor<1xf8E8M0FNU>
  return %0 : tensor<1xf8E8M0FNU>
}`, []*tensor.Tensor{codes(tensor.F8E8M0FNU, tensor.Shape{1}, 127)}, []uint64{128}, []uint64{255}},
		{"steps of functions of f8E8M0FNU", `func.func @main(%x: tensor<1xf8E8M0FNU>) -> tensor<1xf8E8M0FNU> {
  %0 = chlo.atanh %x : tensor<1xf8E8M0FNU> -> tensor<1xf8E8M0FNU>
  return %0 : tensor<1xf8E8M0FNU>
}`, []*tensor.Tensor{codes(tensor.F8E8M0FNU, tensor.Shape{1}, 126)}, []uint64{126}, []uint64{255}},
		{"reduce_precision of NaN to no mantissa", `func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %0 = stablehlo.reduce_precision %x, format = e2m0 : tensor<1xf32>
  return %0 : tensor<1xf32>
}`, []*tensor.Tensor{codes(tensor.F32, tensor.Shape{1}, nan)}, []uint64{uint64(math.Float32bits(float32(math.Inf(1))))}, []uint64{nan}},
		{"NaN of f4E2M1FN", `func.func @main(%x: tensor<1xf4E2M1FN>) -> tensor<1xf4E2M1FN> {
  %0 = stablehlo.divide %x, %x : tensor<1xf4E2M1FN>
  return %0 : tensor<1xf4E2M1FN>
}`, []*tensor.Tensor{codes(tensor.F4E2M1FN, tensor.Shape{1}, 0)}, []uint64{0}, []uint64{8}},
		{"infinities of f4E2M1FN", `func.func @main(%x: tensor<1xf4E2M1FN>) -> tensor<1xi1> {
  %0 = chlo.is_inf %x : tensor<1xf4E2M1FN> -> tensor<1xi1>
  return %0 : tensor<1xi1>
}`, []*tensor.Tensor{codes(tensor.F4E2M1FN, tensor.Shape{1}, 7)}, []uint64{0}, []uint64{1}},
		{"6 of f4E2M1FN as an integer", `func.func @main(%x: tensor<1xf4E2M1FN>) -> tensor<1xi8> {
  %0 = stablehlo.convert %x : (tensor<1xf4E2M1FN>) -> tensor<1xi8>
  return %0 : tensor<1xi8>
}`, []*tensor.Tensor{codes(tensor.F4E2M1FN, tensor.Shape{1}, 7)}, []uint64{6}, []uint64{127}},
		{"integers of 32 bits and more to bf16", `func.func @main(%x: tensor<1xi32>) -> tensor<1xbf16> {
  %0 = stablehlo.convert %x : (tensor<1xi32>) -> tensor<1xbf16>
  return %0 : tensor<1xbf16>
}`, []*tensor.Tensor{codes(tensor.I32, tensor.Shape{1}, 1<<32-1606418381)}, []uint64{tensor.EncodeFloat(tensor.BF16, -1602224128)}, []uint64{tensor.EncodeFloat(tensor.BF16, -1610612736)}},
		{"bits of negative narrow integers", `func.func @main(%x: tensor<1xi4>) -> tensor<1xi4> {
  %0 = stablehlo.popcnt %x : tensor<1xi4>
  return %0 : tensor<1xi4>
}`, []*tensor.Tensor{codes(tensor.I4, tensor.Shape{1}, 0xff)}, []uint64{4}, []uint64{0xf8}},
		{"NaN of another batch group", `func.func @main(%x: tensor<6x1x1xf32>, %k: tensor<1x1x3xf32>) -> tensor<2x1x3xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 3 : i64, feature_group_count = 1 : i64} : (tensor<6x1x1xf32>, tensor<1x1x3xf32>) -> tensor<2x1x3xf32>
  return %0 : tensor<2x1x3xf32>
}`, []*tensor.Tensor{codes(tensor.F32, tensor.Shape{6, 1, 1}, one, one, one, one, one, one), codes(tensor.F32, tensor.Shape{1, 1, 3}, nan, one, one)}, []uint64{nan, one, one}, []uint64{nan, nan, nan}},
		{"padding behind a cut", `func.func @main(%x: tensor<2x6x3xf32>, %k: tensor<3x3x1xf32>) -> tensor<2x4x1xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[-1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x3xf32>, tensor<3x3x1xf32>) -> tensor<2x4x1xf32>
  return %0 : tensor<2x4x1xf32>
}`, []*tensor.Tensor{codes(tensor.F32, tensor.Shape{2, 6, 3}, slices.Repeat([]uint64{one}, 36)...), codes(tensor.F32, tensor.Shape{3, 3, 1}, slices.Repeat([]uint64{one}, 9)...)},
			[]uint64{float32Bits(9), float32Bits(9), float32Bits(9), float32Bits(6)}, []uint64{float32Bits(9), float32Bits(9), float32Bits(9), float32Bits(8)}},
		{"NaN that meets padding", `func.func @main(%x: tensor<1x1x1xf64>, %k: tensor<2x1x1xf64>) -> tensor<1x1x1xf64> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x1xf64>, tensor<2x1x1xf64>) -> tensor<1x1x1xf64>
  return %0 : tensor<1x1x1xf64>
}`, []*tensor.Tensor{codes(tensor.F64, tensor.Shape{1, 1, 1}, math.Float64bits(1)), codes(tensor.F64, tensor.Shape{2, 1, 1}, math.Float64bits(math.NaN()), math.Float64bits(1))}, []uint64{nan}, []uint64{math.Float64bits(1)}},
		{"clamp between bounds that cross, below a maximum", `func.func @main(%l: tensor<i64>, %x: tensor<i64>, %h: tensor<i64>) -> tensor<i64> {
  %0 = stablehlo.clamp %l, %x, %h : tensor<i64>
  %1 = stablehlo.maximum %0, %l : tensor<i64>
  return %1 : tensor<i64>
}`, []*tensor.Tensor{codes(tensor.I64, nil, 3), codes(tensor.I64, nil, 7), codes(tensor.I64, nil, 1)}, []uint64{3}, []uint64{1}},
		{"update window that sticks out", `func.func @main(%x: tensor<3xi32>, %i: tensor<1x1xi32>, %u: tensor<1x2xi32>) -> tensor<3xi32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<3xi32>, tensor<1x1xi32>, tensor<1x2xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}`, []*tensor.Tensor{codes(tensor.I32, tensor.Shape{3}, 1, 2, 3), codes(tensor.I32, tensor.Shape{1, 1}, 2), codes(tensor.I32, tensor.Shape{1, 2}, 8, 9)}, []uint64{1, 2, 8}, []uint64{1, 2, 3}},
	} {
		shown[c.name] = true
		p, err := program(c.text, c.args...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, side := range []struct {
			backend runtime.Backend
			want    []uint64
		}{{engine, c.want}, {xla, c.other}} {
			out, err := p.Outcome(context.Background(), side.backend)
			if err != nil {
				t.Errorf("%s: %s: %v", c.name, side.backend.Name(), err)
				continue
			}
			for i, w := range side.want {
				if got := out[0].Bits(i); got != w && !(out[0].DType().IsFloat() && math.IsNaN(out[0].FloatAt(i)) && w == nan) {
					t.Errorf("%s: %s gives %#x for element %d, not %#x", c.name, side.backend.Name(), got, i, w)
				}
			}
		}
	}
	for _, d := range opgen.Deviations() {
		if !shown[d.Name] {
			t.Errorf("%s has no example", d.Name)
		}
	}
}
