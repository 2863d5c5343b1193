package opgen

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// pairBody returns a reducer of two values of different types whose result does not depend on the order.
func pairBody(d, e tensor.DType, first, second string) string {
	t, u := typeText(d, nil), typeText(e, nil)
	return fmt.Sprintf("{\n  ^bb0(%%x: %[1]s, %%p: %[2]s, %%y: %[1]s, %%q: %[2]s):\n    %%a = stablehlo.%[3]s %%x, %%y : %[1]s\n    %%b = stablehlo.%[4]s %%p, %%q : %[2]s\n    \"stablehlo.return\"(%%a, %%b) : (%[1]s, %[2]s) -> ()\n  }", t, u, first, second)
}

// reducePairs reduces two inputs of different types with one region.
func (g *Generator) reducePairs() *call {
	shape := g.shape(1, 4)
	return g.twoTypes("reduce", shape, attr{"dimensions", g.subset(len(shape))})
}

func (g *Generator) reduceWindowPairs() *call {
	shape := g.shape(1, 3)
	return g.twoTypes("reduce_window", shape, g.window(shape, -1).attrs()...)
}

// twoTypes makes a reduction of two inputs of different integer types.
func (g *Generator) twoTypes(op string, shape tensor.Shape, attrs ...attr) *call {
	d, e := g.wholeNumber(), g.wholeNumber()
	f, s := g.reducer(d).op, g.reducer(e).op
	return &call{op: "stablehlo." + op, label: "pairs", args: []arg{edges(d, shape), edges(e, shape), initial(f, d), initial(s, e)}, attrs: attrs,
		bodies: []string{pairBody(d, e, f, s)}, rule: Rule{Exact: true}}
}

// wholeNumber returns an integer type.
func (g *Generator) wholeNumber() tensor.DType { return g.randomType(tensor.DType.IsInteger) }

// reduceGeneral reduces with a region of several ops that is associative and commutative. It selects the smaller of two
// values, compared first without the lowest bit, then with it.
func (g *Generator) reduceGeneral() *call {
	d := pick(g, tensor.I32, tensor.UI8, tensor.I64, tensor.UI16)
	a := edges(d, g.shape(1, 4))
	t := typeText(d, nil)
	region := fmt.Sprintf(`{
  ^bb0(%%x: %[1]s, %%y: %[1]s):
    %%o = stablehlo.constant dense<1> : %[1]s
    %%p = stablehlo.or %%x, %%o : %[1]s
    %%q = stablehlo.or %%y, %%o : %[1]s
    %%l = stablehlo.compare LT, %%p, %%q : (%[1]s, %[1]s) -> tensor<i1>
    %%e = stablehlo.compare EQ, %%p, %%q : (%[1]s, %[1]s) -> tensor<i1>
    %%m = stablehlo.minimum %%x, %%y : %[1]s
    %%s = stablehlo.select %%l, %%x, %%y : tensor<i1>, %[1]s
    %%r = stablehlo.select %%e, %%m, %%s : tensor<i1>, %[1]s
    "stablehlo.return"(%%r) : (%[1]s) -> ()
  }`, t)
	return &call{op: "stablehlo.reduce", label: "general", args: []arg{a, initial("minimum", d)}, attrs: []attr{{"dimensions", g.subset(len(a.shape))}}, bodies: []string{region}, rule: Rule{Exact: true}}
}

// extremaOfTwo makes a maximum, a minimum or a clamp of edge values.
func (g *Generator) extremaOfTwo() *call {
	a := edges(g.randomType(func(d tensor.DType) bool { return !d.IsComplex() }), g.shape(0, 3))
	if g.rng.IntN(3) == 0 {
		return exactCall("clamp", []arg{a, a, a})
	}
	return exactCall(pick(g, "maximum", "minimum"), []arg{a, a})
}

// scan runs a recurrence along a dimension.
func (g *Generator) scan() *call {
	d := pick(g, tensor.I32, tensor.I64, tensor.UI8)
	rows, cols := g.between(1, 6), g.between(1, 4)
	row, whole := typeText(d, tensor.Shape{cols}), typeText(d, tensor.Shape{rows, cols})
	region := fmt.Sprintf("{\n  ^bb0(%%x: %[1]s, %%y: %[1]s):\n    %%a = stablehlo.%[2]s %%x, %%y : %[1]s\n    \"stablehlo.return\"(%%a, %%a) : (%[1]s, %[1]s) -> ()\n  }", row, g.exactBinary(d))
	return &call{op: "chlo.scan", args: []arg{{dt: d, shape: tensor.Shape{rows, cols}, style: verify.Edges}, {dt: d, shape: tensor.Shape{cols}, style: verify.Edges}}, bodies: []string{region},
		attrs: []attr{{"dimension", 0}, {"is_reverse", g.rng.IntN(2) == 0}, {"operandSegmentSizes", "array<i32: 1, 1>"}, {"resultSegmentSizes", "array<i32: 1, 1>"}}, results: []string{whole, row}, rule: Rule{Exact: true}}
}

// gatherBatching gathers with a batching dimension of operand and indices.
func (g *Generator) gatherBatching() *call {
	batch, rows, cols, n := g.between(1, 4), g.between(1, 5), g.between(1, 4), g.between(1, 4)
	a := g.anyArg(tensor.Shape{batch, rows, cols})
	size := g.between(1, cols)
	return exactCall("gather", []arg{a, {dt: g.indexType(), shape: tensor.Shape{n, batch, 2}, fill: g.indices(max(rows, cols))}},
		attr{"dimension_numbers", "#stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [2, 1], index_vector_dim = 2>"},
		attr{"slice_sizes", []int64{1, 1, size}}, attr{"indices_are_sorted", false})
}

