package opgen

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// real returns f32 or f64.
func (g *Generator) real() tensor.DType { return pick(g, tensor.F32, tensor.F64) }

// batchNorm makes one of the three batch norms.
func (g *Generator) batchNorm() *call {
	d, kind := g.real(), pick(g, "inference", "training", "grad")
	shape := tensor.Shape{g.between(1, 4), g.between(1, 4), g.between(2, 5)}
	k := g.rng.IntN(3)
	x, vec := arg{dt: d, shape: shape}, arg{dt: d, shape: tensor.Shape{shape[k]}}
	variance := vec
	variance.fill = g.within(0.5, 1.5)
	c := &call{op: "stablehlo.batch_norm_" + kind, args: []arg{x, vec, vec}, attrs: []attr{{"epsilon", "1.000000e-02 : f32"}, {"feature_index", k}}, rule: Rule{Terms: 4000}}
	switch kind {
	case "inference":
		c.args, c.rule.Terms = append(c.args, vec, variance), 16
	case "grad":
		c.args = append(c.args, variance, x)
	}
	return c
}

// rngBits makes a program that must return the same bits for both algorithms, in every type.
func (g *Generator) rngBits() *call {
	algorithm := pick(g, "THREE_FRY", "PHILOX", "DEFAULT")
	state := tensor.Shape{2}
	if algorithm == "PHILOX" && g.rng.IntN(2) == 0 {
		state = tensor.Shape{3}
	}
	d := pick(g, tensor.UI8, tensor.UI16, tensor.UI32, tensor.UI64) // XLA converts signed bits to unsigned
	out := g.shape(0, 3)
	if g.rng.IntN(3) == 0 {
		out = tensor.Shape{g.between(0, 40)}
	}
	return &call{op: "stablehlo.rng_bit_generator", label: algorithm, args: []arg{{dt: tensor.UI64, shape: state, style: verify.Anything}},
		attrs:   []attr{{"rng_algorithm", "#stablehlo<rng_algorithm " + algorithm + ">"}},
		results: []string{typeText(tensor.UI64, state), typeText(d, out)}, rule: Rule{Exact: true}}
}

// exactBinary returns a binary op that does not round on type d.
func (g *Generator) exactBinary(d tensor.DType) string {
	switch {
	case d == tensor.I1:
		return pick(g, "and", "or", "xor")
	case d.IsInteger():
		return pick(g, "add", "multiply", "subtract", "and", "maximum", "minimum")
	}
	return pick(g, "add", "subtract")
}

// computed returns a type that regions compute with: it has at least eight bits, and a float has at least 16.
func (g *Generator) computed() tensor.DType {
	return g.randomType(func(d tensor.DType) bool { return d == tensor.I1 || d.Bits() >= 8 && (!d.IsFloat() || d.Bits() >= 16) })
}

// while makes a loop that counts to a bound given by an argument and changes two values in each iteration.
func (g *Generator) while() *call {
	d := g.computed()
	a := arg{dt: d, shape: g.shape(0, 2), style: verify.Ordinary}
	t := typeText(d, a.shape)
	op := g.exactBinary(d)
	if d == tensor.F16 || d == tensor.BF16 {
		op = "maximum" // XLA may keep extra digits between iterations, and sums would differ
	}
	head := fmt.Sprintf("^bb0(%%i: tensor<i32>, %%n: tensor<i32>, %%x: %[1]s, %%y: %[1]s):", t)
	cond := fmt.Sprintf("{\n  %s\n    %%c = stablehlo.compare LT, %%i, %%n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    \"stablehlo.return\"(%%c) : (tensor<i1>) -> ()\n  }", head)
	body := fmt.Sprintf("{\n  %[1]s\n    %%one = stablehlo.constant dense<1> : tensor<i32>\n    %%j = stablehlo.add %%i, %%one : tensor<i32>\n    %%z = stablehlo.%[2]s %%x, %%y : %[3]s\n    \"stablehlo.return\"(%%j, %%n, %%y, %%z) : (tensor<i32>, tensor<i32>, %[3]s, %[3]s) -> ()\n  }", head, op, t)
	return &call{op: "stablehlo.while", label: op, args: []arg{scalar(tensor.I32, 0), scalar(tensor.I32, g.between(0, 7)), a, a},
		bodies: []string{cond, body}, rule: Rule{Exact: true}}
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
		return &call{op: "stablehlo.if", args: []arg{{dt: tensor.I1}, x, x}, bodies: []string{give(1), give(2)}, rule: Rule{Exact: true}}
	}
	n := 1 + g.rng.IntN(3)
	args := []arg{scalar(tensor.I32, g.between(-1, 4))}
	var bodies []string
	for i := range n {
		args = append(args, x)
		bodies = append(bodies, give(i+1))
	}
	return &call{op: "stablehlo.case", args: args, bodies: bodies, rule: Rule{Exact: true}}
}

func (g *Generator) mapped() *call {
	d := g.computed()
	a := arg{dt: d, shape: g.shape(1, 3), style: verify.Ordinary}
	dims := sorted(g.perm(len(a.shape)))
	op := g.exactBinary(d)
	return &call{op: "stablehlo.map", label: op, args: []arg{a, a}, attrs: []attr{{"dimensions", dims}},
		bodies: []string{body(op, d)}, rule: Rule{Exact: true}}
}

