package ops

import (
	"errors"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

func gatherDims(op *ir.Op) (*kernel.GatherDimensions, error) {
	d, err := plan.Data[*stablehlo.GatherDims](op, stablehlo.AttrDimensionNumbers)
	return (*kernel.GatherDimensions)(d), err
}

// makeGather compiles gather (spec, "gather"). It copies one box per start index, clamped into the operand.
func makeGather(s *plan.Spec) (kernel.Kernel, error) {
	sizes, err := plan.IntsAttr(s.Op, stablehlo.AttrSliceSizes)
	if err != nil {
		return kernel.Kernel{}, err
	}
	d, err := gatherDims(s.Op)
	if err != nil {
		return kernel.Kernel{}, err
	}
	return kernel.GatherKernel(&s.Signature, d, sizes)
}

// makeDynamicGather compiles dynamic_gather (spec, "dynamic_gather"), whose slice sizes are an operand.
func makeDynamicGather(s *plan.Spec) (kernel.Kernel, error) {
	d, err := gatherDims(s.Op)
	if err != nil {
		return kernel.Kernel{}, err
	}
	inner := &kernel.Signature{Name: s.Name, In: s.In[:2], Out: s.Out, Reserve: s.Reserve}
	return kernel.Kernel{Family: "gather", Run: func(in, out []*tensor.Tensor) {
		sizes, err := in[2].Int64s()
		kernel.Fail(err)
		k, err := kernel.GatherKernel(inner, d, sizes)
		kernel.Fail(err)
		k.Run(in[:2], out)
	}}, nil
}

func dynamicGatherShape(s *plan.Spec, in []*tensor.Tensor) error {
	sizes, err := in[2].Int64s()
	if err != nil {
		return err
	}
	d, err := gatherDims(s.Op)
	if err != nil {
		return err
	}
	if len(sizes) != len(s.In[0].Shape) {
		return errors.New("has slice sizes that do not fit the operand")
	}
	var window, batch []int64
	for _, k := range kernel.KeptDims(len(sizes), append(append([]int64(nil), d.CollapsedSliceDims...), d.OperandBatchingDims...)) {
		window = append(window, sizes[k])
	}
	for _, k := range kernel.KeptDims(len(s.In[1].Shape), []int64{d.IndexVectorDim}) {
		batch = append(batch, s.In[1].Shape[k])
	}
	out := make(tensor.Shape, len(window)+len(batch))
	isOffset := map[int64]bool{}
	for _, o := range d.OffsetDims {
		isOffset[o] = true
	}
	for i := range out {
		if isOffset[int64(i)] && len(window) > 0 {
			out[i], window = window[0], window[1:]
		} else if len(batch) > 0 {
			out[i], batch = batch[0], batch[1:]
		}
	}
	s.Out[0].Shape = out
	return nil
}
