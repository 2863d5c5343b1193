package opgen

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// exactly returns a program of several ops whose results must be bit-identical.
func exactly(op string, args []arg, ops string, names, results []string) *call {
	return &call{op: op, args: args, ops: ops, names: names, results: results, rule: Rule{Exact: true}}
}

// composite makes a composite whose decomposition returns its operands in another order, one of them reversed.
func (g *Generator) composite() *call {
	a, b := g.anyArg(g.shape(1, 3)), g.anyArg(g.shape(0, 3))
	ta, tb := typeText(a.dt, a.shape), typeText(b.dt, b.shape)
	c := exactly("stablehlo.composite", []arg{a, b}, fmt.Sprintf("  %%r:2 = \"stablehlo.composite\"(%%a0, %%a1) {name = \"own.swap\", decomposition = @swap, version = 3 : i32, composite_attributes = {n = 2 : i64}} : (%[1]s, %[2]s) -> (%[2]s, %[1]s)\n", ta, tb),
		[]string{"%r#0", "%r#1"}, []string{tb, ta})
	c.functions = fmt.Sprintf("func.func private @swap(%%x: %[1]s, %%y: %[2]s) -> (%[2]s, %[1]s) {\n  %%0 = stablehlo.reverse %%x, dims = [0] : %[1]s\n  return %%y, %%0 : %[2]s, %[1]s\n}\n", ta, tb)
	return c
}

// calls makes a program that calls a function twice; the function calls another one.
func (g *Generator) calls() *call {
	d := g.randomType(func(d tensor.DType) bool { return d.IsInteger() && d.Bits() >= 8 })
	a := edges(d, g.shape(0, 3))
	t := typeText(d, a.shape)
	c := exactly("func.call", []arg{a, a}, fmt.Sprintf("  %%p:2 = call @outer(%%a0, %%a1) : (%[1]s, %[1]s) -> (%[1]s, %[1]s)\n  %%q:2 = call @outer(%%p#1, %%a0) : (%[1]s, %[1]s) -> (%[1]s, %[1]s)\n", t),
		[]string{"%p#0", "%q#0", "%q#1"}, []string{t, t, t})
	c.functions = fmt.Sprintf(`func.func private @outer(%%x: %[1]s, %%y: %[1]s) -> (%[1]s, %[1]s) {
  %%0 = stablehlo.%[2]s %%x, %%y : %[1]s
  %%1 = call @inner(%%0) : (%[1]s) -> %[1]s
  return %%1, %%x : %[1]s, %[1]s
}
func.func private @inner(%%x: %[1]s) -> %[1]s {
  %%0 = stablehlo.%[3]s %%x, %%x : %[1]s
  return %%0 : %[1]s
}
`, t, g.exactBinary(d), g.exactBinary(d))
	return c
}

func (g *Generator) tuple() *call {
	a, b := g.anyArg(g.shape(0, 3)), g.anyArg(g.shape(0, 3))
	ta, tb := typeText(a.dt, a.shape), typeText(b.dt, b.shape)
	inner := fmt.Sprintf("tuple<%s, %s>", tb, ta)
	whole := fmt.Sprintf("tuple<%s, %s>", ta, inner)
	return exactly("stablehlo.tuple", []arg{a, b}, fmt.Sprintf(`  %%i = stablehlo.tuple %%a1, %%a0 : %[3]s
  %%t = stablehlo.tuple %%a0, %%i : %[4]s
  %%u = stablehlo.get_tuple_element %%t[1] : (%[4]s) -> %[3]s
  %%v = stablehlo.get_tuple_element %%u[0] : (%[3]s) -> %[2]s
  %%w = stablehlo.get_tuple_element %%t[0] : (%[4]s) -> %[1]s
`, ta, tb, inner, whole), []string{"%v", "%w"}, []string{tb, ta})
}

// literal writes values as an attribute, listing every element.
func (g *Generator) literal(dt tensor.DType, shape tensor.Shape) string {
	v := tensor.New(dt, shape)
	verify.Fill(v, g.rng, verify.Edges)
	return string(v.AppendLiteral(nil, v.NumElements()+1))
}

