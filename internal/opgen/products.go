package opgen

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// factors returns two operands of a product without NaN. Types that do not round get edge values.
func (g *Generator) factors(d tensor.DType, l, r tensor.Shape) []arg {
	a := arg{dt: d, shape: l, style: verify.Ordinary}
	switch {
	case d.IsInteger():
		a.style = verify.Edges
	case d == tensor.F8E8M0FNU:
		a.fill = g.within(0.125, 64) // the type has no negative numbers: they are NaN
	}
	b := a
	b.shape = r
	return []arg{a, b}
}

// dot makes the old product of vectors and matrices.
func (g *Generator) dot() *call {
	d := g.number()
	n := g.size()
	l, r := append(g.shape(0, 1), n), append(tensor.Shape{n}, g.shape(0, 1)...)
	out := append(l[:len(l)-1:len(l)-1], r[1:]...)
	return &call{op: "stablehlo.dot", args: g.factors(d, l, r), results: []string{typeText(d, out)}, rule: Rule{Exact: d.IsInteger(), Terms: int(max(1, n)) + 1}}
}

func (g *Generator) einsum() *call {
	d := []tensor.DType{tensor.F32, tensor.F64, tensor.I32, tensor.Complex64}[g.rng.IntN(4)]
	config := []string{"ab,bc->ac", "abc,acd->abd", "ab,ab->ab", "ab,cb->ca", "a,b->ab", "ab,b->a", "abc,cb->a"}[g.rng.IntN(7)]
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
	l, r, _ := strings.Cut(in, ",")
	args := g.factors(d, shape(l), shape(r))
	return &call{op: "stablehlo.einsum", label: config, args: args, attrs: []string{fmt.Sprintf("einsum_config = %q", config)}, results: []string{typeText(d, shape(to))},
		rule: Rule{Exact: d.IsInteger(), Terms: 26}}
}

func (g *Generator) unaryEinsum() *call {
	d := []tensor.DType{tensor.F32, tensor.F64, tensor.I32}[g.rng.IntN(3)]
	config := []string{"ab->a", "ab->ba", "abc->b", "aa->a", "ab->"}[g.rng.IntN(5)]
	n := g.between(1, 5)
	in, to, _ := strings.Cut(config, "->")
	square := func(k int) tensor.Shape {
		s := tensor.Shape{}
		for range k {
			s = append(s, n)
		}
		return s
	}
	return &call{op: "stablehlo.unary_einsum", label: config, args: g.factors(d, square(len(in)), nil)[:1], attrs: []string{fmt.Sprintf("einsum_config = %q", config)},
		results: []string{typeText(d, square(len(to)))}, rule: Rule{Exact: d.IsInteger(), Terms: 26}}
}

// dotTransposed makes a dot_general with its batch, free and contracted dimensions in any order.
func (g *Generator) dotTransposed() *call {
	d := g.number()
	nb, nc := g.rng.IntN(3), g.rng.IntN(3)
	lf, rf := g.rng.IntN(3), g.rng.IntN(3)
	lp, rp := g.perm(nb+nc+lf), g.perm(nb+nc+rf)
	l, r := make(tensor.Shape, len(lp)), make(tensor.Shape, len(rp))
	terms := int64(1)
	for i := range nb + nc {
		n := g.between(1, 4)
		if g.rng.IntN(10) == 0 {
			n = 0
		}
		l[lp[i]], r[rp[i]] = n, n
		if i >= nb {
			terms *= max(1, n)
		}
	}
	out := tensor.Shape{}
	for i := range nb {
		out = append(out, l[lp[i]])
	}
	taken := func(p []int64, d int) bool {
		for _, k := range p[:nb+nc] {
			if k == int64(d) {
				return true
			}
		}
		return false
	}
	for _, side := range []struct {
		s tensor.Shape
		p []int64
	}{{l, lp}, {r, rp}} {
		for k := range side.s {
			if !taken(side.p, k) {
				side.s[k] = g.between(1, 4)
				out = append(out, side.s[k])
			}
		}
	}
	return &call{op: "stablehlo.dot_general", label: "transposed", args: g.factors(d, l, r),
		attrs: []string{fmt.Sprintf("dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [%s], rhs_batching_dimensions = [%s], lhs_contracting_dimensions = [%s], rhs_contracting_dimensions = [%s]>",
			list(lp[:nb]), list(rp[:nb]), list(lp[nb:nb+nc]), list(rp[nb:nb+nc]))},
		results: []string{typeText(d, out)}, rule: Rule{Exact: d.IsInteger(), Terms: int(terms) + 1}}
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
	return &call{op: "chlo.ragged_dot", args: append(g.factors(d, tensor.Shape{m, k}, tensor.Shape{groups, k, n}), sizes), results: []string{typeText(d, tensor.Shape{m, n})},
		attrs: []string{"ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>"},
		rule:  Rule{Terms: int(k) + 1}}
}

