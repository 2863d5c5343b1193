package opgen

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// real is f32 or f64.
func (g *Generator) real() tensor.DType { return []tensor.DType{tensor.F32, tensor.F64}[g.rng.IntN(2)] }

func (g *Generator) batchNormTraining() *call {
	d := g.real()
	shape := tensor.Shape{g.between(1, 4), g.between(1, 4), g.between(2, 5)}
	k := g.rng.IntN(3)
	vec := arg{dt: d, shape: tensor.Shape{shape[k]}}
	v := typeText(d, vec.shape)
	return &call{op: "stablehlo.batch_norm_training", args: []arg{{dt: d, shape: shape}, vec, vec}, results: []string{typeText(d, shape), v, v},
		attrs: []string{"epsilon = 1.000000e-02 : f32", fmt.Sprintf("feature_index = %d : i64", k)}, rule: Rule{Terms: 4000}}
}

// positive returns an operand like a, with numbers from 0.5 to 1.5, to serve as a variance.
func (g *Generator) positive(a arg) arg {
	a.fill = func(t *tensor.Tensor) {
		for i := range t.NumElements() {
			t.SetFloat(i, 0.5+g.rng.Float64())
		}
	}
	return a
}

func (g *Generator) batchNormGrad() *call {
	d := g.real()
	shape := tensor.Shape{g.between(1, 4), g.between(1, 4), g.between(2, 5)}
	k := g.rng.IntN(3)
	vec := arg{dt: d, shape: tensor.Shape{shape[k]}}
	positive := g.positive(vec)
	v := typeText(d, vec.shape)
	return &call{op: "stablehlo.batch_norm_grad", args: []arg{{dt: d, shape: shape}, vec, vec, positive, {dt: d, shape: shape}}, results: []string{typeText(d, shape), v, v},
		attrs: []string{"epsilon = 1.000000e-02 : f32", fmt.Sprintf("feature_index = %d : i64", k)}, rule: Rule{Terms: 4000}}
}

// rngBits makes a program that must return the same bits for both algorithms, in every type.
func (g *Generator) rngBits() *call {
	algorithm := []string{"THREE_FRY", "PHILOX", "DEFAULT"}[g.rng.IntN(3)]
	state := tensor.Shape{2}
	if algorithm == "PHILOX" && g.rng.IntN(2) == 0 {
		state = tensor.Shape{3}
	}
	d := []tensor.DType{tensor.UI8, tensor.UI16, tensor.UI32, tensor.UI64}[g.rng.IntN(4)] // XLA converts signed ones to unsigned
	out := g.shape(0, 3)
	if g.rng.IntN(3) == 0 {
		out = tensor.Shape{g.between(0, 40)}
	}
	return &call{op: "stablehlo.rng_bit_generator", label: algorithm, args: []arg{{dt: tensor.UI64, shape: state, style: verify.Anything}},
		attrs:   []string{"rng_algorithm = #stablehlo<rng_algorithm " + algorithm + ">"},
		results: []string{typeText(tensor.UI64, state), typeText(d, out)}, rule: Rule{Exact: true}}
}

// exactBinary returns a binary op that does not round on type d.
func (g *Generator) exactBinary(d tensor.DType) string {
	switch {
	case d == tensor.I1:
		return []string{"and", "or", "xor"}[g.rng.IntN(3)]
	case d.IsInteger():
		return []string{"add", "multiply", "subtract", "and", "maximum", "minimum"}[g.rng.IntN(6)]
	}
	return []string{"add", "subtract"}[g.rng.IntN(2)]
}

// while makes a loop that counts to a bound given by an argument and changes two values in each iteration.
func (g *Generator) while() *call {
	d := g.dtype()
	for d.Bits() < 8 && d != tensor.I1 || d.IsFloat() && d.Bits() < 16 {
		d = g.dtype()
	}
	a := arg{dt: d, shape: g.shape(0, 2), style: verify.Ordinary}
	t := typeText(d, a.shape)
	op := g.exactBinary(d)
	if d == tensor.F16 || d == tensor.BF16 {
		op = "maximum" // XLA may keep extra digits between iterations, and sums would differ
	}
	bound := g.between(0, 7)
	head := fmt.Sprintf("^bb0(%%i: tensor<i32>, %%n: tensor<i32>, %%x: %[1]s, %%y: %[1]s):", t)
	cond := fmt.Sprintf("{\n  %s\n    %%c = stablehlo.compare LT, %%i, %%n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    \"stablehlo.return\"(%%c) : (tensor<i1>) -> ()\n  }", head)
	body := fmt.Sprintf("{\n  %[1]s\n    %%one = stablehlo.constant dense<1> : tensor<i32>\n    %%j = stablehlo.add %%i, %%one : tensor<i32>\n    %%z = stablehlo.%[2]s %%x, %%y : %[3]s\n    \"stablehlo.return\"(%%j, %%n, %%y, %%z) : (tensor<i32>, tensor<i32>, %[3]s, %[3]s) -> ()\n  }", head, op, t)
	number := func(v int64) func(*tensor.Tensor) { return func(t *tensor.Tensor) { t.SetFloat(0, float64(v)) } }
	return &call{op: "stablehlo.while", label: op, args: []arg{{dt: tensor.I32, fill: number(0)}, {dt: tensor.I32, fill: number(bound)}, a, a},
		results: []string{"tensor<i32>", "tensor<i32>", t, t}, bodies: []string{cond, body}, rule: Rule{Exact: true}}
}

