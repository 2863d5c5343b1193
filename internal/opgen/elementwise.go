package opgen

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Types returns the element types that programs use.
func Types() []tensor.DType {
	var out []tensor.DType
	for d := tensor.I1; d <= tensor.Complex128; d++ {
		out = append(out, d)
	}
	return out
}

// Elementwise returns one program for every element-wise op and every type that its row accepts. Narrow types get all
// their values; wide types get n edge, ordinary and arbitrary values.
func (g *Generator) Elementwise(n int) []*Program {
	var out []*Program
	add := func(c *call) {
		if p, err := g.build(c); err == nil {
			p.measured = true
			out = append(out, p)
		}
	}
	for _, def := range append(stablehlo.Ops(), chlo.Ops()...) {
		for _, d := range Types() {
			for _, c := range g.elementwise(def, d, n) {
				add(c)
			}
		}
	}
	return out
}

// Sample keeps one program for each op and column. The cases of an op, and the types of a column, take turns.
func Sample(programs []*Program) []*Program {
	type key struct {
		op     string
		column int
	}
	groups := map[key][]*Program{}
	var keys []key
	for _, p := range programs {
		k := key{bare(p.Op), Column(p.DType)}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], p)
	}
	var out []*Program
	for i, k := range keys {
		out = append(out, groups[k][i%len(groups[k])])
	}
	return out
}

// Function returns the program of one element-wise op on arguments of equal shape.
func (g *Generator) Function(op string, args []*tensor.Tensor) (*Program, error) {
	c := &call{op: op}
	for _, a := range args {
		c.args = append(c.args, arg{dt: a.DType(), shape: a.Shape(), fill: func(t *tensor.Tensor) { copy(t.Bytes(), a.Bytes()) }})
	}
	return g.build(c)
}

// accepts reports whether an operand of a row may have the element type.
func accepts(def *ir.Def, operand int, d tensor.DType) bool {
	check := def.Operands[operand].Type.Check
	return check == nil || check(ir.NewContext(nil).StaticTensor(d, tensor.Shape{2}))
}

// elementwise returns the calls of one op on one type, or none if the op is not element-wise or refuses the type.
func (g *Generator) elementwise(def *ir.Def, d tensor.DType, n int) []*call {
	if !def.Has(ir.Elementwise) || len(def.Operands) == 0 || len(def.Operands) > 2 {
		return nil
	}
	for _, o := range def.Operands {
		if o.Mult != ir.One {
			return nil
		}
	}
	name := shortOp(def.Name)
	c := &call{op: def.Name, rule: Rule{Exact: boundOf(def.Name, d) == nil}}
	var out []*call
	add := func(from *call, label string, attrs ...attr) *call {
		one := *from
		one.label, one.attrs = label, attrs
		out = append(out, &one)
		return &one
	}
	switch name {
	case "constant", "iota", "map", "uniform_quantize", "uniform_dequantize", "constant_like":
		return nil
	case "convert", "bitcast_convert":
		for _, to := range Types() {
			if d.IsComplex() && !to.IsComplex() { // the specification defines only real and imag of it
				continue
			}
			if name == "convert" || to.Bits() == d.Bits() && (to == tensor.I1) == (d == tensor.I1) && to.IsComplex() == d.IsComplex() {
				one := add(c, "to "+to.String())
				one.rule, one.args = Rule{Exact: true}, []arg{g.whole(d, n)}
				one.results = []string{typeText(to, one.args[0].shape)}
			}
		}
		return out
	}
	for i := range def.Operands {
		if !accepts(def, i, d) {
			return nil
		}
	}
	cases := []*call{c}
	switch len(def.Operands) {
	case 1:
		c.args = []arg{g.whole(d, n)}
	case 2:
		c.args = g.pairs(d, n)
		if d.IsComplex() {
			cases = append(cases, &call{op: c.op, label: "edges", args: product(d, 2, edgesOf(d, n < 10000)), rule: c.rule})
		}
	}
	for _, c := range cases {
		switch name {
		case "compare":
			for _, dir := range stablehlo.ComparisonDirectionEnum.Cases {
				direction := attr{"comparison_direction", "#stablehlo<comparison_direction " + dir + ">"}
				if dir == "LT" && d.IsFloat() {
					add(c, "LT, TOTALORDER", attr{"compare_type", "#stablehlo<comparison_type TOTALORDER>"}, direction)
				}
				if !d.IsComplex() || dir == "EQ" || dir == "NE" { // complex numbers have no order
					add(c, strings.TrimSpace(dir+" "+c.label), direction)
				}
			}
		case "reduce_precision":
			for _, bits := range [][2]int{{5, 10}, {8, 7}, {4, 3}, {11, 52}, {2, 0}} {
				add(c, fmt.Sprintf("e%dm%d", bits[0], bits[1]), attr{"exponent_bits", fmt.Sprintf("%d : i32", bits[0])}, attr{"mantissa_bits", fmt.Sprintf("%d : i32", bits[1])})
			}
		default:
			add(c, c.label)
		}
	}
	return out
}

