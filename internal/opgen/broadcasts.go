package opgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

func (g *Generator) broadcast() *call {
	a := g.anyArg(g.shape(0, 3))
	return exactCall("broadcast", []arg{a}, attr{"broadcast_sizes", []int64(g.shape(0, 2))})
}

// broadcastable returns shapes that broadcast to one another.
func (g *Generator) broadcastable(n int) (shapes []tensor.Shape) {
	out := g.shape(0, 3)
	for i := range n {
		s := out.Clone()
		if i > 0 {
			s = s[g.rng.IntN(len(s)+1):]
		}
		for k := range s {
			if g.rng.IntN(4) == 0 {
				s[k] = 1
			}
		}
		shapes = append(shapes, s)
	}
	g.rng.Shuffle(n, func(i, j int) { shapes[i], shapes[j] = shapes[j], shapes[i] })
	return shapes
}

// broadcasting makes one of CHLO's ops on operands that broadcast. Functions are measured element by element elsewhere.
// This program tests shapes; its values stay far from poles.
func (g *Generator) broadcasting() *call {
	name := func(op string) string { return "chlo.broadcast_" + shortOp(op) }
	c := g.oneOn(func(def *ir.Def) bool { return g.reg.Lookup(name(def.Name)) != nil }, g.broadcastable(2), g.within(1.25, 4))
	c.op = name(c.op)
	for i, a := range c.attrs {
		c.attrs[i].value = strings.Replace(fmt.Sprint(a.value), "#stablehlo<", "#chlo<", 1)
	}
	return c
}

func (g *Generator) broadcastingSelect() *call {
	d, shapes := g.dtype(), g.broadcastable(3)
	return &call{op: "chlo.broadcast_select", args: []arg{edges(tensor.I1, shapes[0]), edges(d, shapes[1]), edges(d, shapes[2])}, rule: Rule{Exact: true}}
}

// elementwiseOp makes an element-wise op on operands of random shape, often without elements. Elementwise measures
// the values of functions; here functions get ordinary values, and only ops that do not round get edge values.
func (g *Generator) elementwiseOp() *call {
	return g.oneOn(func(*ir.Def) bool { return true }, slices.Repeat([]tensor.Shape{g.shape(0, 4)}, 2), g.within(0.125, 0.875))
}

// oneOn makes a random element-wise op that f accepts, on operands of the given shapes. fill fills the operands of
// functions.
func (g *Generator) oneOn(f func(def *ir.Def) bool, shapes []tensor.Shape, fill func(t *tensor.Tensor)) *call {
	defs := slices.DeleteFunc(append(stablehlo.Ops(), chlo.Ops()...), func(def *ir.Def) bool { return !f(def) })
	for {
		var calls []*call
		def := defs[g.rng.IntN(len(defs))]
		for _, d := range xlaTypes() {
			if !Crashes(&Program{Op: def.Name, DType: d}) {
				calls = append(calls, g.elementwise(def, d, 2)...)
			}
		}
		if len(calls) == 0 {
			continue
		}
		c := pick(g, calls...)
		for i, a := range c.args {
			if c.args[i] = edges(a.dt, shapes[i]); !c.rule.Exact {
				c.args[i].fill = fill
			}
		}
		if c.results != nil {
			d, _, _ := tensor.ParseType(c.results[0])
			c.results = []string{typeText(d, shapes[0])}
		}
		return c
	}
}

// within fills with numbers between two bounds.
func (g *Generator) within(lo, hi float64) func(t *tensor.Tensor) {
	return func(t *tensor.Tensor) {
		for i := range t.NumElements() {
			v := lo + (hi-lo)*g.rng.Float64()
			if t.DType().IsComplex() {
				t.SetComplex(i, complex(v, lo+(hi-lo)*g.rng.Float64()))
				continue
			}
			t.SetFloat(i, v)
		}
	}
}
