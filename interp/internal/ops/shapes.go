package ops

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/tensor"
)

// reduceShape is the shape function of reduce: the results have the dimensions that are not reduced.
func reduceShape(s *plan.Spec, in []*tensor.Tensor) error {
	dims, err := plan.IntsAttr(s.Op, stablehlo.AttrDimensions)
	if err != nil {
		return err
	}
	rank := len(s.In[0].Shape)
	if err := kernel.CheckDims("reduced", dims, rank); err != nil {
		return err
	}
	shape := tensor.Shape{}
	for _, d := range kernel.KeptDims(rank, dims) {
		shape = append(shape, s.In[0].Shape[d])
	}
	for i := range s.Out {
		s.Out[i].Shape = shape
	}
	return nil
}

func reduceWindowShape(s *plan.Spec, in []*tensor.Tensor) error {
	w, err := windowOf(s, s.In[0].Shape)
	if err != nil {
		return err
	}
	for i := range s.Out {
		s.Out[i].Shape = w.out
	}
	return nil
}
