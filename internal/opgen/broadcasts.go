package opgen

import (
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

func (g *Generator) broadcast() *call {
	a := g.anyArg(g.shape(0, 3))
	return exactCall("broadcast", []arg{a}, attr{"broadcast_sizes", []int64(g.shape(0, 2))})
}

// broadcastable returns shapes that broadcast to one another, and the shape of the result.
func (g *Generator) broadcastable(n int) (shapes []tensor.Shape, out tensor.Shape) {
	out = g.shape(0, 3)
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
	// A dimension keeps size 1 if no operand has it.
	for k := range out {
		widest := int64(1)
		for _, s := range shapes {
			if at := k - (len(out) - len(s)); at >= 0 && s[at] != 1 {
				widest = s[at]
			}
		}
		out[k] = widest
	}
	return shapes, out
}

// broadcastingBinary makes one of CHLO's binary ops on operands that broadcast.
func (g *Generator) broadcastingBinary() *call {
	var defs []*ir.Def
	for _, def := range chlo.Ops() {
		if len(def.Operands) == 2 && len(def.Name) > len("chlo.broadcast_") && def.Name[:len("chlo.broadcast_")] == "chlo.broadcast_" {
			defs = append(defs, def)
		}
	}
	// The CHLO rows accept more types than the ops that they expand to.
	def := defs[g.rng.IntN(len(defs))]
	plain := g.reg.Lookup("stablehlo." + def.Name[len("chlo.broadcast_"):])
	if plain == nil {
		plain = g.reg.Lookup("chlo." + def.Name[len("chlo.broadcast_"):])
	}
	d := g.dtype()
	for plain == nil || !accepts(plain, 0, d) || !accepts(plain, 1, d) || Crashes(&Program{Op: plain.Name, DType: d}) {
		d = g.dtype()
	}
	shapes, _ := g.broadcastable(2)
	name := def.Name[len("chlo.broadcast_"):]
	c := &call{op: def.Name, args: []arg{{dt: d, shape: shapes[0], style: verify.Edges}, {dt: d, shape: shapes[1], style: verify.Edges}}, rule: elementwiseRule(name, d)}
	if g.rng.IntN(2) == 0 {
		c.args[0], c.args[1] = c.args[1], c.args[0]
	}
	switch name {
	case "complex":
		for c.args[0].dt != tensor.F32 && c.args[0].dt != tensor.F64 {
			c.args[0].dt = g.dtype()
		}
		c.args[1].dt = c.args[0].dt
	case "compare":
		dir := stablehlo.ComparisonDirectionEnum.Cases[g.rng.IntN(6)]
		if d.IsComplex() {
			dir = "EQ"
		}
		c.attrs = []attr{{"comparison_direction", "#chlo<comparison_direction " + dir + ">"}}
		c.rule = Rule{Exact: true}
	}
	if !c.rule.Exact {
		// Functions are measured element by element elsewhere. This program tests shapes; its values stay far from
		// poles.
		for i := range c.args {
			c.args[i].style, c.args[i].fill = verify.Ordinary, g.within(1.25, 4)
		}
	}
	return c
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

func (g *Generator) broadcastingSelect() *call {
	d := g.dtype()
	shapes, _ := g.broadcastable(3)
	g.rng.Shuffle(3, func(i, j int) { shapes[i], shapes[j] = shapes[j], shapes[i] })
	return &call{op: "chlo.broadcast_select", args: []arg{{dt: tensor.I1, shape: shapes[0]}, {dt: d, shape: shapes[1], style: verify.Edges}, {dt: d, shape: shapes[2], style: verify.Edges}}, rule: Rule{Exact: true}}
}

// elementwiseOp makes an element-wise op on operands of random shape, often without elements. Elementwise measures
// the values of functions; here functions get ordinary values, and only ops that do not round get edge values.
func (g *Generator) elementwiseOp() *call {
	defs := append(stablehlo.Ops(), chlo.Ops()...)
	for {
		calls := g.elementwise(defs[g.rng.IntN(len(defs))], g.dtype(), 2)
		if len(calls) == 0 {
			continue
		}
		c := calls[g.rng.IntN(len(calls))]
		shape := g.shape(0, 4)
		for i, a := range c.args {
			c.args[i] = arg{dt: a.dt, shape: shape, style: verify.Edges}
			if !c.rule.Exact {
				c.args[i].fill = g.within(0.125, 0.875)
			}
		}
		if c.results != nil {
			d, _, err := tensor.ParseType(c.results[0])
			if err != nil {
				continue
			}
			c.results = []string{typeText(d, shape)}
		}
		if Crashes(&Program{Op: c.op, DType: c.args[0].dt}) {
			continue
		}
		return c
	}
}
