package opgen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Random returns a program of a random op that is not element-wise, with random shapes and attributes. It tries again
// if the op's row refuses the program.
func (g *Generator) Random() (*Program, error) { return g.oneOf(g.structural()...) }

// Large returns a program on shapes of up to a million elements, which engines split into blocks and compute in
// parallel.
func (g *Generator) Large() (*Program, error) {
	g.large = true
	defer func() { g.large = false }()
	return g.Random()
}

func (g *Generator) oneOf(makers ...func() *call) (*Program, error) {
	var last error
	for range 100 {
		p, err := g.build(pick(g, makers...)())
		if err == nil {
			return p, nil
		}
		last = err
	}
	return nil, fmt.Errorf("no program in 100 tries: %w", last)
}

// structural returns the makers of random calls.
func (g *Generator) structural() []func() *call {
	return []func() *call{
		g.transpose, g.reverse, g.slice, g.dynamicSlice, g.dynamicUpdateSlice, g.concatenate, g.pad, g.iota, g.broadcastInDim, g.reshape, g.gather,
		g.scatter, g.sort, g.dotGeneral, g.reduce, g.reduceWindow, g.selectAndScatter, g.convolution, g.cholesky, g.triangularSolve, g.fft, g.clampScalar,
		g.selectScalar, g.reduceArgMax, g.batchNorm, g.batchNorm, g.rngBits, g.while, g.branch, g.mapped, g.sortPairs, g.bitcastWidth, g.dimensionSize,
		g.dynamicBroadcast, g.dynamicIota, g.dynamicReshape, g.dynamicPad, g.realDynamicSlice, g.dynamicGather, g.topK, g.barrier, g.convolution,
		g.indexSelect, g.scatterReplace, g.composite, g.calls, g.tuple, g.constant, g.constantLike, g.tokens, g.boundedSize, g.branchesInLoop, g.chain,
		g.oneDevice, g.broadcast, g.broadcasting, g.broadcasting, g.broadcastingSelect, g.elementwiseOp, g.dot, g.einsum, g.dotGeneral, g.convolution,
		g.gatherBatching, g.scatterSeveral, g.reducePairs, g.reduceGeneral, g.reduceWindowPairs, g.extremaOfTwo, g.sortGeneral,
	}
}

// Refused returns programs of ops that XLA's CPU plugin refuses with any operands.
func (g *Generator) Refused() ([]*Program, error) {
	return g.programs(g.async, g.unaryEinsum, g.raggedDot, g.scan, g.dynamicConv, g.quantize)
}

// EveryMaker returns a program of each maker. It fails if an op's row refuses all attempts of a maker. A program
// depends on the seed and its maker only: an op that is new to one maker leaves the programs of the other makers alone.
func (g *Generator) EveryMaker() ([]*Program, error) { return g.programs(g.structural()...) }