// branch makes an if or a case; the index of a case may be out of range.
func (g *Generator) branch() *call {
	d := g.dtype()
	x := arg{dt: d, shape: g.shape(0, 3), style: verify.Edges, aside: true}
	t := typeText(d, x.shape)
	give := func(n int) string {
		return fmt.Sprintf("{\n    \"stablehlo.return\"(%%a%d) : (%s) -> ()\n  }", n, t)
	}
	if g.rng.IntN(2) == 0 {
		return &call{op: "stablehlo.if", args: []arg{{dt: tensor.I1}, x, x}, results: []string{t}, bodies: []string{give(1), give(2)}, rule: Rule{Exact: true}}
	}
	n := 1 + g.rng.IntN(3)
	args := []arg{{dt: tensor.I32, fill: func(t *tensor.Tensor) { t.SetFloat(0, float64(g.between(-1, 4))) }}}
	var bodies []string
	for i := range n {
		args = append(args, x)
		bodies = append(bodies, give(i+1))
	}
	return &call{op: "stablehlo.case", args: args, results: []string{t}, bodies: bodies, rule: Rule{Exact: true}}
}

func (g *Generator) mapped() *call {
	d := g.dtype()
	for d.IsFloat() && d.Bits() < 16 || d.Bits() < 8 && d != tensor.I1 {
		d = g.dtype()
	}
	a := arg{dt: d, shape: g.shape(1, 3), style: verify.Ordinary}
	var dims []int64
	for i := range a.shape {
		dims = append(dims, int64(i))
	}
	op := g.exactBinary(d)
	return &call{op: "stablehlo.map", label: op, args: []arg{a, a}, attrs: []string{ints("dimensions", dims)}, results: []string{typeText(d, a.shape)},
		bodies: []string{body(op, d)}, rule: Rule{Exact: true}}
}

// sortPairs sorts keys, some of them equal, together with a second tensor of another type.
func (g *Generator) sortPairs() *call {
	d, e := []tensor.DType{tensor.I32, tensor.F32, tensor.UI8, tensor.I64, tensor.BF16}[g.rng.IntN(5)], g.dtype()
	shape := g.shape(1, 3)
	keys := arg{dt: d, shape: shape, fill: func(t *tensor.Tensor) {
		for i := range t.NumElements() {
			t.SetFloat(i, float64(g.rng.IntN(4)))
		}
	}}
	kt, et := typeText(d, nil), typeText(e, nil)
	dir := []string{"LT", "GT"}[g.rng.IntN(2)]
	region := fmt.Sprintf("{\n  ^bb0(%%x: %[1]s, %%y: %[1]s, %%p: %[2]s, %%q: %[2]s):\n    %%z = stablehlo.compare %[3]s, %%x, %%y : (%[1]s, %[1]s) -> tensor<i1>\n    \"stablehlo.return\"(%%z) : (tensor<i1>) -> ()\n  }", kt, et, dir)
	dim := g.rng.IntN(len(shape))
	return &call{op: "stablehlo.sort", label: "pairs", args: []arg{keys, {dt: e, shape: shape, style: verify.Edges}},
		attrs:   []string{fmt.Sprintf("dimension = %d : i64", dim), "is_stable = true"},
		results: []string{typeText(d, shape), typeText(e, shape)}, bodies: []string{region}, rule: Rule{Exact: true},
		want: sorted1(dim, func(t *tensor.Tensor, i, j int) int {
			if dir == "GT" {
				i, j = j, i
			}
			return cmp.Compare(t.FloatAt(i), t.FloatAt(j))
		})}
}

