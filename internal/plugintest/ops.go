package plugintest

import (
	"fmt"
	"strings"
)

// oneOp returns a module whose main applies one line of text to the arguments %a, %b, ... and returns %r.
func oneOp(result, line string, args ...string) string {
	var params []string
	for i, t := range args {
		params = append(params, fmt.Sprintf("%%%c: %s", 'a'+i, t))
	}
	return fmt.Sprintf("func.func @main(%s) -> %s {\n  %s\n  return %%r : %s\n}\n", strings.Join(params, ", "), result, line, result)
}

func opCases() []Case {
	var out []Case
	add := func(name, text string, loose float64) {
		out = append(out, Case{Group: "ops", Name: name, Text: text, Loose: loose})
	}

	floats := []string{"f64", "f32", "f16", "bf16"}
	for _, op := range []string{"abs", "cbrt", "ceil", "cosine", "exponential", "exponential_minus_one", "floor", "log", "log_plus_one", "logistic",
		"negate", "round_nearest_afz", "round_nearest_even", "rsqrt", "sign", "sine", "sqrt", "tan", "tanh"} {
		for _, t := range floats {
			v := "tensor<3x4x" + t + ">"
			add(op+" "+t, oneOp(v, fmt.Sprintf("%%r = stablehlo.%s %%a : %s", op, v), v), 10)
		}
	}
	for _, op := range []string{"cosine", "exponential", "log", "negate", "sine", "sqrt", "tanh"} {
		v := "tensor<6xcomplex<f32>>"
		add(op+" complex<f32>", oneOp(v, fmt.Sprintf("%%r = stablehlo.%s %%a : %s", op, v), v), 10)
	}
	for _, op := range []string{"abs", "negate", "sign", "not", "popcnt", "count_leading_zeros"} {
		for _, t := range []string{"i8", "i32", "i64"} {
			v := "tensor<5x" + t + ">"
			add(op+" "+t, oneOp(v, fmt.Sprintf("%%r = stablehlo.%s %%a : %s", op, v), v), 0)
		}
	}
	for _, op := range []string{"add", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract"} {
		for _, t := range append([]string{"i8", "ui8", "i32", "ui32", "i64"}, floats...) {
			v := "tensor<2x5x" + t + ">"
			add(op+" "+t, oneOp(v, fmt.Sprintf("%%r = stablehlo.%s %%a, %%b : %s", op, v), v, v), 10)
		}
	}
	add("atan2 f32", oneOp("tensor<7xf32>", "%r = stablehlo.atan2 %a, %b : tensor<7xf32>", "tensor<7xf32>", "tensor<7xf32>"), 10)
	for _, op := range []string{"and", "or", "xor"} {
		for _, t := range []string{"i1", "i8", "ui32", "i64"} {
			v := "tensor<6x" + t + ">"
			add(op+" "+t, oneOp(v, fmt.Sprintf("%%r = stablehlo.%s %%a, %%b : %s", op, v), v, v), 0)
		}
	}
	for _, op := range []string{"shift_left", "shift_right_arithmetic", "shift_right_logical"} {
		v := "tensor<6xi32>"
		add(op, oneOp(v, fmt.Sprintf("%%r = stablehlo.%s %%a, %%b : %s", op, v), v, v), 0)
	}
	for _, direction := range []string{"EQ", "NE", "LT", "LE", "GT", "GE"} {
		add("compare "+direction, oneOp("tensor<6xi1>", fmt.Sprintf("%%r = stablehlo.compare %s, %%a, %%b, FLOAT : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>", direction), "tensor<6xf32>", "tensor<6xf32>"), 0)
	}

	v := "tensor<2x3xf32>"
	add("select", oneOp(v, "%r = stablehlo.select %a, %b, %c : tensor<2x3xi1>, "+v, "tensor<2x3xi1>", v, v), 0)
	add("clamp", oneOp(v, "%r = stablehlo.clamp %a, %b, %c : "+v, v, v, v), 0)
	add("is_finite", oneOp("tensor<2x3xi1>", "%r = stablehlo.is_finite %a : ("+v+") -> tensor<2x3xi1>", v), 0)
	add("reduce_precision", oneOp(v, "%r = stablehlo.reduce_precision %a, format = e5m10 : "+v, v), 0)
	add("bitcast_convert", oneOp("tensor<2x3xi32>", "%r = stablehlo.bitcast_convert %a : ("+v+") -> tensor<2x3xi32>", v), 0)
	add("complex, real, imag", oneOp(v, "%0 = stablehlo.complex %a, %b : tensor<2x3xcomplex<f32>>\n  %1 = stablehlo.real %0 : (tensor<2x3xcomplex<f32>>) -> "+v+
		"\n  %2 = stablehlo.imag %0 : (tensor<2x3xcomplex<f32>>) -> "+v+"\n  %r = stablehlo.subtract %1, %2 : "+v, v, v), 0)

	add("broadcast_in_dim", oneOp("tensor<2x3x4xf32>", "%r = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<2x4xf32>) -> tensor<2x3x4xf32>", "tensor<2x4xf32>"), 0)
	add("reshape", oneOp("tensor<3x2xf32>", "%r = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<3x2xf32>", v), 0)
	add("transpose", oneOp("tensor<3x2xf32>", "%r = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>", v), 0)
	add("slice", oneOp("tensor<2x2xf32>", "%r = stablehlo.slice %a [0:2, 1:6:3] : (tensor<3x7xf32>) -> tensor<2x2xf32>", "tensor<3x7xf32>"), 0)
	add("dynamic_slice", oneOp("tensor<2x2xf32>", "%r = stablehlo.dynamic_slice %a, %b, %c, sizes = [2, 2] : (tensor<3x7xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>", "tensor<3x7xf32>", "tensor<i32>", "tensor<i32>"), 0)
	add("dynamic_update_slice", oneOp("tensor<3x7xf32>", "%r = stablehlo.dynamic_update_slice %a, %b, %c, %d : (tensor<3x7xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x7xf32>", "tensor<3x7xf32>", "tensor<2x2xf32>", "tensor<i32>", "tensor<i32>"), 0)
	add("pad", oneOp("tensor<5x9xf32>", "%r = stablehlo.pad %a, %b, low = [1, -1], high = [1, 2], interior = [1, 1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<5x10xf32>", "tensor<2x5xf32>", "tensor<f32>"), 0)
	out[len(out)-1].Text = strings.ReplaceAll(out[len(out)-1].Text, "5x9x", "5x10x")
	add("concatenate", oneOp("tensor<5x3xf32>", "%r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>", v, "tensor<3x3xf32>"), 0)
	add("reverse", oneOp(v, "%r = stablehlo.reverse %a, dims = [1] : "+v, v), 0)
	add("iota", oneOp("tensor<3x4xi32>", "%r = stablehlo.iota dim = 1 : tensor<3x4xi32>"), 0)
	for _, t := range []string{"f64", "f32", "bf16", "i32"} {
		a, b, r := "tensor<4x6x"+t+">", "tensor<6x5x"+t+">", "tensor<4x5x"+t+">"
		add("dot_general "+t, oneOp(r, fmt.Sprintf("%%r = stablehlo.dot_general %%a, %%b, contracting_dims = [1] x [0] : (%s, %s) -> %s", a, b, r), a, b), 50)
	}
	add("dot_general batched", oneOp("tensor<2x3x5xf32>", "%r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>", "tensor<2x3x4xf32>", "tensor<2x4x5xf32>"), 50)
	for _, t := range floats[:2] {
		add("reduce add "+t, oneOp("tensor<3x"+t+">", strings.ReplaceAll("%z = stablehlo.constant dense<0.0> : tensor<T>\n  %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<3x100xT>, tensor<T>) -> tensor<3xT>", "T", t), "tensor<3x100x"+t+">"), 50)
	}
	add("reduce maximum i32", oneOp("tensor<3xi32>", "%z = stablehlo.constant dense<-2147483648> : tensor<i32>\n  %r = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<3x9xi32>, tensor<i32>) -> tensor<3xi32>", "tensor<3x9xi32>"), 0)
	add("reduce_window", oneOp("tensor<2x4xf32>", `%z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%a, %z) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>} : (tensor<2x9xf32>, tensor<f32>) -> tensor<2x4xf32>`, "tensor<2x9xf32>"), 50)
	add("sort", oneOp("tensor<3x9xf32>", `%r = "stablehlo.sort"(%a) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.compare LT, %p, %q, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<3x9xf32>) -> tensor<3x9xf32>`, "tensor<3x9xf32>"), 0)
	add("gather", oneOp("tensor<4x3xf32>", `%r = "stablehlo.gather"(%a, %b) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>, indices_are_sorted = false} : (tensor<6x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>`, "tensor<6x3xf32>", "tensor<4x1xi32>"), 0)
	add("scatter", oneOp("tensor<12x3xf32>", `%r = "stablehlo.scatter"(%a, %b, %c) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<12x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<12x3xf32>`, "tensor<12x3xf32>", "tensor<4x1xi32>", "tensor<4x3xf32>"), 10)
	add("convolution", oneOp("tensor<1x4x4x2xf32>", "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x4x4x2xf32>", "tensor<1x4x4x3xf32>", "tensor<3x3x3x2xf32>"), 50)
	add("fft", oneOp("tensor<8xcomplex<f32>>", "%r = stablehlo.fft %a, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>", "tensor<8xcomplex<f32>>"), 50)
	add("cholesky", oneOp("tensor<2x2xf32>", "%e = stablehlo.constant dense<[[4.0, 0.0], [0.0, 4.0]]> : tensor<2x2xf32>\n  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  %s = stablehlo.add %a, %t : tensor<2x2xf32>\n  %m = stablehlo.add %s, %e : tensor<2x2xf32>\n  %l = stablehlo.cholesky %m, lower = true : tensor<2x2xf32>\n  %u = stablehlo.transpose %l, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>\n  %r = stablehlo.dot_general %l, %u, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>", "tensor<2x2xf32>"), 1e4)
	add("while", oneOp("tensor<i32>", `%z = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<10> : tensor<i32>
  %w:2 = stablehlo.while(%i = %z, %s = %a) : tensor<i32>, tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %t = stablehlo.add %s, %i : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<i32>
  }
  %r = stablehlo.add %w#1, %z : tensor<i32>`, "tensor<i32>"), 0)
	add("if", oneOp("tensor<f32>", `%r = "stablehlo.if"(%a) ({
    stablehlo.return %b : tensor<f32>
  }, {
    stablehlo.return %c : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>`, "tensor<i1>", "tensor<f32>", "tensor<f32>"), 0)
	add("case", oneOp("tensor<f32>", `%r = "stablehlo.case"(%a) ({
    stablehlo.return %b : tensor<f32>
  }, {
    stablehlo.return %c : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>`, "tensor<i32>", "tensor<f32>", "tensor<f32>"), 0)
	add("call", "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %r = call @f(%a) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}\nfunc.func private @f(%a: tensor<f32>) -> tensor<f32> {\n  %r = stablehlo.add %a, %a : tensor<f32>\n  return %r : tensor<f32>\n}\n", 0)
	add("optimization_barrier", oneOp("tensor<f32>", "%r = stablehlo.optimization_barrier %a : tensor<f32>", "tensor<f32>"), 0)
	return out
}

