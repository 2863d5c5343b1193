package ops

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// planShapeAssertion compiles the check that jax.export adds to programs with polymorphic shapes: if the first operand
// is false, the run fails with the call's message, in which {0}, {1}, ... stand for the operands after the first.
func planShapeAssertion(s *plan.Spec) (exec.Runner, error) {
	if len(s.In) == 0 || len(s.Out) != 0 || s.In[0].Class != kernel.ClassTensor || s.In[0].DType != tensor.I1 || s.In[0].N != 1 {
		return nil, errors.New("expects an i1 scalar, integers for the message and no results")
	}
	for _, t := range s.In[1:] {
		if t.Class != kernel.ClassTensor || t.N != 1 || !t.DType.IsInteger() {
			return nil, errors.New("expects integer scalars for the message")
		}
	}
	message := plan.StringAttr(s.Op, stablehlo.AttrErrorMessage)
	return func(_ *exec.Machine, fr *exec.Frame, ins *exec.Instr) error {
		if fr.Slots[ins.In[0]].Tensor.IntAt(0) != 0 {
			return nil
		}
		var values []int64
		for _, slot := range ins.In[1:] {
			values = append(values, fr.Slots[slot].Tensor.IntAt(0))
		}
		return errors.New(stablehlo.AssertionMessage(message, values))
	}, nil
}
