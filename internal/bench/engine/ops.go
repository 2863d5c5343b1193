package engine

import (
	"fmt"
	"strings"
)

// row times one op: a program for each element type, at a size that fills the machine. In its signature and body, T
// stands for the element type.
type row struct {
	name      string
	types     string // separated by spaces
	signature string // operands, named %a, %b, ..., then "->" and the result
	body      string // defines %r
	fill      string // fills of the operands, separated by spaces; see arguments
	reference bool   // the reference interpreter runs the first type in reasonable time
}

// benchProgram is one program of the table.
type benchProgram struct {
	name, text, fill string
	reference        bool
}

const (
	vector = "tensor<1048576xT>" // 1 Mi elements
	matrix = "tensor<1024x1024xT>"
)

// programs returns the programs of the rows.
func programs(rows []row) []benchProgram {
	var out []benchProgram
	for _, r := range rows {
		for i, t := range strings.Fields(r.types) {
			in, result, _ := strings.Cut(r.signature, "->")
			var params []string
			for k, p := range strings.Fields(in) {
				params = append(params, fmt.Sprintf("%%%c: %s", 'a'+k, p))
			}
			result = strings.TrimSpace(result)
			text := fmt.Sprintf("func.func @main(%s) -> %s {\n  %s\n  return %%r : %s\n}\n", strings.Join(params, ", "), result, r.body, result)
			text = strings.NewReplacer("xT", "x"+t, "<T>", "<"+t+">").Replace(text)
			out = append(out, benchProgram{r.name + " " + t, text, r.fill, r.reference && i == 0})
		}
	}
	return out
}

// elementwise returns the rows of ops whose operands and result have one type.
func elementwise(operands int, types, fill string, ops ...string) []row {
	var out []row
	for _, op := range ops {
		if !strings.Contains(op, ".") {
			op = "stablehlo." + op
		}
		in := strings.Repeat(vector+" ", operands)
		args := strings.Join([]string{"%a", "%b", "%c"}[:operands], ", ")
		all := strings.TrimSuffix(strings.Repeat(vector+", ", operands), ", ")
		_, name, _ := strings.Cut(op, ".")
		out = append(out, row{name: name, types: types, fill: fill, signature: in + "-> " + vector,
			body: fmt.Sprintf(`%%r = "%s"(%s) : (%s) -> %s`, op, args, all, vector)})
	}
	return out
}

// region returns the body of an op's region that applies op to two scalars.
func region(op string) string {
	return "({\n  ^bb0(%x: tensor<T>, %y: tensor<T>):\n    %z = stablehlo." + op + " %x, %y : tensor<T>\n    stablehlo.return %z : tensor<T>\n  })"
}

func reduction(name, op, types, in, out, dims string) row {
	return row{name: name, types: types, signature: in + " tensor<T> -> " + out,
		body: `%r = "stablehlo.reduce"(%a, %b) <{dimensions = array<i64: ` + dims + ">}> " + region(op) + " : (" + in + ", tensor<T>) -> " + out}
}

