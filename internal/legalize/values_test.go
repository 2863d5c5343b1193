package legalize_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/print"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// values runs a module on the engine with small numbers: from 0 to 2 for integers, which may be indices, and in steps
// of 1/2 for floats.
func values(m *ir.Module) ([]*tensor.Tensor, error) {
	exe, err := interp.New(interp.Options{}).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	var args []*tensor.Tensor
	for i, a := range exe.Signature().Arguments {
		v := tensor.New(a.Type.DType, a.Type.Shape)
		for k := range v.NumElements() {
			if d := v.DType(); d.IsFloat() || d.IsComplex() {
				v.SetFloat(k, float64((5*k+3*i)%11-4)/2)
			} else {
				v.SetInt(k, int64(k+i)%3)
			}
		}
		args = append(args, v)
	}
	return exe.Run(context.Background(), args)
}

// close reports whether two tensors have the same type, and elements that differ by at most eps of the larger one, or
// by eps.
func close(x, y *tensor.Tensor, eps float64) bool {
	if x.DType() != y.DType() || !slices.Equal(x.Shape(), y.Shape()) {
		return false
	}
	for i := range x.NumElements() {
		if x.Bits(i) == y.Bits(i) {
			continue
		}
		if d := x.DType(); !d.IsFloat() {
			return false
		}
		a, b := x.FloatAt(i), y.FloatAt(i)
		if !(math.IsNaN(a) && math.IsNaN(b)) && !(math.Abs(a-b) <= eps*max(1, math.Abs(a), math.Abs(b))) {
			return false
		}
	}
	return true
}

