package ops

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// makeCompare compiles compare (spec, "compare").
func makeCompare(s *plan.Spec) (kernel.Kernel, error) {
	if err := kernel.SameShape(&s.Signature, 2); err != nil {
		return kernel.Kernel{}, err
	}
	dt := s.In[0].DType
	if s.In[1].DType != dt || s.Out[0].DType != tensor.I1 {
		return kernel.Kernel{}, kernel.TypeMismatch(dt, s.Out[0].DType)
	}
	dir := plan.EnumAttr(s.Op, stablehlo.AttrComparisonDirection, "")
	total := plan.EnumAttr(s.Op, stablehlo.AttrCompareType, "") == "TOTALORDER" && dt.IsFloat()
	run := kernel.CompareLoop(dt, dir, total)
	if run == nil {
		return kernel.Kernel{}, kernel.Unsupported("comparison %s on elements of type %s", dir, dt)
	}
	k := kernel.ElementKernel(s.Out[0].N, dt.Size(), 2, run, 0)
	if dt.Size() == 1 && dt == tensor.I1 {
		k.Inplace = 3
	}
	return k, nil
}