// sortPairs sorts keys, some of them equal, together with a second tensor of another type.
func (g *Generator) sortPairs() *call {
	d, e := pick(g, tensor.I32, tensor.F32, tensor.UI8, tensor.I64, tensor.BF16), g.dtype()
	shape := g.shape(1, 3)
	keys := arg{dt: d, shape: shape, fill: fillWith(func(int) float64 { return float64(g.rng.IntN(4)) })}
	dir := pick(g, "LT", "GT")
	dim := g.rng.IntN(len(shape))
	return &call{op: "stablehlo.sort", label: "pairs", args: []arg{keys, {dt: e, shape: shape, style: verify.Edges}},
		attrs:  []attr{{"dimension", dim}, {"is_stable", true}},
		bodies: []string{compareBody(dir, d, e)}, rule: Rule{Exact: true}, want: sorted1(dim, dir == "GT")}
}

// bitcastWidth splits elements into narrower elements, or joins elements.
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
	return exactCall("get_dimension_size", []arg{a}, attr{"dimension", g.rng.IntN(len(a.shape))})
}

// known returns an operand that is a constant of the program, for shapes and similar operands.
func known(v []int64) arg {
	return arg{dt: tensor.I64, shape: tensor.Shape{int64(len(v))}, fixed: true, fill: fillWith(func(i int) float64 { return float64(v[i]) })}
}

// dynamic makes the dynamic form of a call. The named attributes become operands that are constants of the program.
// Without names, the shape of the result becomes such an operand.
func (g *Generator) dynamic(c *call, op string, names ...string) *call {
	if g.infer(c) != nil {
		return c // build fails with the same error
	}
	if len(names) == 0 {
		_, shape, _ := tensor.ParseType(c.results[0])
		c.args = append(c.args, known(shape))
	}
	for _, name := range names {
		i := slices.IndexFunc(c.attrs, func(a attr) bool { return a.name == name })
		switch v := c.attrs[i].value.(type) {
		case []int64:
			c.args = append(c.args, known(v))
		case [][2]int64:
			pairs := known(nil)
			pairs.shape, pairs.fill = tensor.Shape{int64(len(v)), 2}, fillWith(func(i int) float64 { return float64(v[i/2][i%2]) })
			c.args = append(c.args, pairs)
		}
		c.attrs = slices.Delete(c.attrs, i, i+1)
	}
	c.op = "stablehlo." + op
	return c
}

func (g *Generator) dynamicBroadcast() *call {
	return g.dynamic(g.broadcastInDim(), "dynamic_broadcast_in_dim")
}
func (g *Generator) dynamicIota() *call    { return g.dynamic(g.iota(), "dynamic_iota") }
func (g *Generator) dynamicReshape() *call { return g.dynamic(g.reshape(), "dynamic_reshape") }
func (g *Generator) dynamicGather() *call {
	return g.dynamic(g.gather(), "dynamic_gather", "slice_sizes")
}

// dynamicConv makes a convolution whose result has elements. XLA does not refuse a convolution with an empty result.
func (g *Generator) dynamicConv() *call {
	for {
		c := g.dynamic(g.convolution(), "dynamic_conv", "padding")
		if _, shape, err := tensor.ParseType(c.results[0]); err == nil && shape.NumElements() > 0 {
			return c
		}
	}
}

func (g *Generator) dynamicPad() *call {
	return g.dynamic(g.pad(), "dynamic_pad", "edge_padding_low", "edge_padding_high", "interior_padding")
}

func (g *Generator) realDynamicSlice() *call {
	return g.dynamic(g.slice(), "real_dynamic_slice", "start_indices", "limit_indices", "strides")
}

func (g *Generator) topK() *call {
	d := pick(g, tensor.F32, tensor.I32, tensor.BF16, tensor.F64)
	a := arg{dt: d, shape: append(g.shape(0, 2), g.between(1, 9)), style: verify.Ordinary}
	n := a.shape[len(a.shape)-1]
	return &call{op: "chlo.top_k", args: []arg{a}, attrs: []attr{{"k", g.between(1, n)}}, rule: Rule{Exact: true}}
}

func (g *Generator) barrier() *call {
	return exactCall("optimization_barrier", []arg{g.anyArg(g.shape(0, 3)), g.anyArg(g.shape(0, 3))})
}

func (g *Generator) indexSelect() *call {
	a := g.anyArg(g.shape(1, 3))
	dim := g.rng.IntN(len(a.shape))
	n := max(a.shape[dim], 1)
	a.shape[dim] = n
	idx := tensor.Shape{g.between(1, 4)}
	out := append(append(a.shape[:dim:dim].Clone(), idx...), a.shape[dim+1:]...)
	return &call{op: "stablehlo.torch_index_select", args: []arg{a, {dt: tensor.I32, shape: idx, fill: fillWith(func(int) float64 { return float64(g.between(0, n-1)) })}}, attrs: []attr{{"dim", dim}, {"batch_dims", 0}}, results: []string{typeText(a.dt, out)}, rule: Rule{Exact: true}}
}

// scatterReplace sets rows, each of them once.
func (g *Generator) scatterReplace() *call {
	d := g.dtype()
	rows, cols := g.between(1, 6), g.size()
	perm := g.perm(int(rows))
	k := g.between(0, rows)
	t := typeText(d, nil)
	region := fmt.Sprintf("{\n  ^bb0(%%x: %[1]s, %%y: %[1]s):\n    \"stablehlo.return\"(%%y) : (%[1]s) -> ()\n  }", t)
	return &call{op: "stablehlo.scatter", label: "replace", args: []arg{edges(d, tensor.Shape{rows, cols}),
		{dt: tensor.I32, shape: tensor.Shape{k, 1}, fill: fillWith(func(i int) float64 { return float64(perm[i]) })}, edges(d, tensor.Shape{k, cols})},
		attrs: []attr{{"scatter_dimension_numbers", "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"},
			{"indices_are_sorted", false}, {"unique_indices", true}}, bodies: []string{region}, rule: Rule{Exact: true}}
}
