package legalize_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestQuantizedOps: an op on quantized values returns the same as dequantizing, computing and quantizing again (spec,
// "dequantize_op_quantize"), per tensor and per axis, over all codes of the operands.
func TestQuantizedOps(t *testing.T) {
	const (
		real    = "tensor<2x128xf32>"
		tensorQ = "tensor<2x128x!quant.uniform<i8:f32, 0.5:3>>"
		otherQ  = "tensor<2x128x!quant.uniform<i8:f32, 0.125:-7>>"
		axisQ   = "tensor<2x128x!quant.uniform<i8:f32:0, {0.5:1, 0.0625:-2}>>"
		wideQ   = "tensor<2x128x!quant.uniform<i32:f32, 0.0078125>>"
	)
	a, b := tensor.New(tensor.I8, tensor.Shape{2, 128}), tensor.New(tensor.I8, tensor.Shape{2, 128})
	for i := range 256 {
		a.SetBits(i, uint64(i))
		b.SetBits(i, uint64(i*37+11)&255)
	}
	check := func(name, op string, operands []string, result, realResult string) {
		t.Helper()
		var names, quant, reals, params, in []string
		var body strings.Builder
		for i, ty := range operands {
			code := fmt.Sprintf("%%c%d", i)
			params = append(params, fmt.Sprintf("%s: tensor<2x128xi8>", code))
			fmt.Fprintf(&body, "  %%q%d = stablehlo.bitcast_convert %s : (tensor<2x128xi8>) -> %s\n", i, code, ty)
			fmt.Fprintf(&body, "  %%r%d = stablehlo.uniform_dequantize %%q%d : (%s) -> %s\n", i, i, ty, real)
			names, quant, reals, in = append(names, fmt.Sprintf("%%r%d", i)), append(quant, ty), append(reals, real), append(in, fmt.Sprintf("%%q%d", i))
		}
		apply := func(to string, args, types []string, out string) {
			fmt.Fprintf(&body, "  %s = %s : (%s) -> %s\n", to, strings.ReplaceAll(op, "$", strings.Join(args, ", ")), strings.Join(types, ", "), out)
		}
		apply("%direct", in, quant, result)
		apply("%computed", names, reals, realResult)
		var sum string
		if strings.Contains(result, "quant") {
			fmt.Fprintf(&body, "  %%want = stablehlo.uniform_quantize %%computed : (%s) -> %s\n", realResult, result)
			sum = result
		} else {
			fmt.Fprintf(&body, "  %%want = stablehlo.optimization_barrier %%computed : %s\n", realResult)
			sum = realResult
		}
		text := fmt.Sprintf("func.func @main(%s) -> (%s, %s) {\n%s  return %%direct, %%want : %s, %s\n}", strings.Join(params, ", "), sum, sum, body.String(), sum, sum)
		out, err := tryRun(t, text, []*tensor.Tensor{a, b}[:len(operands)]...)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			return
		}
		for i := range out[0].NumElements() {
			if out[0].Bits(i) != out[1].Bits(i) {
				t.Errorf("%s: element %d is %#x, and %#x by way of reals\n%s", name, i, out[0].Bits(i), out[1].Bits(i), text)
				return
			}
		}
	}
	n := 0
	for _, q := range []string{tensorQ, axisQ} {
		for _, op := range strings.Fields("abs negate ceil floor round_nearest_even round_nearest_afz sign cbrt exponential exponential_minus_one log log_plus_one logistic sqrt rsqrt sine cosine tan tanh") {
			for _, result := range []string{q, otherQ, wideQ} {
				check(op, fmt.Sprintf(`"stablehlo.%s"($)`, op), []string{q}, result, real)
				n++
			}
		}
		for _, op := range strings.Fields("add subtract multiply divide remainder power maximum minimum atan2") {
			for _, result := range []string{q, otherQ, wideQ} {
				check(op, fmt.Sprintf(`"stablehlo.%s"($)`, op), []string{q, otherQ}, result, real)
				n++
			}
		}
		for _, direction := range strings.Fields("EQ NE LT LE GT GE") {
			check("compare", fmt.Sprintf(`"stablehlo.compare"($) <{comparison_direction = #stablehlo<comparison_direction %s>}>`, direction), []string{q, otherQ}, "tensor<2x128xi1>", "tensor<2x128xi1>")
		}
		check("is_finite", `"stablehlo.is_finite"($)`, []string{q}, "tensor<2x128xi1>", "tensor<2x128xi1>")
	}
	t.Logf("%d programs", n)
	// Ops that move elements, reduce and multiply matrices.
	for _, c := range []struct{ name, op, operand, result, realResult string }{
		{"transpose", `"stablehlo.transpose"($) <{permutation = array<i64: 1, 0>}>`, tensorQ, "tensor<128x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<128x2xf32>"},
		{"transpose per axis", `"stablehlo.transpose"($) <{permutation = array<i64: 1, 0>}>`, axisQ, "tensor<128x2x!quant.uniform<i8:f32:1, {0.5:1, 0.0625:-2}>>", "tensor<128x2xf32>"},
		{"reshape", `"stablehlo.reshape"($)`, tensorQ, "tensor<256x!quant.uniform<i8:f32, 0.5:3>>", "tensor<256xf32>"},
		{"slice", `"stablehlo.slice"($) <{start_indices = array<i64: 1, 3>, limit_indices = array<i64: 2, 90>, strides = array<i64: 1, 2>}>`, tensorQ, "tensor<1x44x!quant.uniform<i8:f32, 0.5:3>>", "tensor<1x44xf32>"},
		{"reverse", `"stablehlo.reverse"($) <{dimensions = array<i64: 1>}>`, axisQ, axisQ, real},
		{"broadcast", `"stablehlo.broadcast_in_dim"($) <{broadcast_dimensions = array<i64: 1, 2>}>`, axisQ, "tensor<3x2x128x!quant.uniform<i8:f32:1, {0.5:1, 0.0625:-2}>>", "tensor<3x2x128xf32>"},
		{"concatenate", `"stablehlo.concatenate"($) <{dimension = 1 : i64}>`, tensorQ, tensorQ, real},
	} {
		check(c.name, c.op, []string{c.operand}, c.result, c.realResult)
	}
	check("dot_general", `"stablehlo.dot_general"($) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}>`,
		[]string{tensorQ, axisQ}, "tensor<2x2x!quant.uniform<i32:f32, 0.0078125>>", "tensor<2x2xf32>")
	body := func(op, ty string) string {
		return fmt.Sprintf(` ({
  ^bb0(%%x: tensor<%s>, %%y: tensor<%s>):
    %%s = stablehlo.%s %%x, %%y : tensor<%s>
    stablehlo.return %%s : tensor<%s>
  })`, ty, ty, op, ty, ty)
	}
	// Programs with regions are written twice: on quantized values and on real numbers.
	for _, c := range []struct{ name, op, result string }{
		{"reduce add", `"stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}>` + body("add", "$"), "2x"},
		{"reduce maximum", `"stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}>` + body("maximum", "$"), "128x"},
		{"reduce general", `"stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}>` + strings.Replace(body("maximum", "$"), "stablehlo.return %s", "%m = stablehlo.minimum %s, %s : tensor<$>\n    stablehlo.return %m", 1), "2x"},
		{"reduce_window", `"stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2, 3>}>` + body("maximum", "$"), "1x126x"},
		{"sort", `"stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<$>, %y: tensor<$>):
    %s = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<$>, tensor<$>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  })`, "2x128x"},
		{"map", `"stablehlo.map"(%a, %a) <{dimensions = array<i64: 0, 1>}>` + body("minimum", "$"), "2x128x"},
		{"convolution", `"stablehlo.convolution"(%v, %k) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>`, "1x127x2x"},
	} {
		const q = "!quant.uniform<i8:f32, 0.5:3>"
		program := func(ty string) string {
			convert := `%a = stablehlo.bitcast_convert %c0 : (tensor<2x128xi8>) -> tensor<2x128x` + q + ">\n"
			zero := `%z = stablehlo.constant dense<0.0> : tensor<f32>` + "\n"
			from := "%a"
			if ty == "f32" {
				convert += "  %b = stablehlo.uniform_dequantize %a : (tensor<2x128x" + q + ">) -> tensor<2x128xf32>\n"
				from = "%b"
			} else {
				zero = strings.Replace(zero, "%z", "%zf", 1) + "  %z = stablehlo.uniform_quantize %zf : (tensor<f32>) -> tensor<" + q + ">\n"
			}
			reshape := fmt.Sprintf("  %%v = stablehlo.reshape %s : (tensor<2x128x%s>) -> tensor<1x128x2x%s>\n", from, ty, ty)
			reshape += fmt.Sprintf("  %%w = stablehlo.slice %s [0:2, 0:4] : (tensor<2x128x%s>) -> tensor<2x4x%s>\n", from, ty, ty)
			reshape += fmt.Sprintf("  %%k = stablehlo.reshape %%w : (tensor<2x4x%s>) -> tensor<2x2x2x%s>\n", ty, ty)
			result := "tensor<" + c.result + ty + ">"
			var operands []string
			for _, o := range strings.Split(c.op[strings.Index(c.op, "(")+1:strings.Index(c.op, ")")], ", ") {
				operands = append(operands, map[string]string{"%a": "tensor<2x128x$>", "%z": "tensor<$>", "%v": "tensor<1x128x2x$>", "%k": "tensor<2x2x2x$>"}[o])
			}
			op := strings.ReplaceAll(c.op+" : ("+strings.Join(operands, ", ")+") -> "+result, "$", ty)
			op = strings.Replace(op, "%a", from, -1)
			text := "func.func @main(%c0: tensor<2x128xi8>) -> tensor<" + c.result + q + "> {\n  " + convert + "  " + zero + reshape + "  %r = " + op + "\n"
			last := "%r"
			if ty == "f32" {
				text += "  %l = stablehlo.uniform_quantize %r : (" + result + ") -> tensor<" + c.result + q + ">\n"
				last = "%l"
			}
			return text + "  return " + last + " : tensor<" + c.result + q + ">\n}"
		}
		direct, err := tryRun(t, program(q), a)
		if err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, program(q))
			continue
		}
		want, err := tryRun(t, program("f32"), a)
		if err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, program("f32"))
			continue
		}
		for i := range direct[0].NumElements() {
			if direct[0].Bits(i) != want[0].Bits(i) {
				t.Errorf("%s: element %d is %#x, and %#x by way of reals\n%s", c.name, i, direct[0].Bits(i), want[0].Bits(i), program(q))
				break
			}
		}
	}
}

