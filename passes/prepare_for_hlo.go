package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// PrepareForHLO transforms StableHLO as XLA does before it translates StableHLO to HLO.
type PrepareForHLO struct {
	Evaluator rewrite.Evaluator // as in Fold
}

func (PrepareForHLO) Info() *pass.Info {
	return &pass.Info{
		Name: "prepare-for-hlo",
		Doc: "Transforms StableHLO as XLA does before it translates StableHLO to HLO: replaces MHLO's operations; expands functions of complex numbers and CHLO, except for the operations that HLO has; " +
			"applies stablehlo-target-independent-optimization.",
	}
}

func (p PrepareForHLO) Run(ctx *pass.Context, m *ir.Module) error {
	if err := (MHLOToStableHLO{}).Run(ctx, m); err != nil {
		return err
	}
	for _, f := range fn.Funcs(m) {
		if err := legalize.Complex(f.Op, pass.Rules{}.Driver(ctx)); err != nil {
			return err
		}
		if err := legalize.CHLO(f.Op, legalize.InHLO, pass.Rules{}.Driver(ctx)); err != nil {
			return err
		}
		if err := (Optimize{Evaluator: p.Evaluator}).Run(ctx, f.Op); err != nil {
			return err
		}
	}
	return nil
}
