package ops

import (
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
)

// makeDotGeneral compiles dot_general (spec, "dot_general").
func makeDotGeneral(s *plan.Spec) (kernel.Kernel, error) {
	d, err := plan.DotDimensions(s.Op)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.DotKernel(s.Planner.View(s.Op, 0, s.In[0]), s.Planner.View(s.Op, 1, s.In[1]), s.Out[0], d)
}
