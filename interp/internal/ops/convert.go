package ops

import (
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

func planBitcast(p *plan.Planner, s *plan.Spec) (exec.Runner, error) {
	if len(s.In) == 1 && len(s.Out) == 1 && s.In[0].N >= 0 && s.Out[0].N >= 0 &&
		s.In[0].DType.Bits() == 8*s.In[0].DType.Size() && s.Out[0].DType.Bits() == 8*s.Out[0].DType.Size() {
		return plan.PlanReshape(p, s)
	}
	return p.KernelControl(plan.Row{Make: plan.Pure(kernel.MakeBitcast)}, s)
}

// bitcastShape is the shape function of bitcast_convert: a wider result element absorbs the last dimension, a narrower
// one adds a dimension.
func bitcastShape(s *plan.Spec, in []*tensor.Tensor) error {
	a, b := s.In[0].DType.Bits(), s.Out[0].DType.Bits()
	shape := s.In[0].Shape.Clone()
	switch {
	case a > b:
		shape = append(shape, int64(a/b))
	case a < b:
		shape = shape[:max(0, len(shape)-1)]
	}
	s.Out[0].Shape = shape
	return nil
}