// scatterSeveral updates two tensors at once, with a batching dimension, by a region that works in any order.
func (g *Generator) scatterSeveral() *call {
	d, e := g.wholeNumber(), g.wholeNumber()
	f, s := g.reducer(d).op, g.reducer(e).op
	batch, rows, cols, n := g.between(1, 4), g.between(1, 5), g.size(), g.between(1, 5)
	in, up := tensor.Shape{batch, rows, cols}, tensor.Shape{n, batch, cols}
	at := arg{dt: g.indexType(), shape: tensor.Shape{n, batch, 1}, fill: g.indices(rows)}
	return &call{op: "stablehlo.scatter", label: "several", args: []arg{edges(d, in), edges(e, in), at, edges(d, up), edges(e, up)}, bodies: []string{pairBody(d, e, f, s)},
		attrs: []attr{{"scatter_dimension_numbers", "#stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>"},
			{"indices_are_sorted", false}, {"unique_indices", false}}, rule: Rule{Exact: true}}
}

// sortGeneral sorts by two keys, the first descending and without its lowest bits, the second ascending.
func (g *Generator) sortGeneral() *call {
	shape := g.shape(1, 3)
	d := pick(g, tensor.I32, tensor.UI8, tensor.I16)
	e := pick(g, tensor.F32, tensor.F64, tensor.F16, tensor.BF16, tensor.F8E5M2)
	t, u := typeText(d, nil), typeText(e, nil)
	region := fmt.Sprintf(`{
  ^bb0(%%x: %[1]s, %%y: %[1]s, %%p: %[2]s, %%q: %[2]s):
    %%m = stablehlo.constant dense<12> : %[1]s
    %%a = stablehlo.and %%x, %%m : %[1]s
    %%b = stablehlo.and %%y, %%m : %[1]s
    %%g = stablehlo.compare GT, %%a, %%b : (%[1]s, %[1]s) -> tensor<i1>
    %%e = stablehlo.compare EQ, %%a, %%b : (%[1]s, %[1]s) -> tensor<i1>
    %%l = stablehlo.compare LT, %%p, %%q, TOTALORDER : (%[2]s, %[2]s) -> tensor<i1>
    %%k = stablehlo.and %%e, %%l : tensor<i1>
    %%o = stablehlo.or %%g, %%k : tensor<i1>
    "stablehlo.return"(%%o) : (tensor<i1>) -> ()
  }`, t, u)
	return &call{op: "stablehlo.sort", label: "by two keys", args: []arg{{dt: d, shape: shape, style: verify.Edges}, {dt: e, shape: shape, style: verify.Edges}},
		attrs:  []attr{{"dimension", g.rng.IntN(len(shape))}, {"is_stable", true}},
		bodies: []string{region}, rule: Rule{Exact: true}}
}

func (g *Generator) sort() *call {
	d := g.randomType(func(d tensor.DType) bool { return d != tensor.I1 && !d.IsComplex() })
	a, dir := edges(d, g.shape(1, 3)), "LT"
	if d.IsFloat() {
		dir = "LT , TOTALORDER"
	}
	dim := g.rng.IntN(len(a.shape))
	return &call{op: "stablehlo.sort", args: []arg{a}, attrs: []attr{{"dimension", dim}, {"is_stable", true}},
		bodies: []string{compareBody(dir, d)}, rule: Rule{Exact: true}, want: sorted1(dim, false)}
}

// sorted1 returns a function that sorts all arguments along a dimension by the first one.
func sorted1(dim int, descending bool) func(args []*tensor.Tensor) []*tensor.Tensor {
	return func(args []*tensor.Tensor) []*tensor.Tensor {
		shape := args[0].Shape()
		n, inner := int(shape[dim]), int(shape[dim+1:].NumElements())
		var out []*tensor.Tensor
		for _, a := range args {
			out = append(out, tensor.New(a.DType(), shape))
		}
		if args[0].NumElements() == 0 {
			return out
		}
		for line := range args[0].NumElements() / n {
			base := line/inner*n*inner + line%inner
			order := make([]int, n)
			for i := range order {
				order[i] = base + i*inner
			}
			slices.SortStableFunc(order, func(i, j int) int {
				if descending {
					i, j = j, i
				}
				return cmp.Compare(rank(args[0], i), rank(args[0], j))
			})
			for i, from := range order {
				for k, a := range args {
					if size := a.DType().Size(); size > 0 {
						to := base + i*inner
						copy(out[k].Bytes()[to*size:(to+1)*size], a.Bytes()[from*size:(from+1)*size])
					}
				}
			}
		}
		return out
	}
}

// rank returns the place of element i among all values of its type, in TOTALORDER for floats.
func rank(t *tensor.Tensor, i int) uint64 {
	d, code := t.DType(), t.Bits(i)
	sign := uint64(1) << (d.Bits() - 1)
	switch {
	case d.Kind() == tensor.KindSigned:
		return uint64(t.IntAt(i)) ^ 1<<63
	case !d.IsFloat() || d == tensor.F8E8M0FNU:
		return code
	case code < sign:
		return code + sign + 1
	case code == sign && math.IsNaN(t.FloatAt(i)):
		return 0 // the only NaN of a type without -0
	}
	return 2*sign - code
}