// TestAlternatives: the engine runs ops by their expansions. Each yields the values of other ops that mean the same:
// in a case, the values %p and %q are equal.
func TestAlternatives(t *testing.T) {
	const params = "%x: tensor<2x3xf32>, %y: tensor<3x2xf32>, %v: tensor<3xf32>, %w: tensor<2xf32>, %i: tensor<2xi32>, %s: tensor<2x2xf32>, %c: tensor<2x3x4xf32>, %n: tensor<2x3xi8>"
	for _, c := range []struct{ name, typ, ops string }{
		{"dot of vectors", "tensor<f32>", `%p = "stablehlo.dot"(%v, %v) : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
			%q = stablehlo.dot_general %v, %v, contracting_dims = [0] x [0] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>`},
		{"dot of a matrix and a vector", "tensor<2xf32>", `%p = "stablehlo.dot"(%x, %v) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
			%q = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>`},
		{"einsum of matrices", "tensor<2x2xf32>", `%p = "stablehlo.einsum"(%x, %y) <{einsum_config = "ab,bc->ca"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
			%1 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
			%q = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>`},
		{"einsum with a batch and a sum", "tensor<2x4xf32>", `%p = "stablehlo.einsum"(%c, %x) <{einsum_config = "abc,ab->ac"}> : (tensor<2x3x4xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
			%q = stablehlo.dot_general %c, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3x4xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>`},
		{"einsum of a diagonal", "tensor<2x3xf32>", `%p = "stablehlo.einsum"(%s, %x) <{einsum_config = "aa,ab->ab"}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
			%a = stablehlo.slice %s [0:1, 0:1] : (tensor<2x2xf32>) -> tensor<1x1xf32>
			%b = stablehlo.slice %s [1:2, 1:2] : (tensor<2x2xf32>) -> tensor<1x1xf32>
			%d = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<2x1xf32>
			%e = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
			%q = stablehlo.multiply %e, %x : tensor<2x3xf32>`},
		{"einsum of one operand", "tensor<4x2xf32>", `%p = "stablehlo.unary_einsum"(%c) <{einsum_config = "abc->ca"}> : (tensor<2x3x4xf32>) -> tensor<4x2xf32>
			%z = stablehlo.constant dense<0.0> : tensor<f32>
			%1 = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x4xf32>
			%q = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>`},
		{"trace", "tensor<f32>", `%p = "stablehlo.unary_einsum"(%s) <{einsum_config = "aa->"}> : (tensor<2x2xf32>) -> tensor<f32>
			%a = stablehlo.slice %s [0:1, 0:1] : (tensor<2x2xf32>) -> tensor<1x1xf32>
			%b = stablehlo.slice %s [1:2, 1:2] : (tensor<2x2xf32>) -> tensor<1x1xf32>
			%d = stablehlo.add %a, %b : tensor<1x1xf32>
			%q = stablehlo.reshape %d : (tensor<1x1xf32>) -> tensor<f32>`},
		{"torch_index_select", "tensor<2x2x4xf32>", `%p = "stablehlo.torch_index_select"(%c, %i) <{dim = 1 : i64, batch_dims = 0 : i64}> : (tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<2x2x4xf32>
			%q = "stablehlo.gather"(%c, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1, 4>}> : (tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<2x2x4xf32>`},
		{"torch_index_select of a batch", "tensor<2x2xf32>", `%j = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>
			%p = "stablehlo.torch_index_select"(%x, %j) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x3xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>
			%0 = stablehlo.slice %x [0:1, 2:3] : (tensor<2x3xf32>) -> tensor<1x1xf32>
			%1 = stablehlo.slice %x [0:1, 0:1] : (tensor<2x3xf32>) -> tensor<1x1xf32>
			%2 = stablehlo.slice %x [1:2, 1:2] : (tensor<2x3xf32>) -> tensor<1x1xf32>
			%3 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
			%4 = stablehlo.concatenate %2, %2, dim = 1 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
			%q = stablehlo.concatenate %3, %4, dim = 0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>`},
		{"batch_norm_inference", "tensor<2x3xf32>", `%one = stablehlo.constant dense<[1.0, 2.0, 0.5]> : tensor<3xf32>
			%p = "stablehlo.batch_norm_inference"(%x, %one, %v, %v, %one) <{epsilon = 0.25 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
			%eps = stablehlo.constant dense<0.25> : tensor<3xf32>
			%0 = stablehlo.add %one, %eps : tensor<3xf32>
			%1 = stablehlo.sqrt %0 : tensor<3xf32>
			%2 = stablehlo.divide %one, %1 : tensor<3xf32>
			%3 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
			%4 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
			%5 = stablehlo.subtract %x, %3 : tensor<2x3xf32>
			%6 = stablehlo.multiply %5, %4 : tensor<2x3xf32>
			%q = stablehlo.add %6, %3 : tensor<2x3xf32>`},
		{"batch_norm_training", "tensor<2xf32>", `%o:3 = "stablehlo.batch_norm_training"(%x, %w, %w) <{epsilon = 0.25 : f32, feature_index = 0 : i64}> : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)
			%z = stablehlo.constant dense<0.0> : tensor<f32>
			%three = stablehlo.constant dense<3.0> : tensor<2xf32>
			%sum = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
			%mean = stablehlo.divide %sum, %three : tensor<2xf32>
			%m = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
			%d = stablehlo.subtract %x, %m : tensor<2x3xf32>
			%d2 = stablehlo.multiply %d, %d : tensor<2x3xf32>
			%sum2 = stablehlo.reduce(%d2 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
			%var = stablehlo.divide %sum2, %three : tensor<2xf32>
			%p = stablehlo.add %o#1, %o#2 : tensor<2xf32>
			%q = stablehlo.add %mean, %var : tensor<2xf32>`},
		{"select_and_scatter", "tensor<6xf32>", `%a = stablehlo.constant dense<[1.0, 5.0, 2.0, 7.0, 7.0, 3.0]> : tensor<6xf32>
			%b = stablehlo.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
			%z = stablehlo.constant dense<0.5> : tensor<f32>
			%p = "stablehlo.select_and_scatter"(%a, %b, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
			^bb0(%k: tensor<f32>, %l: tensor<f32>):
				%1 = stablehlo.compare GE, %k, %l : (tensor<f32>, tensor<f32>) -> tensor<i1>
				stablehlo.return %1 : tensor<i1>
			}, {
			^bb0(%k: tensor<f32>, %l: tensor<f32>):
				%1 = stablehlo.add %k, %l : tensor<f32>
				stablehlo.return %1 : tensor<f32>
			}) : (tensor<6xf32>, tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
			%q = stablehlo.constant dense<[0.5, 10.5, 0.5, 50.5, 0.5, 0.5]> : tensor<6xf32>`},
		{"ragged rows", "tensor<2x2xf32>", `%g = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
			%r = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[-1.0, 0.5], [2.0, -3.0], [0.0, 1.0]]]> : tensor<2x3x2xf32>
			%p = "chlo.ragged_dot"(%x, %r, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<2x3x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
			%q = stablehlo.dot_general %x, %r, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x2xf32>`},
		{"ragged sums", "tensor<2x2x2xf32>", `%g = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
			%p = "chlo.ragged_dot"(%x, %y, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1]>}> : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x2x2xf32>
			%x1 = stablehlo.slice %x [0:2, 0:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
			%y1 = stablehlo.slice %y [0:2, 0:2] : (tensor<3x2xf32>) -> tensor<2x2xf32>
			%x2 = stablehlo.slice %x [0:2, 2:3] : (tensor<2x3xf32>) -> tensor<2x1xf32>
			%y2 = stablehlo.slice %y [2:3, 0:2] : (tensor<3x2xf32>) -> tensor<1x2xf32>
			%1 = stablehlo.dot_general %x1, %y1, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
			%2 = stablehlo.dot_general %x2, %y2, contracting_dims = [1] x [0] : (tensor<2x1xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
			%3 = stablehlo.reshape %1 : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
			%4 = stablehlo.reshape %2 : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
			%q = stablehlo.concatenate %3, %4, dim = 0 : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<2x2x2xf32>`},
		{"TopK", "tensor<2x2xf32>", `%p, %k = stablehlo.custom_call @TopK(%x) {called_computations = [@greater]} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
			%q, %l = chlo.top_k(%x, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)`},
		{"positions of TopK", "tensor<2x2xi32>", `%k, %p = stablehlo.custom_call @TopK(%x) {called_computations = [@greater]} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
			%l, %q = chlo.top_k(%x, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)`},
		{"TopK as a tuple", "tensor<2x2xf32>", `%k = stablehlo.custom_call @TopK(%x) {called_computations = [@greater]} : (tensor<2x3xf32>) -> tuple<tensor<2x2xf32>, tensor<2x2xi32>>
			%p = stablehlo.get_tuple_element %k[0] : (tuple<tensor<2x2xf32>, tensor<2x2xi32>>) -> tensor<2x2xf32>
			%q, %l = chlo.top_k(%x, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)`},
		{"dynamic_top_k", "tensor<2x2xf32>", `%two = stablehlo.constant dense<2> : tensor<i32>
			%p, %k = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %two) : (tensor<2x3xf32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
			%q, %l = chlo.top_k(%x, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)`},
		{"mhlo.erf", "tensor<3xf32>", `%p = stablehlo.custom_call @mhlo.erf(%v) : (tensor<3xf32>) -> tensor<3xf32>
			%q = chlo.erf %v : tensor<3xf32> -> tensor<3xf32>`},
		{"mhlo.topk", "tensor<2x2xf32>", `%p, %k = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
			%q, %l = chlo.top_k(%x, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)`},
		{"broadcast_add along a dimension", "tensor<2x3xf32>", `%p = chlo.broadcast_add %x, %w {broadcast_dimensions = array<i64: 0>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
			%1 = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
			%q = stablehlo.add %x, %1 : tensor<2x3xf32>`},
		{"broadcast_subtract of last dimensions", "tensor<2x3xf32>", `%p = chlo.broadcast_subtract %v, %x : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
			%1 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
			%q = stablehlo.subtract %1, %x : tensor<2x3xf32>`},
		{"broadcast_select", "tensor<2x3xf32>", `%b = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
			%p = chlo.broadcast_select %b, %x, %v : (tensor<3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
			%1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xi1>) -> tensor<2x3xi1>
			%2 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
			%q = stablehlo.select %1, %x, %2 : tensor<2x3xi1>, tensor<2x3xf32>`},
		{"bitcast", "tensor<6xf32>", `%p = "mhlo.bitcast"(%x) : (tensor<2x3xf32>) -> tensor<6xf32>
			%q = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>`},
		{"bitcast of columns", "tensor<6xf32>", `%p = "mhlo.bitcast"(%x) {source_layout = dense<[0, 1]> : tensor<2xindex>, result_layout = dense<0> : tensor<1xindex>} : (tensor<2x3xf32>) -> tensor<6xf32>
			%1 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
			%q = stablehlo.reshape %1 : (tensor<3x2xf32>) -> tensor<6xf32>`},
		{"reduce in a wider type", "tensor<2xi32>", `%z = stablehlo.constant dense<100> : tensor<i8>
			%p = "stablehlo.reduce"(%n, %z) <{dimensions = array<i64: 1>}> ({
			^bb0(%k: tensor<i32>, %l: tensor<i32>):
				%1 = stablehlo.add %k, %l : tensor<i32>
				%2 = stablehlo.add %1, %1 : tensor<i32>
				stablehlo.return %2 : tensor<i32>
			}) : (tensor<2x3xi8>, tensor<i8>) -> tensor<2xi32>
			%m = stablehlo.convert %n : (tensor<2x3xi8>) -> tensor<2x3xi32>
			%zz = stablehlo.constant dense<100> : tensor<i32>
			%q = "stablehlo.reduce"(%m, %zz) <{dimensions = array<i64: 1>}> ({
			^bb0(%k: tensor<i32>, %l: tensor<i32>):
				%1 = stablehlo.add %k, %l : tensor<i32>
				%2 = stablehlo.add %1, %1 : tensor<i32>
				stablehlo.return %2 : tensor<i32>
			}) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testkit.Parse(t, "in.mlir", fmt.Sprintf(`func.func private @greater(%%a: tensor<f32>, %%b: tensor<f32>, %%k: tensor<i32>, %%l: tensor<i32>) -> tensor<i1> {
	%%0 = stablehlo.compare GT, %%a, %%b : (tensor<f32>, tensor<f32>) -> tensor<i1>
	return %%0 : tensor<i1>
}
func.func public @main(%s) -> (%s, %s) {
	%s
	return %%p, %%q : %[2]s, %[2]s
}`, params, c.typ, c.typ, c.ops))
			if err := ir.Verify(m); err != nil {
				t.Fatal(err)
			}
			out, err := values(m)
			if err != nil {
				t.Fatal(err)
			}
			if !close(out[0], out[1], 1e-6) {
				t.Errorf("%s, not %s", out[0].AppendLiteral(nil, 100), out[1].AppendLiteral(nil, 100))
			}
		})
	}
}

// TestQuantizedValues: the integers with which Quantized computes yield the values of the engine, which computes on
// real numbers, up to one step of the result's scale.
func TestQuantizedValues(t *testing.T) {
	for _, c := range []struct {
		name, lhs, rhs, result, op string
		step                       float64
	}{
		{"sum", "2x3x!quant.uniform<i8:f32, 0.5:3>", "2x3x!quant.uniform<i8:f32, 0.5:3>", "2x3x!quant.uniform<i8:f32, 0.5:3>", "stablehlo.add", 0.5},
		{"sum of scales", "2x3x!quant.uniform<i8:f32, 0.5:3>", "2x3x!quant.uniform<i8:f32, 0.25:-2>", "2x3x!quant.uniform<i8:f32, 0.125:1>", "stablehlo.add", 0.125},
		{"product", "2x3x!quant.uniform<i8:f32, 0.5:3>", "2x3x!quant.uniform<i8:f32, 0.25:-2>", "2x3x!quant.uniform<i8:f32, 0.125:1>", "stablehlo.multiply", 0.125},
		{"maximum", "2x3x!quant.uniform<i8:f32, 0.5:3>", "2x3x!quant.uniform<i8:f32, 0.5:3>", "2x3x!quant.uniform<i8:f32, 0.5:3>", "stablehlo.maximum", 0},
		{"maximum of scales", "2x3x!quant.uniform<i8:f32, 0.5:3>", "2x3x!quant.uniform<i8:f32, 0.25:3>", "2x3x!quant.uniform<i8:f32, 0.25:3>", "stablehlo.maximum", 0.25},
		{"dot", "2x3x!quant.uniform<i8:f32, 0.5:3>", "3x2x!quant.uniform<i8:f32, 0.25:0>", "2x2x!quant.uniform<i8:f32, 0.25:1>", "dot", 0.25},
		{"dot to integers", "2x3x!quant.uniform<i8:f32, 0.5:3>", "3x2x!quant.uniform<i8:f32, 0.25:0>", "2x2x!quant.uniform<i32:f32, 0.125:0>", "dot", 0.125},
		{"dot per channel", "2x3x!quant.uniform<i8:f32, 0.5:3>", "3x2x!quant.uniform<i8:f32:1, {0.25:0, 0.5:0}>", "2x2x!quant.uniform<i32:f32:1, {0.125:0, 0.25:0}>", "dot", 0.25},
		{"hybrid dot", "2x3xf32", "3x2x!quant.uniform<i8:f32, 0.25:0>", "2x2xf32", "dot", 0.25},
		{"convolution", "1x4x4x1x!quant.uniform<i8:f32, 0.5:3>", "2x2x1x2x!quant.uniform<i8:f32, 0.25:0>", "1x4x4x2x!quant.uniform<i8:f32, 0.25:1>",
			"[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 0], [0, 1]]}", 0.25},
		{"convolution per channel", "1x4x4x1x!quant.uniform<i8:f32, 0.5:3>", "2x2x1x2x!quant.uniform<i8:f32:3, {0.25:0, 0.5:0}>", "1x2x2x2x!quant.uniform<i32:f32:3, {0.125:0, 0.25:0}>",
			"[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]}", 0.25},
		{"convolution of images by channel", "1x1x4x4x!quant.uniform<i8:f32, 0.5:3>", "2x1x2x2x!quant.uniform<i8:f32, 0.25:0>", "1x2x3x3x!quant.uniform<i8:f32, 0.25:1>",
			"[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}", 0.25},
		{"convolution of volumes", "1x2x2x2x1x!quant.uniform<i8:f32, 0.5:3>", "1x2x2x1x2x!quant.uniform<i8:f32, 0.25:0>", "1x2x1x1x2x!quant.uniform<i8:f32, 0.25:1>",
			"[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f], window = {}", 0.25},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			var params, names []string
			float := func(typ string) string { // with the element type f32
				before, _, _ := strings.Cut(typ, "!")
				return strings.TrimSuffix(before, "f32") + "f32"
			}
			for i, typ := range []string{c.lhs, c.rhs} {
				params = append(params, fmt.Sprintf("%%x%d: tensor<%s>", i, float(typ)))
				names = append(names, fmt.Sprintf("%%x%d", i))
				if float(typ) != typ {
					fmt.Fprintf(&b, "  %%q%d = stablehlo.uniform_quantize %%x%[1]d : (tensor<%s>) -> tensor<%s>\n", i, float(typ), typ)
					names[i] = fmt.Sprintf("%%q%d", i)
				}
			}
			signature := fmt.Sprintf("(tensor<%s>, tensor<%s>) -> tensor<%s>", c.lhs, c.rhs, c.result)
			switch {
			case c.op == "dot":
				fmt.Fprintf(&b, "  %%r = stablehlo.dot_general %s, %s, contracting_dims = [1] x [0] : %s\n", names[0], names[1], signature)
			case strings.HasPrefix(c.op, "["):
				fmt.Fprintf(&b, "  %%r = stablehlo.convolution(%s, %s) dim_numbers = %s {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : %s\n", names[0], names[1], c.op, signature)
			default:
				fmt.Fprintf(&b, "  %%r = %q(%s, %s) : %s\n", c.op, names[0], names[1], signature)
			}
			last := "%r"
			if float(c.result) != c.result {
				last = "%f"
				fmt.Fprintf(&b, "  %%f = stablehlo.uniform_dequantize %%r : (tensor<%s>) -> tensor<%s>\n", c.result, float(c.result))
			}
			m := testkit.Parse(t, "in.mlir", fmt.Sprintf("func.func public @main(%s) -> tensor<%s> {\n%s  return %s : tensor<%[2]s>\n}", strings.Join(params, ", "), float(c.result), b.String(), last))
			if err := ir.Verify(m); err != nil {
				t.Fatal(err)
			}
			want, err := values(m.Clone())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := eachFunc(legalize.Quantized)(m); err != nil {
				t.Fatal(err)
			}
			if err := ir.Verify(m); err != nil {
				t.Fatal(err)
			}
			if legalize.Contains(m, legalize.IsQuantized) {
				t.Error("a quantized op is left")
			}
			got, err := values(m)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got[0].NumElements() {
				if d := math.Abs(got[0].FloatAt(i) - want[0].FloatAt(i)); !(d <= c.step*1.001) {
					t.Errorf("%s, not %s", got[0].AppendLiteral(nil, 100), want[0].AppendLiteral(nil, 100))
					break
				}
			}
		})
	}
}

// TestKeepsValues: the engine computes the same before and after a function of this package changes a sample.
func TestKeepsValues(t *testing.T) {
	changed := map[string]int{}
	for _, path := range testkit.Glob(t, "ops/*.mlir") {
		file := filepath.Base(path)
		for _, s := range testkit.Samples(t, file) {
			m, err := testkit.TryParse(file, s.Main(t))
			if err != nil {
				continue
			}
			before := print.String(m, print.Options{})
			var want []*tensor.Tensor
			for _, name := range slices.Sorted(maps.Keys(whole)) {
				out := m.Clone()
				if _, err := whole[name](out); err != nil || ir.Verify(out) != nil {
					continue
				}
				after := print.String(out, print.Options{})
				if after == before || strings.Contains(after, "shape.") { // the engine runs no ops about shapes
					continue
				}
				if want == nil {
					if want, err = values(m.Clone()); err != nil {
						break
					}
				}
				got, err := values(out)
				if err != nil {
					t.Errorf("%s, %s: %v", s.Op, name, err)
					continue
				}
				changed[name]++
				for i, w := range want {
					if w.DType() != tensor.Invalid && !close(got[i], w, 1e-5) {
						t.Errorf("%s, %s: %s, not %s", s.Op, name, got[i].AppendLiteral(nil, 100), w.AppendLiteral(nil, 100))
					}
				}
			}
		}
	}
	for name, n := range map[string]int{"chlo": 40, "1.0.0": 2, "composites": 10, "complex": 1, "deprecated": 3} {
		if changed[name] < n {
			t.Errorf("%s changed %d samples, want at least %d: %v", name, changed[name], n, changed)
		}
	}
}
