package opgen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// factors returns two operands of a product without NaN. Types that do not round get edge values.
func (g *Generator) factors(d tensor.DType, l, r tensor.Shape) []arg {
	return []arg{g.numbers(d, l, d.IsInteger()), g.numbers(d, r, d.IsInteger())}
}

// dot makes the old product of vectors and matrices.
func (g *Generator) dot() *call {
	d, n := g.number(), g.size()
	l, r := append(g.shape(0, 1), n), append(tensor.Shape{n}, g.shape(0, 1)...)
	return &call{op: "stablehlo.dot", args: g.factors(d, l, r), rule: Rule{Exact: d.IsInteger(), Terms: int(max(1, n)) + 1}}
}

func (g *Generator) einsum() *call {
	return g.einsumOf("einsum", "ab,bc->ac", "abc,acd->abd", "ab,ab->ab", "ab,cb->ca", "a,b->ab", "ab,b->a", "abc,cb->a")
}

func (g *Generator) unaryEinsum() *call {
	return g.einsumOf("unary_einsum", "ab->a", "ab->ba", "abc->b", "aa->a", "ab->")
}

func (g *Generator) einsumOf(op string, configs ...string) *call {
	d, config := pick(g, tensor.F32, tensor.F64, tensor.I32, tensor.Complex64), pick(g, configs...)
	size := map[rune]int64{}
	shape := func(names string) tensor.Shape {
		s := tensor.Shape{}
		for _, n := range names {
			if _, ok := size[n]; !ok {
				size[n] = g.between(1, 5)
			}
			s = append(s, size[n])
		}
		return s
	}
	in, to, _ := strings.Cut(config, "->")
	var args []arg
	for _, names := range strings.Split(in, ",") {
		args = append(args, g.numbers(d, shape(names), d.IsInteger()))
	}
	return &call{op: "stablehlo." + op, label: config, args: args, attrs: []attr{{"einsum_config", strconv.Quote(config)}}, results: []string{typeText(d, shape(to))},
		rule: Rule{Exact: d.IsInteger(), Terms: 26}}
}

// dotGeneral makes a dot_general with its batch, free and contracted dimensions in any order.
func (g *Generator) dotGeneral() *call {
	d := g.number()
	nb, nc := g.rng.IntN(3), g.rng.IntN(3)
	free := [2]tensor.Shape{g.shape(0, 2), g.shape(0, 2)}
	var sides [2]tensor.Shape
	var perms [2][]int64
	for k := range sides {
		sides[k], perms[k] = make(tensor.Shape, nb+nc+len(free[k])), g.perm(nb+nc+len(free[k]))
	}
	terms := int64(1)
	for i := range nb + nc {
		n := g.size()
		for k := range sides {
			sides[k][perms[k][i]] = n
		}
		if i >= nb {
			terms *= max(1, n)
		}
	}
	for k, p := range perms {
		for i, at := range sorted(p[nb+nc:]) {
			sides[k][at] = free[k][i]
		}
	}
	l, r := perms[0], perms[1]
	return &call{op: "stablehlo.dot_general", args: g.factors(d, sides[0], sides[1]),
		attrs: []attr{{"dot_dimension_numbers", fmt.Sprintf("#stablehlo.dot<lhs_batching_dimensions = [%s], rhs_batching_dimensions = [%s], lhs_contracting_dimensions = [%s], rhs_contracting_dimensions = [%s]>",
			list(l[:nb]), list(r[:nb]), list(l[nb:nb+nc]), list(r[nb:nb+nc]))}},
		rule: Rule{Exact: d.IsInteger(), Terms: int(terms) + 1}}
}

// raggedDot multiplies each group of rows by its own matrix.
func (g *Generator) raggedDot() *call {
	d := g.real()
	m, k, n, groups := g.between(1, 6), g.between(1, 4), g.between(1, 4), g.between(1, 3)
	sizes := arg{dt: tensor.I32, shape: tensor.Shape{groups}, fill: func(t *tensor.Tensor) {
		left := m
		for i := range t.NumElements() {
			v := g.between(0, left)
			if i == t.NumElements()-1 {
				v = left
			}
			left -= v
			t.SetFloat(i, float64(v))
		}
	}}
	return &call{op: "chlo.ragged_dot", args: append(g.factors(d, tensor.Shape{m, k}, tensor.Shape{groups, k, n}), sizes),
		attrs: []attr{{"ragged_dot_dimension_numbers", "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>"}},
		rule:  Rule{Terms: int(k) + 1}}
}

