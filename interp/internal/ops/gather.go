package ops

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
	"slices"
)

func gatherDims(op *ir.Op) *kernel.GatherDimensions {
	a := plan.Attrs[struct {
		Numbers *stablehlo.GatherDims `attr:"dimension_numbers"`
	}](op)
	return (*kernel.GatherDimensions)(plan.Data(a.Numbers, stablehlo.AttrDimensionNumbers))
}

// makeGather compiles gather (spec, "gather"). It copies one box per start index, clamped into the operand.
func makeGather(s *plan.Spec) kernel.Kernel {
	a := plan.Attrs[struct {
		Sizes []int64 `attr:"slice_sizes"`
	}](s.Op)
	return kernel.GatherKernel(&s.Signature, gatherDims(s.Op), a.Sizes)
}

// makeDynamicGather compiles dynamic_gather (spec, "dynamic_gather"), whose slice sizes are an operand.
func makeDynamicGather(s *plan.Spec) kernel.Kernel {
	d := gatherDims(s.Op)
	inner := &kernel.Signature{Name: s.Name, In: s.In[:2], Out: s.Out, Reserve: s.Reserve}
	return kernel.Kernel{Family: "gather", Run: func(in, out []*tensor.Tensor) {
		sizes := kernel.Must(in[2].Int64s())
		k := kernel.GatherKernel(inner, d, sizes)
		k.Run(in[:2], out)
	}}
}

func dynamicGatherShape(s *plan.Spec, in []*tensor.Tensor) {
	sizes := kernel.Must(in[2].Int64s())
	d := gatherDims(s.Op)
	kernel.FailIf(len(sizes) != len(s.In[0].Shape), "has slice sizes that do not fit the operand")
	var window, batch []int64
	for _, k := range kernel.KeptDims(len(sizes), slices.Concat(d.CollapsedSliceDims, d.OperandBatchingDims)) {
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
}
