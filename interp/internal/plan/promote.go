package plan

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Regions of reductions may compute in a type to which the operands' type is promoted (spec, "reduce", "reduce_window",
// "scatter": is_promotable), such as sums of bf16 in f32, or of quantized i8 in quantized i32.
// The engine converts the operands first. It converts operands of dynamic shape when the op executes (lazy).

// promotions returns the new element type of each operand that needs conversion, or nil if none does.
func promotions(s *Spec) map[int]kernel.Type {
	kind := OpKind(s.Op)
	var at []int // for each argument in the region's first half, an operand of its type; other does the same for the second half
	var other []int
	switch k := len(s.Out); kind {
	case stablehlo.Reduce, stablehlo.ReduceWindow:
		for i := range k {
			at, other = append(at, i), append(other, k+i)
		}
	case stablehlo.Scatter:
		for i := range k {
			at, other = append(at, i), append(other, k+1+i)
		}
	default:
		return nil
	}
	if len(s.Op.Regions()) == 0 || len(s.Op.Region(0).Blocks()) != 1 {
		return nil
	}
	b := s.Op.Region(0).Entry()
	var wide map[int]kernel.Type
	for i := range at {
		if i >= len(b.Args()) {
			return nil
		}
		t, err := TypeOf(b.Arg(i).Type())
		if err != nil || t.Class != kernel.ClassTensor {
			return nil
		}
		for _, k := range []int{at[i], other[i]} {
			if k >= len(s.In) {
				return nil
			}
			if o := s.In[k]; o.Class == kernel.ClassTensor && !o.Dynamic() && !o.SameElements(t) {
				if wide == nil {
					wide = map[int]kernel.Type{}
				}
				wide[k] = t
			}
		}
	}
	return wide
}

// promote compiles an op and, before it, the conversions of some of its operands.
func (p *Planner) promote(ins *exec.Instr, s *Spec, wide map[int]kernel.Type) error {
	type conversion struct {
		from, to int32 // slots
		typ      kernel.Type
		kern     kernel.Kernel
	}
	inner := NewSpec(p, s.Op, nil, s.Out)
	in := *ins
	in.In, in.Move = append([]int32(nil), ins.In...), append([]bool(nil), ins.Move...)
	var list []conversion
	for i, t := range s.In {
		to, ok := wide[i]
		if ok {
			c := conversion{from: ins.In[i], to: p.Fresh(), typ: t}
			c.typ.DType, c.typ.Quant = to.DType, to.Quant
			var err error
			if c.kern, err = p.Promotion(s.Op, t, c.typ); err != nil {
				return err
			}
			list = append(list, c)
			t = c.typ
			in.In[i], in.Move[i] = c.to, true
		}
		inner.In = append(inner.In, t)
	}
	if err := p.Pick(&in, inner); err != nil {
		return err
	}
	ins.Run = func(m *exec.Machine, fr *exec.Frame, _ *exec.Instr) {
		for _, c := range list {
			b := m.Alloc(c.typ.DType, c.typ.Shape, c.typ.N)
			fr.Slots[c.to] = b
			m.Charge(c.kern.Scratch)
			c.kern.Run([]*tensor.Tensor{&fr.Slots[c.from].Tensor}, []*tensor.Tensor{&b.Tensor})
			m.Uncharge(c.kern.Scratch)
		}
		in.Run(m, fr, &in)
		for _, c := range list {
			m.Release(fr.Slots[c.to])
			fr.Slots[c.to] = nil
		}
	}
	return nil
}

// Promotion returns the kernel that converts operands of op to the element type that its region computes in.
func (p *Planner) Promotion(op *ir.Op, from, to kernel.Type) (kernel.Kernel, error) {
	s := NewSpec(p, op, []kernel.Type{from}, []kernel.Type{to})
	switch {
	case from.Quant == nil && to.Quant == nil:
		return p.Prog.table[stablehlo.Convert].Make(s)
	case from.Quant != nil && to.Quant != nil && from.Quant.Expressed == to.Quant.Expressed:
		return kernel.MakeQuantize(&s.Signature)
	}
	return kernel.Kernel{}, errors.New("has a region on values that its operands cannot be promoted to")
}
