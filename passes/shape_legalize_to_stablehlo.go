package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// ShapeLegalizeToStableHLO expresses computations of shapes by StableHLO ops.
type ShapeLegalizeToStableHLO struct{}

func (ShapeLegalizeToStableHLO) Info() *pass.Info {
	return &pass.Info{
		Name:    "shape-legalize-to-stablehlo",
		Aliases: []string{"shape-to-stablehlo"},
		Anchor:  fn.Func.Name,
		Doc: "Replaces computations of shapes (ops of the dialects shape and tensor, arith.index_cast and arith.muli) by StableHLO ops on i32. " +
			"Casts from and to index remain, which canonicalize removes in pairs.",
		Idempotent: true,
	}
}

func (ShapeLegalizeToStableHLO) Run(_ *pass.Context, f *ir.Op) error { return legalize.Shape(f) }
