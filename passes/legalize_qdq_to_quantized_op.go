package passes

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// LegalizeQDQToQuantizedOp joins quantized ops that were decomposed.
type LegalizeQDQToQuantizedOp struct{ pass.Rules }

func (LegalizeQDQToQuantizedOp) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-legalize-qdq-to-quantized-op",
		Aliases: []string{"legalize-qdq-to-quantized-op"},
		Anchor:  fn.Func.Name,
		Doc: "Replaces an op between uniform_dequantize of all its operands and uniform_quantize of its result by the op on quantized values. " +
			"Also erases dead operations and folds.",
	}
}

func (p LegalizeQDQToQuantizedOp) Run(ctx *pass.Context, f *ir.Op) error {
	_, err := p.Greedy(ctx, f, []*rewrite.Pattern{{Name: "uniform_quantize", Rows: []*ir.Def{stablehlo.UniformQuantize}, Rewrite: joinQuantized}}, optimizing)
	return err
}

func joinQuantized(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	compute := op.Operand(0).DefiningOp()
	if compute == nil || len(compute.Regions()) > 0 || compute.NumResults() > 1 || compute.NumOperands() == 0 {
		return false, nil
	}
	st := compute.State()
	st.Attrs, st.Types, st.Operands = slices.Clone(compute.Attrs()), op.ResultTypes(), nil
	for _, v := range compute.Operands() {
		from := v.DefiningOp()
		if from == nil || !from.Is(stablehlo.UniformDequantize) {
			return false, nil
		}
		st.Operands = append(st.Operands, from.Operand(0))
	}
	return replaceWith(r, op, r.After(compute).Insert(st).Result(0))
}