// TestQuantizedReductionsQuantizeEveryStep: a reduction of quantized values quantizes in each step, because the op of
// its region quantizes (spec, "dequantize_op_quantize"). In steps of 0.5 the product of four times 1.5 is 4 or 4.5,
// depending on the order of the steps; the exact product is 5.0625. Sums saturate in each step: 60 + 60 - 60 is 3.5 if
// added from the left.
func TestQuantizedReductionsQuantizeEveryStep(t *testing.T) {
	const q = "!quant.uniform<i8:f32, 0.5>"
	region := func(op string) string {
		return fmt.Sprintf("({\n  ^bb0(%%x: tensor<%[1]s>, %%y: tensor<%[1]s>):\n    %%s = stablehlo.%[2]s %%x, %%y : tensor<%[1]s>\n    stablehlo.return %%s : tensor<%[1]s>\n  })", q, op)
	}
	greater := fmt.Sprintf("({\n  ^bb0(%%x: tensor<%[1]s>, %%y: tensor<%[1]s>):\n    %%s = stablehlo.compare GE, %%x, %%y : (tensor<%[1]s>, tensor<%[1]s>) -> tensor<i1>\n    stablehlo.return %%s : tensor<i1>\n  }, ", q)
	for _, c := range []struct {
		name, op, result string
		codes            []int64
		want             []float64
	}{
		{"reduce", `"stablehlo.reduce"(%a, %one) <{dimensions = array<i64: 0>}> ` + region("multiply") + ` : (tensor<4x$>, tensor<$>) -> tensor<$>`, "tensor<$>", []int64{3, 3, 3, 3}, []float64{4, 4.5}},
		{"reduce add", `"stablehlo.reduce"(%a, %zero) <{dimensions = array<i64: 0>}> ` + region("add") + ` : (tensor<4x$>, tensor<$>) -> tensor<$>`, "tensor<$>", []int64{120, 120, -120, 0}, []float64{3.5, 60}},
		{"reduce_window", `"stablehlo.reduce_window"(%a, %one) <{window_dimensions = array<i64: 4>}> ` + region("multiply") + ` : (tensor<4x$>, tensor<$>) -> tensor<1x$>`, "tensor<1x$>", []int64{3, 3, 3, 3}, []float64{4, 4.5}},
		{"scatter", `"stablehlo.scatter"(%ones, %i, %a) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ` + region("multiply") +
			` : (tensor<1x$>, tensor<4x1xi32>, tensor<4x$>) -> tensor<1x$>`, "tensor<1x$>", []int64{3, 3, 3, 3}, []float64{4, 4.5}},
		{"select_and_scatter", `"stablehlo.select_and_scatter"(%ones, %a, %one) <{window_dimensions = array<i64: 1>, padding = dense<[[0, 3]]> : tensor<1x2xi64>}> ` + greater + strings.TrimPrefix(region("multiply"), "(") +
			` : (tensor<1x$>, tensor<4x$>, tensor<$>) -> tensor<1x$>`, "tensor<1x$>", []int64{3, 3, 3, 3}, []float64{1.5}},
		{"map", `"stablehlo.map"(%a, %a) <{dimensions = array<i64: 0>}> ` + region("multiply") + ` : (tensor<4x$>, tensor<4x$>) -> tensor<4x$>`, "tensor<4x$>", []int64{3, 3, 3, 3}, []float64{2}},
	} {
		result := strings.ReplaceAll(c.result, "$", q)
		text := fmt.Sprintf(`func.func @main(%%c: tensor<4xi8>) -> %[2]s {
  %%a = stablehlo.bitcast_convert %%c : (tensor<4xi8>) -> tensor<4x%[1]s>
  %%i = stablehlo.constant dense<0> : tensor<4x1xi32>
  %%f = stablehlo.constant dense<1.0> : tensor<f32>
  %%g = stablehlo.constant dense<0.0> : tensor<f32>
  %%one = stablehlo.uniform_quantize %%f : (tensor<f32>) -> tensor<%[1]s>
  %%zero = stablehlo.uniform_quantize %%g : (tensor<f32>) -> tensor<%[1]s>
  %%ones = stablehlo.reshape %%one : (tensor<%[1]s>) -> tensor<1x%[1]s>
  %%r = %[3]s
  return %%r : %[2]s
}`, q, result, strings.ReplaceAll(c.op, "$", q))
		a := tensor.New(tensor.I8, tensor.Shape{4})
		for i, v := range c.codes {
			a.SetFloat(i, float64(v))
		}
		out, err := tryRun(t, text, a)
		if err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, text)
			continue
		}
		got := out[0].FloatAt(0) / 2
		if !slices.Contains(c.want, got) {
			t.Errorf("%s gives %v, not one of %v", c.name, got, c.want)
		}
	}
}