func (g *Generator) constant() *call {
	a := g.anyArg(g.shape(0, 3))
	t := typeText(a.dt, a.shape)
	op := pick(g, "stablehlo.constant", "stablehlo.constant", "chlo.constant")
	if a.dt.Bits() < 8 && a.dt.IsFloat() || a.dt == tensor.F8E8M0FNU {
		op = "stablehlo.constant"
	}
	c := exactly(op, nil, fmt.Sprintf("  %%r = \"%s\"() {value = %s} : () -> %s\n", op, g.literal(a.dt, a.shape), t), []string{"%r"}, []string{t})
	return c
}

func (g *Generator) constantLike() *call {
	a := g.anyArg(g.shape(0, 3))
	d := pick(g, tensor.F32, tensor.F64, tensor.I32, tensor.BF16, tensor.I8)
	text := g.literal(d, nil)
	text = strings.TrimSuffix(strings.TrimPrefix(text, "dense<"), fmt.Sprintf("> : %s", typeText(d, nil)))
	r := typeText(d, a.shape)
	return exactly("chlo.constant_like", []arg{a}, fmt.Sprintf("  %%r = \"chlo.constant_like\"(%%a0) {value = %s : %s} : (%s) -> %s\n", text, d, typeText(a.dt, a.shape), r), []string{"%r"}, []string{r})
}

// tokens creates tokens and joins them; the values that accompany the tokens stay unchanged.
func (g *Generator) tokens() *call {
	a := g.anyArg(g.shape(0, 3))
	t := typeText(a.dt, a.shape)
	op := pick(g, "stablehlo.after_all", "stablehlo.create_token")
	ops := fmt.Sprintf("  %%t = \"%s\"() : () -> !stablehlo.token\n  %%u = \"stablehlo.after_all\"(%%t, %%t) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token\n"+
		"  %%r:2 = \"stablehlo.optimization_barrier\"(%%a0, %%u) : (%[2]s, !stablehlo.token) -> (%[2]s, !stablehlo.token)\n", op, t)
	return exactly(op, []arg{a}, ops, []string{"%r#0"}, []string{t})
}

// boundedSize sets the size of a dimension to less than its bound and reduces the remaining elements.
func (g *Generator) boundedSize() *call {
	d := pick(g, tensor.I32, tensor.F32, tensor.I64, tensor.F64)
	rows, cols := g.between(1, 6), g.between(1, 5)
	a := arg{dt: d, shape: tensor.Shape{rows, cols}, fill: fillWith(func(int) float64 { return float64(g.rng.IntN(50)) })}
	bounded := fmt.Sprintf("tensor<?x%dx%s, #stablehlo.bounds<%d, ?>>", cols, d, rows)
	out := typeText(d, tensor.Shape{cols})
	return exactly("stablehlo.set_dimension_size", []arg{a, scalar(tensor.I32, g.between(0, rows))}, fmt.Sprintf(`  %%d = "stablehlo.set_dimension_size"(%%a0, %%a1) {dimension = 0 : i64} : (%[1]s, tensor<i32>) -> %[2]s
  %%z = stablehlo.constant dense<0> : tensor<i32>
  %%y = stablehlo.convert %%z : (tensor<i32>) -> tensor<%[3]s>
  %%r = stablehlo.reduce(%%d init: %%y) applies stablehlo.add across dimensions = [0] : (%[2]s, tensor<%[3]s>) -> %[4]s
  %%s = "stablehlo.get_dimension_size"(%%d) {dimension = 0 : i64} : (%[2]s) -> tensor<i32>
`, typeText(d, a.shape), bounded, d, out), []string{"%r", "%s"}, []string{out, "tensor<i32>"})
}