// convolutionLayout makes a convolution with its dimensions in any order, up to three of them spatial, with reversed
// windows, negative paddings, and sometimes an empty operand.
func (g *Generator) convolutionLayout() *call {
	d := g.number()
	spatial := g.rng.IntN(4)
	groups, batchGroups := int64(1), int64(1)
	switch g.rng.IntN(4) {
	case 0:
		groups = g.between(2, 3)
	case 1:
		batchGroups = g.between(2, 3)
	}
	cin, kout := g.between(1, 3), groups*batchGroups*g.between(1, 2)
	fixed := []int64{batchGroups * g.between(1, 2), cin * groups}
	kernelFixed := []int64{cin, kout}
	out := []int64{fixed[0] / batchGroups, kout}
	var stride, ldil, rdil []int64
	var pads [][2]int64
	var reversal []string
	terms := cin
	for range spatial {
		n, w := g.between(1, 5), g.between(1, 3)
		if g.rng.IntN(12) == 0 {
			n = 0
		}
		fixed, kernelFixed = append(fixed, n), append(kernelFixed, w)
		terms *= w
		s, l, r := g.between(1, 3), g.between(1, 3), g.between(1, 3)
		p := avoidBehindCut(d, [2]int64{g.between(-2, 3), g.between(-2, 3)})
		stride, ldil, rdil, pads = append(stride, s), append(ldil, l), append(rdil, r), append(pads, p)
		reversal = append(reversal, fmt.Sprint(g.rng.IntN(3) == 0))
		size := p[0] + p[1]
		if n > 0 {
			size += (n-1)*l + 1
		}
		res := int64(0)
		if reach := (w-1)*r + 1; size >= reach {
			res = (size-reach)/s + 1
		}
		out = append(out, res)
	}
	place := func(sizes []int64, first, second string) (tensor.Shape, string) {
		p := g.perm(len(sizes))
		shape, names := make(tensor.Shape, len(sizes)), make([]string, len(sizes))
		for i, at := range p {
			shape[at] = sizes[i]
			switch i {
			case 0:
				names[at] = first
			case 1:
				names[at] = second
			default:
				names[at] = fmt.Sprint(i - 2)
			}
		}
		return shape, "[" + strings.Join(names, ", ") + "]"
	}
	in, inText := place(fixed, "b", "f")
	ker, kerText := place(kernelFixed, "i", "o")
	res, resText := place(out, "b", "f")
	rev := "array<i1>"
	if spatial > 0 {
		rev = "array<i1: " + strings.Join(reversal, ", ") + ">"
	}
	return &call{op: "stablehlo.convolution", label: "in any layout", args: g.factors(d, in, ker), results: []string{typeText(d, res)},
		attrs: []string{ints("window_strides", stride), pairsAttr("padding", pads), ints("lhs_dilation", ldil), ints("rhs_dilation", rdil), "window_reversal = " + rev,
			"dimension_numbers = #stablehlo.conv<" + inText + "x" + kerText + "->" + resText + ">",
			fmt.Sprintf("feature_group_count = %d : i64", groups), fmt.Sprintf("batch_group_count = %d : i64", batchGroups)},
		rule: Rule{Exact: d.IsInteger(), Terms: int(terms) + 1}}
}

// dynamicConv makes a convolution whose padding is an operand, which the program holds as a constant.
func (g *Generator) dynamicConv() *call {
	c := g.convolution()
	var attrs []string
	var pads []int64
	for _, a := range c.attrs {
		text, ok := strings.CutPrefix(a, "padding = dense<")
		if !ok {
			attrs = append(attrs, a)
			continue
		}
		text, _, _ = strings.Cut(text, ">")
		for _, f := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[], ", r) }) {
			var v int64
			if _, err := fmt.Sscan(f, &v); err == nil {
				pads = append(pads, v)
			}
		}
	}
	p := known(pads)
	p.shape = tensor.Shape{int64(len(pads) / 2), 2}
	c.op, c.attrs, c.args = "stablehlo.dynamic_conv", attrs, append(c.args, p)
	return c
}

// fftSeveral transforms up to three dimensions.
func (g *Generator) fftSeveral() *call {
	kind := []string{"FFT", "IFFT", "RFFT", "IRFFT"}[g.rng.IntN(4)]
	wide := g.rng.IntN(2)
	var length []int64
	terms := int64(8)
	for range 1 + g.rng.IntN(3) {
		n := g.between(1, 6)
		length = append(length, n)
		terms *= n
	}
	shape := append(g.shape(0, 1), length...)
	d := []tensor.DType{tensor.Complex64, tensor.Complex128}[wide]
	switch kind {
	case "RFFT":
		d = []tensor.DType{tensor.F32, tensor.F64}[wide]
	case "IRFFT":
		shape[len(shape)-1] = shape[len(shape)-1]/2 + 1
	}
	return &call{op: "stablehlo.fft", label: kind, args: []arg{{dt: d, shape: shape}}, attrs: []string{"fft_type = #stablehlo<fft_type " + kind + ">", ints("fft_length", length)}, rule: Rule{Terms: int(terms)}}
}
