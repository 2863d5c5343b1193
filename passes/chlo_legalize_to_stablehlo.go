package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// CHLOLegalizeToStableHLO replaces CHLO ops by StableHLO ops.
type CHLOLegalizeToStableHLO struct{ pass.Rules }

func (CHLOLegalizeToStableHLO) Info() *pass.Info {
	return &pass.Info{
		Name:    "chlo-legalize-to-stablehlo",
		Aliases: []string{"chlo-to-stablehlo"},
		Anchor:  fn.Func.Name,
		Doc: "Replaces CHLO ops by StableHLO ops. Broadcasting ops of dynamic shapes also become ops of the dialects shape and tensor. " +
			"It is an error if an op has no expansion, for instance because of its element type.",
		Idempotent: true,
	}
}

func (p CHLOLegalizeToStableHLO) Run(ctx *pass.Context, f *ir.Op) error {
	return legalize.CHLO(f, nil, p.Driver(ctx))
}
