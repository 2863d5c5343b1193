package ops

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/check"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// planCheckOp compiles the ops check.expect_*.
func planCheckOp(kind string, constant bool) func(p *plan.Planner, s *plan.Spec) exec.Runner {
	return func(p *plan.Planner, s *plan.Spec) exec.Runner {
		c := kernel.CheckEqual()
		switch kind {
		case "almost":
			tol := 1e-4
			if a, ok := s.Op.Attr(check.AttrTolerance).(*ir.FloatAttr); ok {
				tol = tensor.DecodeFloat(a.Type().DType(), a.Bits())
			}
			c = kernel.CheckAlmost(tol)
		case "close":
			a := plan.Attrs[struct {
				Least int64 `attr:"min_ulp_difference"`
				Most  int64 `attr:"max_ulp_difference,1"`
			}](s.Op)
			c = kernel.CheckClose(uint64(a.Least), uint64(a.Most))
		}
		if !constant {
			return planExpect(s, c)
		}
		a, ok := s.Op.Attr(stablehlo.AttrValue).(*ir.DenseAttr)
		kernel.FailIf(!ok || len(s.In) != 1, "expects an operand and a dense value")
		want := kernel.Must(a.Tensor())
		return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
			got := &fr.Slots[ins.In[0]].Tensor
			w := want
			if got.DType() != w.DType() && got.DType().Size() == w.DType().Size() {
				w = kernel.Must(tensor.FromBytes(got.DType(), w.Shape(), w.Bytes()))
			}
			c.Compare(got, w)
		}
	}
}

// planExpect compiles a comparison of two operands. The op's result, if it has one, is true.
func planExpect(s *plan.Spec, c kernel.Checker) exec.Runner {
	kernel.FailIf(len(s.In) < 2 || len(s.Out) > 1 || s.In[0].Class != kernel.ClassTensor || s.In[1].Class != kernel.ClassTensor,
		"expects two tensors")
	return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		c.Compare(&fr.Slots[ins.In[0]].Tensor, &fr.Slots[ins.In[1]].Tensor)
		if len(ins.Out) == 1 {
			b := m.Alloc(ins.Types[0].DType, ins.Types[0].Shape, ins.Types[0].N)
			kernel.Fill(b.Tensor.Bytes(), []byte{1})
			fr.Slots[ins.Out[0]] = b
		}
	}
}

// checkTarget returns the checker for custom calls of this target, as defined by upstream's translate tool.
func checkTarget(target string, t kernel.Type) (kernel.Checker, bool) {
	switch target {
	case "check.eq":
		if t.DType.IsFloat() || t.DType.IsComplex() {
			return kernel.CheckAlmost(1e-4), true
		}
		return kernel.CheckEqual(), true
	case check.ExpectEq.Name:
		return kernel.CheckEqual(), true
	case check.ExpectAlmostEq.Name:
		return kernel.CheckAlmost(1e-3), true
	case check.ExpectClose.Name:
		return kernel.CheckClose(0, 3), true
	}
	return kernel.Checker{}, false
}

// planShapeAssertion compiles the check that jax.export adds to programs with polymorphic shapes: if the first operand
// is false, the run fails with the call's message, in which {0}, {1}, ... stand for the operands after the first.
func planShapeAssertion(s *plan.Spec) exec.Runner {
	kernel.FailIf(len(s.In) == 0 || len(s.Out) != 0 || s.In[0].Class != kernel.ClassTensor || s.In[0].DType != tensor.I1 || s.In[0].N != 1,
		"expects an i1 scalar, integers for the message and no results")
	for _, t := range s.In[1:] {
		kernel.FailIf(t.Class != kernel.ClassTensor || t.N != 1 || !t.DType.IsInteger(), "expects integer scalars for the message")
	}
	message := plan.Attrs[struct {
		Text string `attr:"error_message"`
	}](s.Op).Text
	return func(_ *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
		if fr.Slots[ins.In[0]].Tensor.IntAt(0) != 0 {
			return
		}
		var values []int64
		for _, slot := range ins.In[1:] {
			values = append(values, fr.Slots[slot].Tensor.IntAt(0))
		}
		kernel.Fail(errors.New(stablehlo.AssertionMessage(message, values)))
	}
}
