package ops

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// expandOthers adds the recipes of the ops without a kernel. They execute as simpler ops, as in XLA (spec,
// "batch_norm_grad", "batch_norm_inference", "batch_norm_training", "select_and_scatter").
func expandOthers(t map[*ir.Def]plan.Recipe) {
	for _, d := range slices.Concat(chlo.Ops(), []*ir.Def{stablehlo.BatchNormGrad, stablehlo.BatchNormInference, stablehlo.BatchNormTraining,
		stablehlo.Broadcast, stablehlo.CrossReplicaSum, stablehlo.Dot, stablehlo.Einsum, stablehlo.SelectAndScatter,
		stablehlo.TorchIndexSelect, stablehlo.UnaryEinsum}) {
		if _, ok := t[d]; ok {
			continue
		}
		r := plan.Expanded()
		switch {
		case d == chlo.Scan:
			r = r.Shaped(scanShape)
		case d.Infer == nil:
			r = r.Shaped(firstShape)
		}
		t[d] = r
	}
}

// scanSegments returns the number of inputs among the operands and the number of outputs among the results.
func scanSegments(s *plan.Spec) (inputs, outputs int) {
	for _, x := range []struct {
		name  string
		total int
		first *int
	}{{chlo.AttrOperandSegmentSizes, len(s.In), &inputs}, {chlo.AttrResultSegmentSizes, len(s.Out), &outputs}} {
		v := plan.IntsAttr(s.Op, x.name)
		if v == nil { // without the attribute, all belong to the first segment
			*x.first = x.total
			continue
		}
		kernel.FailIf(len(v) != 2 || v[0] < 0 || v[1] < 0 || int(v[0]+v[1]) != x.total, "expects two parts in %s", x.name)
		*x.first = int(v[0])
	}
	kernel.FailIf(len(s.In)-inputs != len(s.Out)-outputs, "expects as many carries as inits")
	return inputs, outputs
}

// scanShape is the shape function of scan. The outputs have the inputs' size in the scanned dimension; their other
// sizes come from the body's return. The carries have the shapes of the inits.
func scanShape(s *plan.Spec, in []*tensor.Tensor) {
	inputs, outputs := scanSegments(s)
	for i := outputs; i < len(s.Out); i++ {
		s.Out[i].Shape = in[inputs+i-outputs].Shape()
	}
	dim := int(view.IntOr(s.Op.Attr(stablehlo.AttrDimension), 0))
	steps := view.IntOr(s.Op.Attr(chlo.AttrScanDimSize), -1)
	if inputs > 0 && dim < len(in[0].Shape()) {
		steps = in[0].Shape()[dim]
	}
	term := s.Op.Region(0).Entry().Last()
	for i := range outputs {
		if s.Out[i].N >= 0 {
			continue
		}
		t, ok := term.Operand(i).Type().(*ir.TensorType)
		kernel.UnsupportedIf(!ok || !t.Static() || dim > len(t.Shape()) || steps < 0, "the dynamic shape of output %d", i)
		shape := append(append(tensor.Shape{}, t.Shape()[:dim]...), steps)
		s.Out[i].Shape = append(shape, t.Shape()[dim:]...)
	}
}