// branchesInLoop runs a case inside two nested loops, beside a loop that makes no iterations.
func (g *Generator) branchesInLoop() *call {
	a := arg{dt: tensor.I32, shape: g.shape(0, 2), style: verify.Edges}
	t := typeText(tensor.I32, a.shape)
	ops := fmt.Sprintf(`  %%zero = stablehlo.constant dense<0> : tensor<i32>
  %%one = stablehlo.constant dense<1> : tensor<i32>
  %%o:2 = stablehlo.while(%%i = %%zero, %%x = %%a0) : tensor<i32>, %[1]s
    cond {
      %%c = stablehlo.compare LT, %%i, %%a2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %%c : tensor<i1>
    } do {
      %%n:2 = stablehlo.while(%%j = %%zero, %%y = %%x) : tensor<i32>, %[1]s
        cond {
          %%c = stablehlo.compare LT, %%j, %%i : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %%c : tensor<i1>
        } do {
          %%k = stablehlo.add %%j, %%one : tensor<i32>
          %%b = "stablehlo.case"(%%j) ({
            %%v = stablehlo.%[2]s %%y, %%a1 : %[1]s
            stablehlo.return %%v : %[1]s
          }, {
            %%v = stablehlo.%[3]s %%a1, %%x : %[1]s
            stablehlo.return %%v : %[1]s
          }, {
            stablehlo.return %%a1 : %[1]s
          }) : (tensor<i32>) -> %[1]s
          stablehlo.return %%k, %%b : tensor<i32>, %[1]s
        }
      %%k = stablehlo.add %%i, %%one : tensor<i32>
      %%p = stablehlo.compare EQ, %%i, %%one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %%b = "stablehlo.if"(%%p) ({
        %%v = stablehlo.%[4]s %%n#1, %%x : %[1]s
        stablehlo.return %%v : %[1]s
      }, {
        stablehlo.return %%n#1 : %[1]s
      }) : (tensor<i1>) -> %[1]s
      stablehlo.return %%k, %%b : tensor<i32>, %[1]s
    }
`, t, g.exactBinary(a.dt), g.exactBinary(a.dt), g.exactBinary(a.dt))
	return &call{op: "stablehlo.while", label: "nested", args: []arg{a, a, scalar(tensor.I32, g.between(0, 5))}, ops: ops, names: []string{"%o#0", "%o#1"}, results: []string{"tensor<i32>", t}, rule: Rule{Exact: true}}
}

