package ops

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
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
	a := plan.Attrs[struct {
		Operands []int64 `attr:"operandSegmentSizes"`
		Results  []int64 `attr:"resultSegmentSizes"`
	}](s.Op)
	first := func(sizes []int64, total int, name string) int {
		if sizes == nil { // without the attribute, all belong to the first segment
			return total
		}
		kernel.FailIf(len(sizes) != 2 || sizes[0] < 0 || sizes[1] < 0 || int(sizes[0]+sizes[1]) != total, "expects two parts in %s", name)
		return int(sizes[0])
	}
	inputs, outputs = first(a.Operands, len(s.In), chlo.AttrOperandSegmentSizes), first(a.Results, len(s.Out), chlo.AttrResultSegmentSizes)
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
	a := plan.Attrs[struct {
		Dimension int   `attr:"dimension"`
		Size      int64 `attr:"scan_dim_size,-1"`
	}](s.Op)
	dim, steps := a.Dimension, a.Size
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
