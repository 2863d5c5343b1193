package opgen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

func (g *Generator) dotGeneral() *call {
	d := g.number()
	nb, nc := g.rng.IntN(2), g.rng.IntN(3)
	var l, r tensor.Shape
	var bl, cl []int64
	terms := 1
	for i := range nb {
		n := g.size()
		l, r, bl = append(l, n), append(r, n), append(bl, int64(i))
	}
	for i := range nc {
		n := g.size()
		l, r, cl = append(l, n), append(r, n), append(cl, int64(nb+i))
		terms *= int(max(1, n))
	}
	l = append(l, g.shape(0, 2)...)
	r = append(r, g.shape(0, 2)...)
	return &call{op: "stablehlo.dot_general", args: g.factors(d, l, r),
		attrs:   []string{fmt.Sprintf("dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [%[1]s], rhs_batching_dimensions = [%[1]s], lhs_contracting_dimensions = [%[2]s], rhs_contracting_dimensions = [%[2]s]>", list(bl), list(cl))},
		results: []string{typeText(d, append(append(l[:nb:nb], l[nb+nc:]...), r[nb+nc:]...))},
		rule:    Rule{Exact: d.IsInteger(), Terms: terms + 1}}
}

func (g *Generator) convolution() *call {
	d := []tensor.DType{tensor.F32, tensor.F64, tensor.BF16, tensor.F16, tensor.I32, tensor.I8}[g.rng.IntN(6)]
	spatial := 1 + g.rng.IntN(2)
	groups := []int64{1, 1, 1, 2}[g.rng.IntN(4)]
	cin := g.between(1, 3)
	in := tensor.Shape{g.between(1, 2)}
	ker := tensor.Shape{}
	var stride, ldil, rdil []int64
	var pads [][2]int64
	terms := int(cin)
	names := []string{}
	for i := range spatial {
		in = append(in, g.between(3, 6))
		ker = append(ker, g.between(1, 3))
		terms *= int(ker[i])
		stride, ldil, rdil = append(stride, g.between(1, 2)), append(ldil, g.between(1, 2)), append(rdil, g.between(1, 2))
		pads = append(pads, avoidBehindCut(d, [2]int64{g.between(-1, 2), g.between(0, 2)}))
		names = append(names, strconv.Itoa(i))
	}
	in = append(in, cin*groups)
	ker = append(ker, cin, groups*g.between(1, 3))
	at := strings.Join(names, ", ")
	return &call{op: "stablehlo.convolution", args: []arg{{dt: d, shape: in}, {dt: d, shape: ker}},
		attrs: []string{ints("window_strides", stride), pairsAttr("padding", pads), ints("lhs_dilation", ldil), ints("rhs_dilation", rdil),
			"dimension_numbers = #stablehlo.conv<[b, " + at + ", f]x[" + at + ", i, o]->[b, " + at + ", f]>",
			fmt.Sprintf("feature_group_count = %d : i64", groups), "batch_group_count = 1 : i64"},
		results: []string{typeText(d, g.convShape(in, ker, stride, ldil, rdil, pads))},
		rule:    Rule{Exact: d.IsInteger(), Terms: terms + 1}}
}

// avoidBehindCut changes the paddings of one dimension to values that XLA handles correctly: see the package comment.
func avoidBehindCut(d tensor.DType, p [2]int64) [2]int64 {
	if d.IsFloat() && d != tensor.F64 && p[0] < 0 {
		p[1] = min(p[1], 0)
	}
	return p
}

// convShape returns the shape of a convolution's result; the verifier checks it against the row's rule.
func (g *Generator) convShape(in, ker tensor.Shape, stride, ldil, rdil []int64, pads [][2]int64) tensor.Shape {
	out := tensor.Shape{in[0]}
	for i := range stride {
		padded := (in[1+i]-1)*ldil[i] + 1 + pads[i][0] + pads[i][1]
		window := (ker[i]-1)*rdil[i] + 1
		n := int64(0)
		if padded >= window {
			n = (padded-window)/stride[i] + 1
		}
		out = append(out, n)
	}
	return append(out, ker[len(ker)-1])
}

// definite fills with a symmetric positive definite matrix.
func (g *Generator) definite(n int) func(t *tensor.Tensor) {
	return func(t *tensor.Tensor) {
		for k := range t.NumElements() {
			i, j := k/n%n, k%n
			v := 0.1 * float64((i+1)*(j+1)%7)
			if i == j {
				v += float64(n) + g.rng.Float64()
			}
			t.SetFloat(k, v)
		}
	}
}

func (g *Generator) cholesky() *call {
	d := []tensor.DType{tensor.F32, tensor.F64}[g.rng.IntN(2)]
	n := int(g.between(1, 5))
	lower := []string{"true", "false"}[g.rng.IntN(2)]
	c := &call{op: "stablehlo.cholesky", args: []arg{{dt: d, shape: append(g.shape(0, 1), int64(n), int64(n)), fill: g.definite(n)}}, attrs: []string{"lower = " + lower}, rule: Rule{Terms: 8 * n}}
	return c
}

func (g *Generator) triangularSolve() *call {
	d := []tensor.DType{tensor.F32, tensor.F64}[g.rng.IntN(2)]
	n, k := g.between(1, 5), g.between(1, 4)
	left := g.rng.IntN(2) == 0
	b := tensor.Shape{k, n}
	if left {
		b = tensor.Shape{n, k}
	}
	return &call{op: "stablehlo.triangular_solve", args: []arg{{dt: d, shape: tensor.Shape{n, n}, fill: g.definite(int(n))}, {dt: d, shape: b}},
		attrs: []string{fmt.Sprintf("left_side = %v", left), fmt.Sprintf("lower = %v", g.rng.IntN(2) == 0), fmt.Sprintf("unit_diagonal = %v", g.rng.IntN(4) == 0),
			"transpose_a = #stablehlo<transpose " + []string{"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}[g.rng.IntN(3)] + ">"}, rule: Rule{Terms: 16 * int(n)}}
}

func (g *Generator) fft() *call {
	kind := []string{"FFT", "IFFT", "RFFT", "IRFFT"}[g.rng.IntN(4)]
	wide := g.rng.IntN(2) == 0
	n := g.between(1, 9)
	d, shape := tensor.Complex64, tensor.Shape{g.between(1, 3), n}
	if wide {
		d = tensor.Complex128
	}
	switch kind {
	case "RFFT":
		d = []tensor.DType{tensor.F32, tensor.F64}[g.rng.IntN(2)]
	case "IRFFT":
		shape[1] = n/2 + 1
	}
	return &call{op: "stablehlo.fft", label: kind, args: []arg{{dt: d, shape: shape}}, attrs: []string{"fft_type = #stablehlo<fft_type " + kind + ">", ints("fft_length", []int64{n})}, rule: Rule{Terms: 8 * int(n)}}
}

func (g *Generator) batchNormInference() *call {
	d := []tensor.DType{tensor.F32, tensor.F64}[g.rng.IntN(2)]
	shape := tensor.Shape{g.between(1, 4), g.between(1, 4), g.between(1, 3)}
	k := g.rng.IntN(3)
	vec := arg{dt: d, shape: tensor.Shape{shape[k]}}
	positive := g.positive(vec)
	return &call{op: "stablehlo.batch_norm_inference", args: []arg{{dt: d, shape: shape}, vec, vec, vec, positive},
		attrs: []string{"epsilon = 1.000000e-03 : f32", fmt.Sprintf("feature_index = %d : i64", k)}, rule: Rule{Terms: 16}}
}
