package interp

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Regions of reductions may compute in a type to which the operands' type is promoted (spec, "reduce", "reduce_window",
// "scatter", "select_and_scatter": is_promotable), such as sums of bf16 in f32, or of quantized i8 in quantized i32.
// The engine converts the operands first. It converts operands of dynamic shape when the op executes (lazyControl).

// promotions returns the new element type of each operand that needs conversion, or nil if none does.
func promotions(s *spec) map[int]vtype {
	kind := opKind(s.op)
	region := 0
	var at []int // for each argument in the region's first half, an operand of its type; other does the same for the second half
	var other []int
	switch k := len(s.out); kind {
	case stablehlo.Reduce, stablehlo.ReduceWindow:
		for i := range k {
			at, other = append(at, i), append(other, k+i)
		}
	case stablehlo.Scatter:
		for i := range k {
			at, other = append(at, i), append(other, k+1+i)
		}
	case stablehlo.SelectAndScatter:
		region, at, other = 1, []int{1}, []int{2}
	default:
		return nil
	}
	if region >= s.op.NumRegions() || len(s.op.Region(region).Blocks()) != 1 {
		return nil
	}
	b := s.op.Region(region).Entry()
	var wide map[int]vtype
	for i := range at {
		if i >= b.NumArgs() {
			return nil
		}
		t, err := typeOf(b.Arg(i).Type())
		if err != nil || t.class != classTensor {
			return nil
		}
		for _, k := range []int{at[i], other[i]} {
			if k >= len(s.in) {
				return nil
			}
			if o := s.in[k]; o.class == classTensor && !o.dynamic() && !o.sameElements(t) {
				if wide == nil {
					wide = map[int]vtype{}
				}
				wide[k] = t
			}
		}
	}
	return wide
}

// promote compiles an op after the conversion of some of its operands.
func (p *planner) promote(ins *instr, s *spec, wide map[int]vtype) error {
	type conversion struct {
		from, to int32 // slots
		typ      vtype
		kern     kernel
	}
	inner := newSpec(p, s.op, nil, s.out)
	in := *ins
	in.in, in.move = append([]int32(nil), ins.in...), append([]bool(nil), ins.move...)
	var list []conversion
	for i, t := range s.in {
		to, ok := wide[i]
		if ok {
			c := conversion{from: ins.in[i], to: p.fresh(), typ: t}
			c.typ.dt, c.typ.quant = to.dt, to.quant
			var err error
			if c.kern, err = p.promotion(s.op, t, c.typ); err != nil {
				return err
			}
			list = append(list, c)
			t = c.typ
			in.in[i], in.move[i] = c.to, true
		}
		inner.in = append(inner.in, t)
	}
	if err := p.pick(&in, inner); err != nil {
		return err
	}
	ins.run = func(m *machine, fr *frame, _ *instr) error {
		for _, c := range list {
			b, err := m.alloc(c.typ.dt, c.typ.shape, c.typ.n)
			if err != nil {
				return err
			}
			fr.slots[c.to] = b
			if err := m.charge(c.kern.scratch); err != nil {
				return err
			}
			err = c.kern.run([]*tensor.Tensor{&fr.slots[c.from].t}, []*tensor.Tensor{&b.t})
			m.uncharge(c.kern.scratch)
			if err != nil {
				return err
			}
		}
		err := in.run(m, fr, &in)
		for _, c := range list {
			m.release(fr.slots[c.to])
			fr.slots[c.to] = nil
		}
		return err
	}
	return nil
}

// sameElements reports whether t and o have the same element type.
func (t vtype) sameElements(o vtype) bool { return t.dt == o.dt && t.quant.same(o.quant) }

// promotion returns the kernel that converts operands of op to the element type that its region computes in.
func (p *planner) promotion(op *ir.Op, from, to vtype) (kernel, error) {
	s := newSpec(p, op, []vtype{from}, []vtype{to})
	switch {
	case from.quant == nil && to.quant == nil:
		return p.prog.table[stablehlo.Convert].make(s)
	case from.quant != nil && to.quant != nil && from.quant.expressed == to.quant.expressed:
		return makeQuantize(&s.signature)
	}
	return kernel{}, errors.New("has a region on values that its operands cannot be promoted to")
}