func (g *Generator) programs(makers ...func() *call) (out []*Program, err error) {
	before := g.rng
	defer func() { g.rng = before }()
	for i, m := range makers {
		g.rng = rand.New(rand.NewPCG(g.seed, 1<<32+uint64(i)))
		p, err := g.oneOf(m)
		if err != nil {
			return nil, fmt.Errorf("maker %d: %w", i, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// xlaTypes are the types that XLA's CPU plugin accepts in every op: all but those of six bits.
func xlaTypes() []tensor.DType {
	return slices.DeleteFunc(Types(), func(d tensor.DType) bool { return d.Bits() == 6 })
}

func (g *Generator) dtype() tensor.DType { return xlaTypes()[g.rng.IntN(len(xlaTypes()))] }

// randomType returns a random type that f accepts.
func (g *Generator) randomType(f func(d tensor.DType) bool) tensor.DType {
	for {
		if d := g.dtype(); f(d) {
			return d
		}
	}
}

// number returns a type that supports addition.
func (g *Generator) number() tensor.DType {
	return g.randomType(func(d tensor.DType) bool { return d != tensor.I1 })
}

// pick returns a random element of a list.
func pick[T any](g *Generator, list ...T) T { return list[g.rng.IntN(len(list))] }

// size returns a small dimension, sometimes 0 or 1.
func (g *Generator) size() int64 {
	switch g.rng.IntN(12) {
	case 0:
		return 0
	case 1, 2:
		return 1
	}
	return int64(2 + g.rng.IntN(6))
}

func (g *Generator) shape(min, max int) tensor.Shape {
	s := make(tensor.Shape, min+g.rng.IntN(max-min+1))
	for i := range s {
		s[i] = g.size()
	}
	if g.large && s.NumElements() > 0 && len(s) > 0 {
		for least := int64(1) << (10 + g.rng.IntN(8)); s.NumElements() < least; {
			i := g.rng.IntN(len(s))
			s[i] = s[i]*g.between(2, 5) + g.between(0, 1)
		}
	}
	return s
}

func (g *Generator) between(lo, hi int64) int64 {
	if hi <= lo {
		return lo
	}
	return lo + g.rng.Int64N(hi-lo+1)
}

// edges returns an operand of edge values.
func edges(d tensor.DType, shape tensor.Shape) arg {
	return arg{dt: d, shape: shape, style: verify.Edges}
}

func (g *Generator) anyArg(shape tensor.Shape) arg { return edges(g.dtype(), shape) }

// scalar returns an argument of one number.
func scalar(dt tensor.DType, v int64) arg {
	return arg{dt: dt, fill: fillWith(func(int) float64 { return float64(v) })}
}

// fillWith fills with the values of f.
func fillWith(f func(i int) float64) func(t *tensor.Tensor) {
	return func(t *tensor.Tensor) {
		for i := range t.NumElements() {
			t.SetFloat(i, f(i))
		}
	}
}

func exactCall(op string, args []arg, attrs ...attr) *call {
	return &call{op: "stablehlo." + op, args: args, attrs: attrs, rule: Rule{Exact: true}}
}

func (g *Generator) perm(n int) []int64 {
	out := make([]int64, n)
	for i, p := range g.rng.Perm(n) {
		out[i] = int64(p)
	}
	return out
}

func (g *Generator) transpose() *call {
	a := g.anyArg(g.shape(0, 4))
	return exactCall("transpose", []arg{a}, attr{"permutation", g.perm(len(a.shape))})
}

// subset returns some of 0..n-1 in order.
func (g *Generator) subset(n int) []int64 {
	var out []int64
	for i := range n {
		if g.rng.IntN(2) == 0 {
			out = append(out, int64(i))
		}
	}
	return out
}

func (g *Generator) reverse() *call {
	a := g.anyArg(g.shape(0, 4))
	return exactCall("reverse", []arg{a}, attr{"dimensions", g.subset(len(a.shape))})
}

func (g *Generator) slice() *call {
	a := g.anyArg(g.shape(0, 4))
	var lo, hi, stride []int64
	for _, d := range a.shape {
		l := g.between(0, d)
		lo, hi, stride = append(lo, l), append(hi, g.between(l, d)), append(stride, g.between(1, 3))
	}
	return exactCall("slice", []arg{a}, attr{"start_indices", lo}, attr{"limit_indices", hi}, attr{"strides", stride})
}

// index returns a scalar that may lie outside the dimension.
func (g *Generator) index(dt tensor.DType, d int64) arg {
	return scalar(dt, g.between(-2, d+2))
}

// indexType returns a type of indices. XLA limits indices in their own type: the limit of a large dimension does not
// fit in i8, and XLA then reads and writes outside.
func (g *Generator) indexType() tensor.DType {
	if g.large {
		return pick(g, tensor.I32, tensor.I64, tensor.UI32)
	}
	return pick(g, tensor.I32, tensor.I64, tensor.UI32, tensor.I8, tensor.UI8)
}

func (g *Generator) dynamicSlice() *call {
	a := g.anyArg(g.shape(0, 3))
	args, dt := []arg{a}, g.indexType()
	var sizes []int64
	for _, d := range a.shape {
		sizes = append(sizes, g.between(0, d))
		args = append(args, g.index(dt, d))
	}
	return exactCall("dynamic_slice", args, attr{"slice_sizes", sizes})
}

func (g *Generator) dynamicUpdateSlice() *call {
	a := g.anyArg(g.shape(0, 3))
	args, dt := []arg{a, {dt: a.dt, style: verify.Edges}}, g.indexType()
	for _, d := range a.shape {
		args[1].shape = append(args[1].shape, g.between(0, d))
		args = append(args, g.index(dt, d))
	}
	return exactCall("dynamic_update_slice", args)
}

func (g *Generator) concatenate() *call {
	a := g.anyArg(g.shape(1, 3))
	dim := g.rng.IntN(len(a.shape))
	args := []arg{a}
	for range g.rng.IntN(3) {
		b := a
		b.shape = a.shape.Clone()
		b.shape[dim] = g.size()
		args = append(args, b)
	}
	return exactCall("concatenate", args, attr{"dimension", dim})
}

func (g *Generator) pad() *call {
	a := g.anyArg(g.shape(0, 3))
	var lo, hi, in []int64
	for range a.shape {
		lo, hi, in = append(lo, g.between(-2, 3)), append(hi, g.between(-2, 3)), append(in, g.between(0, 2))
	}
	return exactCall("pad", []arg{a, {dt: a.dt, style: verify.Edges}}, attr{"edge_padding_low", lo}, attr{"edge_padding_high", hi}, attr{"interior_padding", in})
}

func (g *Generator) iota() *call {
	dt, shape := g.number(), g.shape(1, 3)
	c := exactCall("iota", nil, attr{"iota_dimension", g.rng.IntN(len(shape))})
	c.results = []string{typeText(dt, shape)}
	return c
}

func (g *Generator) broadcastInDim() *call {
	out := g.shape(0, 4)
	dims := g.subset(len(out))
	a := g.anyArg(nil)
	for _, d := range dims {
		n := out[d]
		if g.rng.IntN(3) == 0 {
			n = 1
		}
		a.shape = append(a.shape, n)
	}
	c := exactCall("broadcast_in_dim", []arg{a}, attr{"broadcast_dimensions", dims})
	c.results = []string{typeText(a.dt, out)}
	return c
}

func (g *Generator) reshape() *call {
	a := g.anyArg(g.shape(0, 3))
	out := a.shape.Clone()
	g.rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	if g.rng.IntN(2) == 0 {
		out = append(out, 1)
	}
	if g.rng.IntN(2) == 0 {
		out = tensor.Shape{a.shape.NumElements()}
	}
	c := exactCall("reshape", []arg{a})
	c.results = []string{typeText(a.dt, out)}
	return c
}

// indices fills with positions that may lie outside of [0, limit).
func (g *Generator) indices(limit int64) func(t *tensor.Tensor) {
	return fillWith(func(int) float64 { return float64(g.between(-1, limit)) })
}

func (g *Generator) gather() *call {
	a := g.anyArg(g.shape(1, 3))
	rank := len(a.shape)
	start := g.perm(rank)[:1+g.rng.IntN(rank)]
	var sizes, collapsed, offset []int64
	for d, n := range a.shape {
		size := g.between(0, n)
		if g.rng.IntN(2) == 0 && n > 0 {
			size = 1
			collapsed = append(collapsed, int64(d))
		}
		sizes = append(sizes, size)
	}
	batch := g.shape(0, 2)
	shape := append(batch.Clone(), int64(len(start)))
	var at []int64
	for i := range len(batch) + rank - len(collapsed) {
		at = append(at, int64(i))
	}
	g.rng.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
	offset = sorted(at[:rank-len(collapsed)])
	dims := fmt.Sprintf("#stablehlo.gather<offset_dims = [%s], collapsed_slice_dims = [%s], start_index_map = [%s], index_vector_dim = %d>",
		list(offset), list(collapsed), list(start), len(batch))
	limit := int64(1)
	for _, n := range a.shape {
		limit = max(limit, n)
	}
	return exactCall("gather", []arg{a, {dt: g.indexType(), shape: shape, fill: g.indices(limit)}}, attr{"dimension_numbers", dims}, attr{"slice_sizes", sizes}, attr{"indices_are_sorted", false})
}

func sorted(v []int64) []int64 { return slices.Sorted(slices.Values(v)) }

// reducer is a computation, either independent of the order or with rounding that depends on it.
type reducer struct {
	op    string
	exact bool // the same result in every order
}

func (g *Generator) reducer(d tensor.DType) reducer {
	op := "add"
	switch {
	case d == tensor.I1:
		op = pick(g, "and", "or", "xor")
	case d.IsInteger():
		op = pick(g, "add", "maximum", "minimum", "multiply", "and", "xor")
	case !d.IsComplex():
		op = pick(g, "add", "maximum", "minimum", "multiply")
	}
	return reducer{op, d.IsInteger() || op == "maximum" || op == "minimum"}
}

func body(op string, d tensor.DType) string {
	t := typeText(d, nil)
	return fmt.Sprintf("{\n  ^bb0(%%x: %[1]s, %%y: %[1]s):\n    %%z = stablehlo.%[2]s %%x, %%y : %[1]s\n    \"stablehlo.return\"(%%z) : (%[1]s) -> ()\n  }", t, op)
}

// compareBody returns a region that compares its first two arguments; each further type adds two arguments.
func compareBody(dir string, d tensor.DType, more ...tensor.DType) string {
	t, rest := typeText(d, nil), ""
	for i, e := range more {
		rest += fmt.Sprintf(", %%p%[1]d: %[2]s, %%q%[1]d: %[2]s", i, typeText(e, nil))
	}
	dir, kind, _ := strings.Cut(dir, " ")
	return fmt.Sprintf("{\n  ^bb0(%%x: %[1]s, %%y: %[1]s%[2]s):\n    %%z = stablehlo.compare %[3]s, %%x, %%y%[4]s : (%[1]s, %[1]s) -> tensor<i1>\n    \"stablehlo.return\"(%%z) : (tensor<i1>) -> ()\n  }", t, rest, dir, kind)
}

// initial fills a scalar with the identity of the op, as in usual programs.
func initial(op string, d tensor.DType) arg {
	return arg{dt: d, fixed: true, fill: func(t *tensor.Tensor) {
		switch {
		case op == "multiply":
			t.SetFloat(0, 1)
		case op == "and" && d == tensor.I1:
			t.SetBits(0, 1)
		case op == "and" && !d.IsComplex():
			t.SetBits(0, verify.Canonical(d, ^uint64(0)))
		case (op == "maximum" || op == "minimum") && !d.IsComplex():
			t.SetBits(0, extreme(d, op == "minimum"))
		}
	}}
}

// extreme returns the code of the largest or smallest value of a type.
func extreme(d tensor.DType, largest bool) uint64 {
	codes := slices.DeleteFunc(verify.EdgeBits(d), func(code uint64) bool {
		// XLA sees no number in the least f8E8M0FNU, which is denormal in f32.
		return d.IsFloat() && math.IsNaN(tensor.DecodeFloat(d, code)) || d == tensor.F8E8M0FNU && code == 0
	})
	t := tensor.New(d, tensor.Shape{int64(len(codes))})
	best := 0
	for i, code := range codes {
		if t.SetBits(i, code); (rank(t, i) > rank(t, best)) == largest {
			best = i
		}
	}
	return t.Bits(best)
}

// numbers returns an argument with edge values for an exact computation, else with ordinary values.
func (g *Generator) numbers(d tensor.DType, shape tensor.Shape, exact bool) arg {
	a := arg{dt: d, shape: shape, style: verify.Ordinary}
	switch {
	case exact:
		a.style = verify.Edges
	case d == tensor.F8E8M0FNU:
		a.fill = g.within(0.125, 64) // the type has no negative numbers: they are NaN
	}
	return a
}

func (g *Generator) reduce() *call {
	d := g.dtype()
	r := g.reducer(d)
	a := g.numbers(d, g.shape(1, 4), r.exact)
	dims := g.subset(len(a.shape))
	terms := 1
	for _, k := range dims {
		terms *= int(max(1, a.shape[k]))
	}
	return &call{op: "stablehlo.reduce", label: r.op, args: []arg{a, initial(r.op, d)}, attrs: []attr{{"dimensions", dims}},
		bodies: []string{body(r.op, d)}, rule: Rule{Exact: r.exact, Terms: terms + 1}}
}

func (g *Generator) reduceArgMax() *call {
	d := pick(g, tensor.F32, tensor.I32, tensor.UI8, tensor.F64)
	shape := g.shape(1, 3)
	a := arg{dt: d, shape: shape}
	at := arg{dt: tensor.I32, shape: shape, fill: fillWith(func(i int) float64 { return float64(i) })}
	t, it := typeText(d, nil), typeText(tensor.I32, nil)
	region := fmt.Sprintf(`{
  ^bb0(%%x: %[1]s, %%i: %[2]s, %%y: %[1]s, %%j: %[2]s):
    %%c = stablehlo.compare GT, %%x, %%y : (%[1]s, %[1]s) -> tensor<i1>
    %%e = stablehlo.compare EQ, %%x, %%y : (%[1]s, %[1]s) -> tensor<i1>
    %%l = stablehlo.compare LT, %%i, %%j : (%[2]s, %[2]s) -> tensor<i1>
    %%b = stablehlo.and %%e, %%l : tensor<i1>
    %%o = stablehlo.or %%c, %%b : tensor<i1>
    %%v = stablehlo.select %%o, %%x, %%y : tensor<i1>, %[1]s
    %%k = stablehlo.select %%o, %%i, %%j : tensor<i1>, %[2]s
    "stablehlo.return"(%%v, %%k) : (%[1]s, %[2]s) -> ()
  }`, t, it)
	return &call{op: "stablehlo.reduce", label: "argmax", args: []arg{a, at, initial("maximum", d), initial("minimum", tensor.I32)},
		attrs: []attr{{"dimensions", []int64{int64(g.rng.IntN(len(shape)))}}}, bodies: []string{region}, rule: Rule{Exact: true}}
}

func (g *Generator) reduceWindow() *call {
	d := g.number()
	r := g.reducer(d)
	a := g.numbers(d, g.shape(1, 3), r.exact)
	w := g.window(a.shape, 0)
	return &call{op: "stablehlo.reduce_window", label: r.op, args: []arg{a, initial(r.op, d)}, attrs: w.attrs(),
		bodies: []string{body(r.op, d)}, rule: Rule{Exact: r.exact, Terms: w.terms() + 1}}
}

func (g *Generator) selectAndScatter() *call {
	d := pick(g, tensor.F32, tensor.I32, tensor.F64, tensor.I16)
	var in, out tensor.Shape
	var size, stride []int64
	for range 1 + g.rng.IntN(2) {
		w, s, n := g.between(1, 3), g.between(1, 3), g.between(1, 4)
		size, stride = append(size, w), append(stride, s)
		out, in = append(out, n), append(in, (n-1)*s+w)
	}
	return &call{op: "stablehlo.select_and_scatter", args: []arg{{dt: d, shape: in}, {dt: d, shape: out}, initial("add", d)},
		attrs:  []attr{{"window_dimensions", size}, {"window_strides", stride}},
		bodies: []string{compareBody("GE", d), body("add", d)}, rule: Rule{Exact: d.IsInteger(), Terms: 16}}
}

func (g *Generator) scatter() *call {
	d := g.number()
	r := g.reducer(d)
	a := g.numbers(d, g.shape(1, 3), r.exact)
	rank := len(a.shape)
	to := g.perm(rank)[:1+g.rng.IntN(rank)]
	batch := g.shape(0, 2)
	var inserted, window []int64
	update, extents := batch.Clone(), make([]int64, rank)
	for k, n := range a.shape {
		if extents[k] = 1; g.rng.IntN(2) == 0 && n > 0 {
			inserted = append(inserted, int64(k))
			continue
		}
		extents[k] = g.between(0, n)
		window, update = append(window, int64(len(update))), append(update, extents[k])
	}
	// XLA ignores an update window that is partly outside the operand; the specification ignores only the part outside.
	// Windows of several elements therefore stay inside; other windows may lie outside.
	low, high := make([]int64, len(to)), make([]int64, len(to))
	for i, d := range to {
		if low[i], high[i] = -1, a.shape[d]; extents[d] != 1 {
			low[i], high[i] = 0, a.shape[d]-extents[d]
		}
	}
	starts := fillWith(func(i int) float64 { return float64(g.between(low[i%len(to)], high[i%len(to)])) })
	u := a
	u.shape = update
	dims := fmt.Sprintf("#stablehlo.scatter<update_window_dims = [%s], inserted_window_dims = [%s], scatter_dims_to_operand_dims = [%s], index_vector_dim = %d>",
		list(window), list(inserted), list(to), len(batch))
	return &call{op: "stablehlo.scatter", label: r.op, args: []arg{a, {dt: pick(g, tensor.I32, tensor.I64), shape: append(batch.Clone(), int64(len(to))), fill: starts}, u},
		attrs: []attr{{"scatter_dimension_numbers", dims}, {"indices_are_sorted", false}, {"unique_indices", false}}, bodies: []string{body(r.op, d)},
		rule: Rule{Exact: r.exact, Terms: int(batch.NumElements()) + 1}}
}

func (g *Generator) clampScalar() *call {
	d := g.randomType(func(d tensor.DType) bool { return !d.IsComplex() })
	return exactCall("clamp", []arg{{dt: d}, {dt: d, shape: g.shape(0, 3)}, {dt: d}})
}

func (g *Generator) selectScalar() *call {
	a := g.anyArg(g.shape(0, 3))
	return exactCall("select", []arg{{dt: tensor.I1}, a, a})
}