// edgesOf returns the edge values of a type or of its parts. With few, they are one denormal, one other number and the
// largest of each sign, besides zeros, infinities and NaN.
func edgesOf(d tensor.DType, few bool) []uint64 {
	d = d.Part()
	return slices.DeleteFunc(verify.EdgeBits(d), func(bits uint64) bool {
		return few && d.IsFloat() && slices.Contains([]float64{0.5, 1, 2, 3}, math.Abs(tensor.DecodeFloat(d, bits)))
	})
}

// allOf returns all values of a narrow type.
func allOf(d tensor.DType) []uint64 {
	var codes []uint64
	for i := range uint64(1) << d.Bits() {
		codes = append(codes, verify.Canonical(d, i))
	}
	return codes
}

// product returns operands that together contain all combinations of codes (of parts, for complex numbers).
func product(d tensor.DType, operands int, codes []uint64) []arg {
	part, parts := d.Part(), 1
	if d.IsComplex() {
		parts = 2
	}
	side, total := len(codes), 1
	for range operands * parts {
		total *= side
	}
	var out []arg
	stride := total
	for range operands {
		first := stride
		for range parts {
			stride /= side
		}
		out = append(out, arg{dt: d, shape: tensor.Shape{int64(total)}, fill: func(t *tensor.Tensor) {
			var v tensor.Tensor
			v.Borrow(part, tensor.Shape{int64(total * parts)}, t.Bytes())
			for i := range total {
				step := first
				for k := range parts {
					step /= side
					v.SetBits(i*parts+k, codes[i/step%side])
				}
			}
		}})
	}
	return out
}

// begin overwrites the first elements of t with the elements of a, or with as many as t has.
func begin(t *tensor.Tensor, a arg) {
	v := tensor.New(a.dt, a.shape)
	a.fill(v)
	copy(t.Bytes(), v.Bytes())
}

// whole returns an argument with all values of a narrow type, or n values of every magnitude of a wide type.
func (g *Generator) whole(d tensor.DType, n int) arg {
	if !d.IsComplex() && d.Bits() <= 16 {
		return product(d, 1, allOf(d))[0]
	}
	return arg{dt: d, shape: tensor.Shape{int64(n)}, fill: g.spread}
}

// spread fills t with edge, ordinary and arbitrary values, a third each.
func (g *Generator) spread(t *tensor.Tensor) {
	n := t.NumElements()
	size := t.DType().Size()
	for k, style := range []verify.Style{verify.Edges, verify.Ordinary, verify.Anything} {
		from, to := k*n/3, (k+1)*n/3
		var v tensor.Tensor
		v.Borrow(t.DType(), tensor.Shape{int64(to - from)}, t.Bytes()[from*size:to*size])
		verify.Fill(&v, g.rng, style)
	}
	if d := t.DType(); d.IsComplex() {
		// Include all pairs of edge values if they fit.
		if pairs := product(d, 1, edgesOf(d, n < 2000))[0]; pairs.shape[0] < int64(n/3) {
			begin(t, pairs)
		}
	}
}

// pairs returns two arguments: all pairs of values for the narrowest types; for wide types all pairs of edge values,
// then other pairs.
func (g *Generator) pairs(d tensor.DType, n int) []arg {
	switch {
	case d.IsComplex():
		return []arg{g.whole(d, n), g.whole(d, n)}
	case d.Bits() <= 8:
		return product(d, 2, allOf(d))
	}
	var out []arg
	for _, edges := range product(d, 2, edgesOf(d, false)) {
		out = append(out, arg{dt: d, shape: tensor.Shape{int64(n)}, fill: func(t *tensor.Tensor) {
			g.spread(t)
			// Pair each third of one side with each third of the other.
			g.rng.Shuffle(n, func(i, j int) {
				a, b := t.Bits(i), t.Bits(j)
				t.SetBits(i, b)
				t.SetBits(j, a)
			})
			begin(t, edges)
		}})
	}
	return out
}