// rows returns the table: every computing op except control flow, collectives and hooks.
func rows() []row {
	const floats, reals, all = "f32 f64 bf16", "f32 f64", "f32 f64 i32 bf16"
	var t []row
	t = append(t, elementwise(2, all, "", "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power")...)
	t = append(t, elementwise(2, reals, "", "atan2", "chlo.next_after")...)
	t = append(t, elementwise(2, "i32", "", "and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical", "chlo.mulhi")...)
	t = append(t, elementwise(1, all, "", "abs", "negate", "sign")...)
	t = append(t, elementwise(1, "i32", "", "not", "popcnt", "count_leading_zeros")...)
	t = append(t, elementwise(1, floats, "", "ceil", "floor", "round_nearest_afz", "round_nearest_even", "exponential", "log", "logistic", "sqrt", "rsqrt", "tanh",
		"sine", "cosine", "chlo.erf", "chlo.square")...)
	t = append(t, elementwise(1, reals, "", "cbrt", "exponential_minus_one", "log_plus_one", "tan", "chlo.acos", "chlo.asin", "chlo.atan", "chlo.asinh", "chlo.atanh",
		"chlo.sinh", "chlo.cosh", "chlo.erfc", "chlo.erf_inv", "chlo.lgamma", "chlo.digamma", "chlo.bessel_i1e")...)
	t = append(t, elementwise(1, reals, "wide", "chlo.acosh")...)
	t = append(t, elementwise(2, "f32", "wide", "chlo.zeta")...)
	t = append(t, elementwise(2, "f32", "order wide", "chlo.polygamma")...)
	t = append(t, elementwise(3, all, "", "clamp")...)
	t = append(t, elementwise(1, "complex<f32>", "", "chlo.conj")...)
	flags, wide := "tensor<1048576xi1>", "tensor<1048576xcomplex<f32>>"
	t = append(t, []row{
		{name: "compare", types: all, signature: vector + " " + vector + " -> " + flags, body: "%r = stablehlo.compare LT, %a, %b : (" + vector + ", " + vector + ") -> " + flags},
		{name: "select", types: all, signature: flags + " " + vector + " " + vector + " -> " + vector, body: "%r = stablehlo.select %a, %b, %c : " + flags + ", " + vector},
		{name: "compare, select", types: all, signature: vector + " " + vector + " -> " + vector,
			body: "%s = stablehlo.compare LT, %a, %b : (" + vector + ", " + vector + ") -> " + flags + "\n  %r = stablehlo.select %s, %b, %a : " + flags + ", " + vector},
		{name: "is_finite", types: floats, signature: vector + " -> " + flags, body: "%r = stablehlo.is_finite %a : (" + vector + ") -> " + flags},
		{name: "is_inf", types: reals, signature: vector + " -> " + flags, body: `%r = "chlo.is_inf"(%a) : (` + vector + ") -> " + flags},
		{name: "convert to f32", types: "f64 i32 bf16 i1", signature: vector + " -> tensor<1048576xf32>", body: "%r = stablehlo.convert %a : (" + vector + ") -> tensor<1048576xf32>"},
		{name: "convert from f32", types: "f64 i32 bf16 f16", signature: "tensor<1048576xf32> -> " + vector, body: "%r = stablehlo.convert %a : (tensor<1048576xf32>) -> " + vector},
		{name: "bitcast_convert", types: "f32", signature: vector + " -> tensor<1048576xi32>", body: "%r = stablehlo.bitcast_convert %a : (" + vector + ") -> tensor<1048576xi32>"},
		{name: "reduce_precision", types: "f32", signature: vector + " -> " + vector, body: "%r = stablehlo.reduce_precision %a, format = e5m10 : " + vector},
		{name: "complex", types: "f32", signature: vector + " " + vector + " -> " + wide, body: "%r = stablehlo.complex %a, %b : " + wide},
		{name: "real", types: "f32", signature: wide + " -> " + vector, body: "%r = stablehlo.real %a : (" + wide + ") -> " + vector},
		{name: "imag", types: "f32", signature: wide + " -> " + vector, body: "%r = stablehlo.imag %a : (" + wide + ") -> " + vector},
		{name: "multiply", types: "complex<f32>", signature: vector + " " + vector + " -> " + vector, body: "%r = stablehlo.multiply %a, %b : " + vector},
		{name: "uniform_quantize", types: "f32", signature: vector + " -> " + vector,
			body: "%q = stablehlo.uniform_quantize %a : (" + vector + ") -> tensor<1048576x!quant.uniform<i8:f32, 0.1:3>>\n  %r = stablehlo.uniform_dequantize %q : (tensor<1048576x!quant.uniform<i8:f32, 0.1:3>>) -> " + vector},

		{name: "broadcast_in_dim row", types: all, signature: "tensor<1024xT> -> " + matrix, body: "%r = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<1024xT>) -> " + matrix},
		{name: "broadcast_in_dim column", types: all, signature: "tensor<1024xT> -> " + matrix, body: "%r = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1024xT>) -> " + matrix},
		{name: "broadcast column, add", types: all, signature: "tensor<1024xT> " + matrix + " -> " + matrix,
			body: "%s = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1024xT>) -> " + matrix + "\n  %r = stablehlo.add %s, %b : " + matrix},
		{name: "transpose", types: all, signature: matrix + " -> " + matrix, body: "%r = stablehlo.transpose %a, dims = [1, 0] : (" + matrix + ") -> " + matrix},
		{name: "transpose 0213", types: all, signature: "tensor<8x128x16x64xT> -> tensor<8x16x128x64xT>",
			body: "%r = stablehlo.transpose %a, dims = [0, 2, 1, 3] : (tensor<8x128x16x64xT>) -> tensor<8x16x128x64xT>"},
		{name: "reverse", types: all, signature: matrix + " -> " + matrix, body: "%r = stablehlo.reverse %a, dims = [1] : " + matrix},
		{name: "slice", types: all, signature: matrix + " -> tensor<1000x512xT>", body: "%r = stablehlo.slice %a [24:1024, 0:1024:2] : (" + matrix + ") -> tensor<1000x512xT>"},
		{name: "dynamic_slice", types: all, signature: matrix + " tensor<i32> tensor<i32> -> tensor<1000x1000xT>",
			body: "%r = stablehlo.dynamic_slice %a, %b, %c, sizes = [1000, 1000] : (" + matrix + ", tensor<i32>, tensor<i32>) -> tensor<1000x1000xT>"},
		{name: "dynamic_update_slice", types: all, signature: matrix + " tensor<512x512xT> tensor<i32> tensor<i32> -> " + matrix,
			body: "%r = stablehlo.dynamic_update_slice %a, %b, %c, %d : (" + matrix + ", tensor<512x512xT>, tensor<i32>, tensor<i32>) -> " + matrix},
		{name: "concatenate", types: all, signature: matrix + " " + matrix + " -> tensor<1024x2048xT>",
			body: "%r = stablehlo.concatenate %a, %b, dim = 1 : (" + matrix + ", " + matrix + ") -> tensor<1024x2048xT>"},
		{name: "pad", types: all, signature: "tensor<1000x1000xT> tensor<T> -> " + matrix,
			body: "%r = stablehlo.pad %a, %b, low = [12, 12], high = [12, 12], interior = [0, 0] : (tensor<1000x1000xT>, tensor<T>) -> " + matrix},
		{name: "iota", types: all, signature: "-> " + matrix, body: "%r = stablehlo.iota dim = 1 : " + matrix},

		{name: "gather rows", types: all, fill: "unit index", signature: "tensor<1000x64xT> tensor<10000x1xi32> -> tensor<10000x64xT>",
			body: `%r = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<1000x64xT>, tensor<10000x1xi32>) -> tensor<10000x64xT>`},
		{name: "gather elements", types: all, fill: "unit index", signature: "tensor<1000xT> tensor<262144x1xi32> -> tensor<262144xT>",
			body: `%r = "stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<1000xT>, tensor<262144x1xi32>) -> tensor<262144xT>`},
		{name: "torch_index_select", types: "f32", fill: "unit index", signature: "tensor<1000x64xT> tensor<10000xi32> -> tensor<10000x64xT>",
			body: `%r = "stablehlo.torch_index_select"(%a, %b) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<1000x64xT>, tensor<10000xi32>) -> tensor<10000x64xT>`},
		{name: "scatter add rows", types: all, fill: "unit index unit", signature: "tensor<1000x64xT> tensor<10000x1xi32> tensor<10000x64xT> -> tensor<1000x64xT>",
			body: `%r = "stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ` +
				region("add") + " : (tensor<1000x64xT>, tensor<10000x1xi32>, tensor<10000x64xT>) -> tensor<1000x64xT>"},
		{name: "scatter add elements", types: all, fill: "unit index unit", signature: "tensor<1000xT> tensor<65536x1xi32> tensor<65536xT> -> tensor<1000xT>",
			body: `%r = "stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ` +
				region("add") + " : (tensor<1000xT>, tensor<65536x1xi32>, tensor<65536xT>) -> tensor<1000xT>"},
		{name: "sort", types: all, signature: vector + " -> " + vector,
			body: "%r = \"stablehlo.sort\"(%a) <{dimension = 0 : i64, is_stable = true}> ({\n  ^bb0(%x: tensor<T>, %y: tensor<T>):\n    %z = stablehlo.compare LT, %x, %y : (tensor<T>, tensor<T>) -> tensor<i1>\n    stablehlo.return %z : tensor<i1>\n  }) : (" + vector + ") -> " + vector},
		{name: "top_k", types: "f32", signature: "tensor<256x4096xT> -> tensor<256x8xT>",
			body: "%r, %i = chlo.top_k(%a, k = 8) : tensor<256x4096xT> -> (tensor<256x8xT>, tensor<256x8xi32>)"},

		{name: "dot_general 512", types: all, signature: "tensor<512x512xT> tensor<512x512xT> -> tensor<512x512xT>", reference: true,
			body: "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x512xT>, tensor<512x512xT>) -> tensor<512x512xT>"},
		{name: "dot_general batch 64, 64", types: all, signature: "tensor<64x64x64xT> tensor<64x64x64xT> -> tensor<64x64x64xT>",
			body: "%r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<64x64x64xT>, tensor<64x64x64xT>) -> tensor<64x64x64xT>"},
		{name: "dot_general matrix vector", types: all, signature: "tensor<2048x1024xT> tensor<1024xT> -> tensor<2048xT>",
			body: "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2048x1024xT>, tensor<1024xT>) -> tensor<2048xT>"},
		{name: "dot_general i8", types: "i32", signature: "tensor<512x512xi8> tensor<512x512xi8> -> tensor<512x512xT>",
			body: "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x512xi8>, tensor<512x512xi8>) -> tensor<512x512xT>"},
		{name: "dot", types: "f32", signature: "tensor<512x512xT> tensor<512x512xT> -> tensor<512x512xT>",
			body: "%r = stablehlo.dot %a, %b : (tensor<512x512xT>, tensor<512x512xT>) -> tensor<512x512xT>"},
		{name: "einsum", types: "f32", signature: "tensor<8x128x128xT> tensor<8x128x128xT> -> tensor<8x128x128xT>",
			body: `%r = stablehlo.einsum %a, %b, config = "bij,bjk->bik" : (tensor<8x128x128xT>, tensor<8x128x128xT>) -> tensor<8x128x128xT>`},
		{name: "convolution", types: floats, signature: "tensor<8x32x32x32xT> tensor<3x3x32x64xT> -> tensor<8x32x32x64xT>",
			body: "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x32x32x32xT>, tensor<3x3x32x64xT>) -> tensor<8x32x32x64xT>"},
		{name: "convolution depthwise", types: "f32", signature: "tensor<8x32x32x64xT> tensor<3x3x1x64xT> -> tensor<8x32x32x64xT>",
			body: "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 64 : i64} : (tensor<8x32x32x64xT>, tensor<3x3x1x64xT>) -> tensor<8x32x32x64xT>"},

		reduction("reduce add", "add", all, vector, "tensor<T>", "0"),
		reduction("reduce add rows", "add", all, matrix, "tensor<1024xT>", "1"),
		reduction("reduce add columns", "add", all, matrix, "tensor<1024xT>", "0"),
		reduction("reduce maximum", "maximum", all, vector, "tensor<T>", "0"),
		reduction("reduce maximum rows", "maximum", all, matrix, "tensor<1024xT>", "1"),
		reduction("reduce maximum columns", "maximum", all, matrix, "tensor<1024xT>", "0"),
		reduction("reduce multiply rows", "multiply", all, matrix, "tensor<1024xT>", "1"),
		{name: "reduce sum of squares", types: reals, signature: vector + " tensor<T> -> tensor<T>",
			body: "%s = stablehlo.multiply %a, %a : " + vector + "\n  %r = \"stablehlo.reduce\"(%s, %b) <{dimensions = array<i64: 0>}> " + region("add") + " : (" + vector + ", tensor<T>) -> tensor<T>"},
		{name: "reduce argmax rows", types: reals, signature: matrix + " tensor<1024x1024xi32> tensor<T> tensor<i32> -> tensor<1024xi32>",
			body: `%s, %r = "stablehlo.reduce"(%a, %b, %c, %d) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<T>, %i: tensor<i32>, %y: tensor<T>, %j: tensor<i32>):
    %g = stablehlo.compare GE, %x, %y : (tensor<T>, tensor<T>) -> tensor<i1>
    %m = stablehlo.select %g, %x, %y : tensor<i1>, tensor<T>
    %k = stablehlo.select %g, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %m, %k : tensor<T>, tensor<i32>
  }) : (` + matrix + `, tensor<1024x1024xi32>, tensor<T>, tensor<i32>) -> (tensor<1024xT>, tensor<1024xi32>)`},
		{name: "reduce_window max 2x2", types: all, signature: matrix + " tensor<T> -> tensor<512x512xT>",
			body: `%r = "stablehlo.reduce_window"(%a, %b) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ` + region("maximum") + " : (" + matrix + ", tensor<T>) -> tensor<512x512xT>"},
		{name: "select_and_scatter", types: "f32", signature: matrix + " tensor<512x512xT> tensor<T> -> " + matrix,
			body: `%r = "stablehlo.select_and_scatter"(%a, %b, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%x: tensor<T>, %y: tensor<T>):
    %z = stablehlo.compare GE, %x, %y : (tensor<T>, tensor<T>) -> tensor<i1>
    stablehlo.return %z : tensor<i1>
  }, ` + strings.TrimPrefix(region("add"), "(") + " : (" + matrix + ", tensor<512x512xT>, tensor<T>) -> " + matrix},
		{name: "map", types: "f32", signature: vector + " " + vector + " -> " + vector,
			body: `%r = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ` + region("add") + " : (" + vector + ", " + vector + ") -> " + vector},

		{name: "cholesky", types: reals, fill: "definite", signature: "tensor<256x256xT> -> tensor<256x256xT>",
			body: "%r = stablehlo.cholesky %a, lower = true : tensor<256x256xT>"},
		{name: "triangular_solve", types: reals, fill: "definite", signature: "tensor<256x256xT> tensor<256x256xT> -> tensor<256x256xT>",
			body: `%r = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<256x256xT>, tensor<256x256xT>) -> tensor<256x256xT>`},
		{name: "fft", types: "complex<f32> complex<f64>", signature: "tensor<256x4096xT> -> tensor<256x4096xT>",
			body: "%r = stablehlo.fft %a, type = FFT, length = [4096] : (tensor<256x4096xT>) -> tensor<256x4096xT>"},
		{name: "fft real", types: "f32", signature: "tensor<256x4096xT> -> tensor<256x2049xcomplex<T>>",
			body: "%r = stablehlo.fft %a, type = RFFT, length = [4096] : (tensor<256x4096xT>) -> tensor<256x2049xcomplex<T>>"},
		{name: "batch_norm_inference", types: "f32", signature: "tensor<4096x256xT> tensor<256xT> tensor<256xT> tensor<256xT> tensor<256xT> -> tensor<4096x256xT>",
			body: `%r = "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4096x256xT>, tensor<256xT>, tensor<256xT>, tensor<256xT>, tensor<256xT>) -> tensor<4096x256xT>`},
		{name: "batch_norm_training", types: "f32", signature: "tensor<4096x256xT> tensor<256xT> tensor<256xT> -> tensor<4096x256xT>",
			body: `%r, %m, %v = "stablehlo.batch_norm_training"(%a, %b, %c) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4096x256xT>, tensor<256xT>, tensor<256xT>) -> (tensor<4096x256xT>, tensor<256xT>, tensor<256xT>)`},
		{name: "batch_norm_grad", types: "f32", signature: "tensor<4096x256xT> tensor<256xT> tensor<256xT> tensor<256xT> tensor<4096x256xT> -> tensor<4096x256xT>",
			body: `%r, %m, %v = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<4096x256xT>, tensor<256xT>, tensor<256xT>, tensor<256xT>, tensor<4096x256xT>) -> (tensor<4096x256xT>, tensor<256xT>, tensor<256xT>)`},
		{name: "rng_bit_generator threefry", types: "i32", signature: "tensor<2xui64> -> tensor<1048576xui32>",
			body: "%s, %r = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<1048576xui32>)"},
		{name: "rng_bit_generator philox", types: "i32", signature: "tensor<3xui64> -> tensor<1048576xui32>",
			body: "%s, %r = stablehlo.rng_bit_generator %a, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<1048576xui32>)"},
		{name: "rng uniform", types: "f32", signature: "-> " + vector,
			body: "%z = stablehlo.constant dense<0.0> : tensor<f32>\n  %o = stablehlo.constant dense<1.0> : tensor<f32>\n  %n = stablehlo.constant dense<1048576> : tensor<1xi64>\n  %r = stablehlo.rng %z, %o, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> " + vector},

		{name: "gelu, 9 ops fused", types: reals, signature: vector + " -> " + vector, body: `%h = stablehlo.constant dense<0.5> : ` + vector + `
  %k = stablehlo.constant dense<0.797884583> : ` + vector + `
  %d = stablehlo.constant dense<0.044715> : ` + vector + `
  %o = stablehlo.constant dense<1.0> : ` + vector + `
  %0 = stablehlo.multiply %a, %a : ` + vector + `
  %1 = stablehlo.multiply %0, %a : ` + vector + `
  %2 = stablehlo.multiply %1, %d : ` + vector + `
  %3 = stablehlo.add %2, %a : ` + vector + `
  %4 = stablehlo.multiply %3, %k : ` + vector + `
  %5 = stablehlo.tanh %4 : ` + vector + `
  %6 = stablehlo.add %5, %o : ` + vector + `
  %7 = stablehlo.multiply %6, %h : ` + vector + `
  %r = stablehlo.multiply %7, %a : ` + vector},
		{name: "while 20000 iterations", types: "i32", reference: true, signature: "tensor<i32> -> tensor<i32>", fill: "count", body: `%zero = stablehlo.constant dense<0> : tensor<i32>
  %k = stablehlo.constant dense<1103515245> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %i, %r = stablehlo.while(%p = %zero, %q = %one) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %p, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %p, %one : tensor<i32>
      %m = stablehlo.multiply %q, %k : tensor<i32>
      %x = stablehlo.xor %m, %p : tensor<i32>
      stablehlo.return %j, %x : tensor<i32>, tensor<i32>
    }`},
	}...)
	return t
}