// chain makes a graph of element-wise ops that do not round, with broadcasts, comparisons, selections and conversions
// between them. Engines fuse such ops and compute them in place.
func (g *Generator) chain() *call {
	d := pick(g, tensor.I32, tensor.UI8, tensor.I64, tensor.I16, tensor.UI32, tensor.I8, tensor.UI64)
	shape := g.shape(0, 3)
	if g.rng.IntN(4) == 0 {
		shape = tensor.Shape{g.between(500, 3000)}
	}
	a := edges(d, shape)
	s := arg{dt: d, style: verify.Edges}
	t, bt := typeText(d, shape), typeText(tensor.I1, shape)
	var b strings.Builder
	fmt.Fprintf(&b, "  %%v0 = stablehlo.broadcast_in_dim %%a2, dims = [] : (%s) -> %s\n", typeText(d, nil), t)
	values, bools := []string{"%a0", "%a1", "%v0"}, []string{}
	for i := 1; i < 5+g.rng.IntN(12); i++ {
		v := fmt.Sprintf("%%v%d", i)
		switch k := g.rng.IntN(10); {
		case k < 4:
			op := pick(g, "add", "multiply", "subtract", "and", "or", "xor", "maximum", "minimum", "divide", "remainder", "shift_left", "shift_right_logical", "shift_right_arithmetic")
			fmt.Fprintf(&b, "  %s = stablehlo.%s %s, %s : %s\n", v, op, pick(g, values...), pick(g, values...), t)
			values = append(values, v)
		case k < 6:
			op := pick(g, "not", "popcnt", "count_leading_zeros")
			fmt.Fprintf(&b, "  %s = stablehlo.%s %s : %s\n", v, op, pick(g, values...), t)
			values = append(values, v)
		case k == 6:
			dir := pick(g, "EQ", "NE", "LT", "LE", "GT", "GE")
			fmt.Fprintf(&b, "  %s = stablehlo.compare %s, %s, %s : (%s, %s) -> %s\n", v, dir, pick(g, values...), pick(g, values...), t, t, bt)
			bools = append(bools, v)
		case k == 7 && len(bools) > 0:
			fmt.Fprintf(&b, "  %s = stablehlo.select %s, %s, %s : %s, %s\n", v, pick(g, bools...), pick(g, values...), pick(g, values...), bt, t)
			values = append(values, v)
		case k == 8:
			other := pick(g, tensor.I32, tensor.UI8, tensor.I64, tensor.I16, tensor.UI32)
			fmt.Fprintf(&b, "  %s_c = stablehlo.convert %s : (%s) -> %s\n", v, pick(g, values...), t, typeText(other, shape))
			fmt.Fprintf(&b, "  %s = stablehlo.convert %s_c : (%s) -> %s\n", v, v, typeText(other, shape), t)
			values = append(values, v)
		default: // bounds are in order: see the package comment
			x, y := pick(g, values...), pick(g, values...)
			fmt.Fprintf(&b, "  %s_l = stablehlo.minimum %s, %s : %s\n  %s_h = stablehlo.maximum %s, %s : %s\n", v, x, y, t, v, x, y, t)
			fmt.Fprintf(&b, "  %s = stablehlo.clamp %s_l, %s, %s_h : %s\n", v, v, pick(g, values...), v, t)
			values = append(values, v)
		}
	}
	names, types := []string{values[len(values)-1], pick(g, values...)}, []string{t, t}
	if len(bools) > 0 {
		names, types = append(names, bools[len(bools)-1]), append(types, bt)
	}
	return &call{op: "stablehlo.add", label: "in a chain", args: []arg{a, a, s}, ops: b.String(), names: names, results: types, rule: Rule{Exact: true}}
}

func (g *Generator) async() *call {
	a := g.anyArg(g.shape(1, 3))
	t := typeText(a.dt, a.shape)
	future := "!stablehlo.future<" + t + ">"
	return exactly("stablehlo.async_start", []arg{a}, fmt.Sprintf(`  %%f = "stablehlo.async_start"(%%a0) ({
  ^bb0(%%x: %[1]s):
    %%y = "stablehlo.collective_permute"(%%x) {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>} : (%[1]s) -> %[1]s
    stablehlo.return %%y : %[1]s
  }) : (%[1]s) -> %[2]s
  %%r = "stablehlo.async_done"(%%f) : (%[2]s) -> %[1]s
`, t, future), []string{"%r"}, []string{t})
}

// oneDevice makes a collective, or a device id, on a single device.
func (g *Generator) oneDevice() *call {
	op := pick(g, "replica_id", "partition_id", "cross-replica-sum")
	if op != "cross-replica-sum" {
		return exactCall(op, nil)
	}
	return exactCall(op, []arg{{dt: g.number(), shape: g.shape(0, 3), style: verify.Ordinary}}, attr{"replica_groups", "dense<0> : tensor<1x1xi64>"})
}

// quantize converts to a quantized type and back. XLA does not refuse values without elements.
func (g *Generator) quantize() *call {
	a := arg{dt: tensor.F32, shape: tensor.Shape{g.between(1, 6), g.between(1, 6)}, style: verify.Ordinary}
	t := typeText(a.dt, a.shape)
	q := strings.TrimSuffix(t, "f32>") + "!quant.uniform<i8:f32, 0.25:3>>"
	op := pick(g, "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize")
	return exactly(op, []arg{a}, fmt.Sprintf("  %%q = stablehlo.uniform_quantize %%a0 : (%[1]s) -> %[2]s\n  %%r = stablehlo.uniform_dequantize %%q : (%[2]s) -> %[1]s\n", t, q), []string{"%r"}, []string{t})
}