// convolution makes a convolution with its dimensions in any order, up to three of them spatial, with reversed windows,
// negative paddings, and sometimes an empty operand.
func (g *Generator) convolution() *call {
	d := g.number()
	groups, batchGroups := int64(1), int64(1)
	switch g.rng.IntN(4) {
	case 0:
		groups = g.between(2, 3)
	case 1:
		batchGroups = g.between(2, 3)
	}
	cin, kout := g.between(1, 3), groups*batchGroups*g.between(1, 2)
	in, ker := []int64{batchGroups * g.between(1, 2), cin * groups}, []int64{cin, kout}
	var shape tensor.Shape
	for range g.rng.IntN(4) {
		n := g.between(1, 5)
		if g.rng.IntN(12) == 0 {
			n = 0
		}
		shape = append(shape, n)
	}
	w := g.window(shape, -2)
	reversal := make([]bool, len(shape))
	for i := range shape {
		w.pads[i] = avoidBehindCut(d, w.pads[i])
		reversal[i] = g.rng.IntN(3) == 0
	}
	place := func(sizes []int64, first, second string) (tensor.Shape, string) {
		shape, names := make(tensor.Shape, len(sizes)), make([]string, len(sizes))
		for i, at := range g.perm(len(sizes)) {
			shape[at], names[at] = sizes[i], fmt.Sprint(i-2)
			if i < 2 {
				names[at] = []string{first, second}[i]
			}
		}
		return shape, "[" + strings.Join(names, ", ") + "]"
	}
	inShape, inText := place(append(in, shape...), "b", "f")
	kerShape, kerText := place(append(ker, w.size...), "i", "o")
	_, resText := place(make([]int64, len(shape)+2), "b", "f")
	return &call{op: "stablehlo.convolution", args: g.factors(d, inShape, kerShape),
		attrs: []attr{{"window_strides", w.stride}, {"padding", w.pads}, {"lhs_dilation", w.base}, {"rhs_dilation", w.dilation}, {"window_reversal", reversal},
			{"dimension_numbers", "#stablehlo.conv<" + inText + "x" + kerText + "->" + resText + ">"},
			{"feature_group_count", groups}, {"batch_group_count", batchGroups}},
		rule: Rule{Exact: d.IsInteger(), Terms: int(cin)*w.terms() + 1}}
}

// window is a random window of reduce_window or a convolution.
type window struct {
	size, stride, base, dilation []int64
	pads                         [][2]int64
}

// window returns a window over an operand with paddings from low on.
func (g *Generator) window(shape tensor.Shape, low int64) *window {
	w := &window{}
	for range shape {
		w.size, w.stride = append(w.size, g.between(1, 3)), append(w.stride, g.between(1, 3))
		w.base, w.dilation = append(w.base, g.between(1, 3)), append(w.dilation, g.between(1, 3))
		w.pads = append(w.pads, [2]int64{g.between(low, 3), g.between(low, 3)})
	}
	return w
}

// terms returns the number of elements of the window.
func (w *window) terms() int { return int(tensor.Shape(w.size).NumElements()) }

// attrs returns the window as attributes of reduce_window.
func (w *window) attrs() []attr {
	return []attr{{"window_dimensions", w.size}, {"window_strides", w.stride}, {"base_dilations", w.base}, {"window_dilations", w.dilation}, {"padding", w.pads}}
}

// fft transforms up to three dimensions.
func (g *Generator) fft() *call {
	kind := pick(g, "FFT", "IFFT", "RFFT", "IRFFT")
	wide := g.rng.IntN(2)
	var length []int64
	for range 1 + g.rng.IntN(3) {
		length = append(length, g.between(1, 9))
	}
	shape := append(g.shape(0, 1), length...)
	d := []tensor.DType{tensor.Complex64, tensor.Complex128}[wide]
	switch kind {
	case "RFFT":
		d = d.Part()
	case "IRFFT":
		shape[len(shape)-1] = shape[len(shape)-1]/2 + 1
	}
	return &call{op: "stablehlo.fft", label: kind, args: []arg{{dt: d, shape: shape}}, attrs: []attr{{"fft_type", "#stablehlo<fft_type " + kind + ">"}, {"fft_length", length}},
		rule: Rule{Terms: 8 * int(tensor.Shape(length).NumElements())}}
}

// avoidBehindCut changes the paddings of one dimension to values that XLA handles correctly: see the package comment.
func avoidBehindCut(d tensor.DType, p [2]int64) [2]int64 {
	if d.IsFloat() && d != tensor.F64 && p[0] < 0 {
		p[1] = min(p[1], 0)
	}
	return p
}

// definite fills with a symmetric positive definite matrix.
func (g *Generator) definite(n int) func(t *tensor.Tensor) {
	return fillWith(func(k int) float64 {
		i, j := k/n%n, k%n
		v := 0.1 * float64((i+1)*(j+1)%7)
		if i == j {
			v += float64(n) + g.rng.Float64()
		}
		return v
	})
}

func (g *Generator) cholesky() *call {
	d := pick(g, tensor.F32, tensor.F64)
	n := int(g.between(1, 5))
	return &call{op: "stablehlo.cholesky", args: []arg{{dt: d, shape: append(g.shape(0, 1), int64(n), int64(n)), fill: g.definite(n)}}, attrs: []attr{{"lower", g.rng.IntN(2) == 0}}, rule: Rule{Terms: 8 * n}}
}

func (g *Generator) triangularSolve() *call {
	d := pick(g, tensor.F32, tensor.F64)
	n, k := g.between(1, 5), g.between(1, 4)
	left := g.rng.IntN(2) == 0
	b := tensor.Shape{k, n}
	if left {
		b = tensor.Shape{n, k}
	}
	return &call{op: "stablehlo.triangular_solve", args: []arg{{dt: d, shape: tensor.Shape{n, n}, fill: g.definite(int(n))}, {dt: d, shape: b}},
		attrs: []attr{{"left_side", left}, {"lower", g.rng.IntN(2) == 0}, {"unit_diagonal", g.rng.IntN(4) == 0},
			{"transpose_a", "#stablehlo<transpose " + pick(g, "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT") + ">"}}, rule: Rule{Terms: 16 * int(n)}}
}
