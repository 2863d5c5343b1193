package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// LegalizeQuantToMath expresses quantized computations by computations on the stored values.
type LegalizeQuantToMath struct{}

func (LegalizeQuantToMath) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-legalize-quant-to-math",
		Aliases: []string{"legalize-quant-to-math"},
		Anchor:  fn.Func.Name,
		Doc: "Replaces quantized types by their storage types, and computations on them by computations on integers and floats. " +
			"Creates broadcasting ops of CHLO. It is an error if an op has no such expression.",
		Idempotent: true,
	}
}

func (LegalizeQuantToMath) Run(_ *pass.Context, f *ir.Op) error { return legalize.Quantized(f) }
