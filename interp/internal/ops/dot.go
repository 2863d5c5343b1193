package ops

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
)

// makeDotGeneral compiles dot_general (spec, "dot_general").
func makeDotGeneral(s *plan.Spec) (kernel.Kernel, error) {
	if len(s.In) != 2 || len(s.Out) != 1 {
		return kernel.Kernel{}, errors.New("expects two operands and one result")
	}
	d, err := dotDims(s.Op)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.DotKernel(s.In[0], s.In[1], s.Out[0], d)
}

func dotDims(op *ir.Op) (*kernel.DotDimensions, error) {
	a, _ := op.Attr(stablehlo.AttrDotDimensionNumbers).(*ir.DialectAttr)
	if a != nil {
		if d, ok := a.Data().(*stablehlo.DotDims); ok {
			return (*kernel.DotDimensions)(d), nil
		}
	}
	return nil, errors.New("has no dot_dimension_numbers")
}