func typeCases() []Case {
	var out []Case
	types := []string{"i1", "i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64",
		"f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU",
		"f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>"}
	for _, t := range types {
		v := "tensor<2x5x" + t + ">"
		r := "tensor<5x2x" + t + ">"
		out = append(out, Case{Group: "types", Name: t + " in and out", Text: oneOp(r, fmt.Sprintf("%%r = stablehlo.transpose %%a, dims = [1, 0] : (%s) -> %s", v, r), v)})
		if t != "i1" && !strings.HasPrefix(t, "complex") {
			w := "tensor<2x5xf32>"
			out = append(out, Case{Group: "types", Name: t + " to f32", Text: oneOp(w, fmt.Sprintf("%%r = stablehlo.convert %%a : (%s) -> %s", v, w), v)})
			out = append(out, Case{Group: "types", Name: "f32 to " + t, Text: oneOp(v, fmt.Sprintf("%%r = stablehlo.convert %%a : (%s) -> %s", w, v), w)})
		}
	}
	for _, shape := range []string{"", "0x", "2x0x3x", "1x1x1x1x"} {
		v := "tensor<" + shape + "f32>"
		out = append(out, Case{Group: "types", Name: v, Text: oneOp(v, "%r = stablehlo.add %a, %a : "+v, v)})
	}
	return out
}