// bitcastWidth splits elements into narrower ones, or joins elements.
func (g *Generator) bitcastWidth() *call {
	pairs := [][2]tensor.DType{{tensor.I32, tensor.I8}, {tensor.F32, tensor.I16}, {tensor.UI64, tensor.F32}, {tensor.F64, tensor.UI8}, {tensor.BF16, tensor.UI8}}
	p := pairs[g.rng.IntN(len(pairs))]
	shape := g.shape(0, 2)
	n := int64(p[0].Bits() / p[1].Bits())
	c := &call{op: "stablehlo.bitcast_convert", rule: Rule{Exact: true}}
	if g.rng.IntN(2) == 0 {
		c.label, c.args, c.results = "narrower", []arg{{dt: p[0], shape: shape, style: verify.Anything}}, []string{typeText(p[1], append(shape.Clone(), n))}
	} else {
		c.label, c.args, c.results = "wider", []arg{{dt: p[1], shape: append(shape.Clone(), n), style: verify.Ordinary}}, []string{typeText(p[0], shape)}
	}
	return c
}

func (g *Generator) dimensionSize() *call {
	a := g.anyArg(g.shape(1, 3))
	c := exactCall("get_dimension_size", []arg{a}, fmt.Sprintf("dimension = %d : i64", g.rng.IntN(len(a.shape))))
	c.results = []string{"tensor<i32>"}
	return c
}

// known returns an operand that is a constant of the program, as shapes are.
func known(v []int64) arg {
	return arg{dt: tensor.I64, shape: tensor.Shape{int64(len(v))}, fixed: true, fill: func(t *tensor.Tensor) {
		for i, d := range v {
			t.SetFloat(i, float64(d))
		}
	}}
}

func (g *Generator) dynamicBroadcast() *call {
	c := g.broadcastInDim()
	_, shape, err := tensor.ParseType(c.results[0])
	if err != nil {
		return c
	}
	c.op = "stablehlo.dynamic_broadcast_in_dim"
	c.args = append(c.args, known(shape))
	return c
}

func (g *Generator) dynamicIota() *call {
	c := g.iota()
	_, shape, err := tensor.ParseType(c.results[0])
	if err != nil {
		return c
	}
	c.op = "stablehlo.dynamic_iota"
	c.args = []arg{known(shape)}
	return c
}

func (g *Generator) dynamicReshape() *call {
	c := g.reshape()
	_, shape, err := tensor.ParseType(c.results[0])
	if err != nil {
		return c
	}
	c.op = "stablehlo.dynamic_reshape"
	c.args = append(c.args, known(shape))
	return c
}

func (g *Generator) dynamicPad() *call {
	a := g.anyArg(g.shape(1, 3))
	var lo, hi, in []int64
	out := tensor.Shape{}
	for _, d := range a.shape {
		l, h, i := g.between(-1, 3), g.between(0, 3), g.between(0, 2)
		lo, hi, in = append(lo, l), append(hi, h), append(in, i)
		out = append(out, max(0, l+h+d+max(0, d-1)*i))
	}
	return &call{op: "stablehlo.dynamic_pad", args: []arg{a, {dt: a.dt, style: verify.Edges}, known(lo), known(hi), known(in)}, results: []string{typeText(a.dt, out)}, rule: Rule{Exact: true}}
}

func (g *Generator) realDynamicSlice() *call {
	a := g.anyArg(g.shape(1, 3))
	var lo, hi, stride []int64
	out := tensor.Shape{}
	for _, d := range a.shape {
		l := g.between(0, d)
		h, s := g.between(l, d), g.between(1, 3)
		lo, hi, stride = append(lo, l), append(hi, h), append(stride, s)
		out = append(out, (h-l+s-1)/s)
	}
	return &call{op: "stablehlo.real_dynamic_slice", args: []arg{a, known(lo), known(hi), known(stride)}, results: []string{typeText(a.dt, out)}, rule: Rule{Exact: true}}
}

func (g *Generator) dynamicGather() *call {
	c := g.gather()
	var sizes []int64
	var attrs []string
	for _, a := range c.attrs {
		if text, ok := strings.CutPrefix(a, "slice_sizes = array<i64"); ok {
			for _, f := range strings.Split(strings.Trim(text, ": >"), ",") {
				if v, err := strconv.ParseInt(strings.TrimSpace(f), 10, 64); err == nil {
					sizes = append(sizes, v)
				}
			}
			continue
		}
		attrs = append(attrs, a)
	}
	inferred, err := g.infer(ir.NewContext(), c)
	if err != nil {
		return c
	}
	c.op, c.attrs, c.results = "stablehlo.dynamic_gather", attrs, inferred
	c.args = append(c.args, known(sizes))
	return c
}

