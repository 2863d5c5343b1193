package ops

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
)

// makeRaggedDot compiles chlo.ragged_dot (CHLO, "ragged_dot"). The ragged dimension of lhs decides the computation. If
// it is free, each group of rows is multiplied with its own matrix of rhs, and rows outside all groups are 0. If it is
// contracted, there is one product per group. If it is a batch dimension, the groups have no effect.
func makeRaggedDot(s *plan.Spec) (kernel.Kernel, error) {
	d, err := plan.Data[*chlo.RaggedDotDims](s.Op, chlo.AttrRaggedDotDimensionNumbers)
	if err != nil || len(d.LHSRagged) != 1 {
		return kernel.Kernel{}, errors.New("expects dimension numbers with one ragged dimension")
	}
	return kernel.RaggedKernel(&s.Signature, (*kernel.DotDimensions)(&d.DotDims), d.LHSRagged[0], d.RHSGroup)
}