func (g *Generator) topK() *call {
	d := []tensor.DType{tensor.F32, tensor.I32, tensor.BF16, tensor.F64}[g.rng.IntN(4)]
	a := arg{dt: d, shape: append(g.shape(0, 2), g.between(1, 9)), style: verify.Ordinary}
	n := a.shape[len(a.shape)-1]
	return &call{op: "chlo.top_k", args: []arg{a}, attrs: []string{fmt.Sprintf("k = %d : i64", g.between(1, n))}, rule: Rule{Exact: true}}
}

func (g *Generator) barrier() *call {
	a, b := g.anyArg(g.shape(0, 3)), g.anyArg(g.shape(0, 3))
	return &call{op: "stablehlo.optimization_barrier", args: []arg{a, b}, results: []string{typeText(a.dt, a.shape), typeText(b.dt, b.shape)}, rule: Rule{Exact: true}}
}

// batchGroups is a convolution with batch groups and, in some dimensions, a reversed window.
func (g *Generator) batchGroups() *call {
	d := []tensor.DType{tensor.F32, tensor.I32, tensor.F64}[g.rng.IntN(3)]
	groups := g.between(1, 3)
	cin, kout, n, w := g.between(1, 3), groups*g.between(1, 2), g.between(3, 6), g.between(1, 3)
	in, ker := tensor.Shape{groups * g.between(1, 2), n, cin}, tensor.Shape{w, cin, kout}
	return &call{op: "stablehlo.convolution", label: "batch groups", args: []arg{{dt: d, shape: in}, {dt: d, shape: ker}},
		attrs: []string{ints("window_strides", []int64{1}), pairsAttr("padding", [][2]int64{{1, 0}}), ints("lhs_dilation", []int64{1}), ints("rhs_dilation", []int64{1}),
			fmt.Sprintf("window_reversal = array<i1: %v>", g.rng.IntN(2) == 0), "dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>",
			"feature_group_count = 1 : i64", fmt.Sprintf("batch_group_count = %d : i64", groups)},
		results: []string{typeText(d, tensor.Shape{in[0] / groups, n + 1 - w + 1, kout})}, rule: Rule{Exact: d.IsInteger(), Terms: int(w*cin) + 1}}
}

func (g *Generator) indexSelect() *call {
	a := g.anyArg(g.shape(1, 3))
	dim := g.rng.IntN(len(a.shape))
	n := max(a.shape[dim], 1)
	a.shape[dim] = n
	idx := tensor.Shape{g.between(1, 4)}
	out := append(append(a.shape[:dim:dim].Clone(), idx...), a.shape[dim+1:]...)
	return &call{op: "stablehlo.torch_index_select", args: []arg{a, {dt: tensor.I32, shape: idx, fill: func(t *tensor.Tensor) {
		for i := range t.NumElements() {
			t.SetFloat(i, float64(g.between(0, n-1)))
		}
	}}}, attrs: []string{fmt.Sprintf("dim = %d : i64", dim), "batch_dims = 0 : i64"}, results: []string{typeText(a.dt, out)}, rule: Rule{Exact: true}}
}

// scatterReplace sets rows, each of them once.
func (g *Generator) scatterReplace() *call {
	d := g.dtype()
	rows, cols := g.between(1, 6), g.size()
	perm := g.perm(int(rows))
	k := g.between(0, rows)
	t := typeText(d, nil)
	region := fmt.Sprintf("{\n  ^bb0(%%x: %[1]s, %%y: %[1]s):\n    \"stablehlo.return\"(%%y) : (%[1]s) -> ()\n  }", t)
	return &call{op: "stablehlo.scatter", label: "replace", args: []arg{g.anyOf(d, tensor.Shape{rows, cols}), {dt: tensor.I32, shape: tensor.Shape{k, 1}, fill: func(t *tensor.Tensor) {
		for i := range t.NumElements() {
			t.SetFloat(i, float64(perm[i]))
		}
	}}, g.anyOf(d, tensor.Shape{k, cols})},
		attrs: []string{"scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>",
			"indices_are_sorted = false", "unique_indices = true"}, bodies: []string{region}, rule: Rule{Exact: true}}
}

func (g *Generator) anyOf(d tensor.DType, shape tensor.Shape) arg {
	return arg{dt: d, shape: shape, style: verify.Edges}
}
