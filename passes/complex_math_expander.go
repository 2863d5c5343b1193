package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// ComplexMathExpander expresses functions of complex numbers by functions of real numbers.
type ComplexMathExpander struct{ pass.Rules }

func (ComplexMathExpander) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-complex-math-expander",
		Aliases: []string{"complex-math-expander"},
		Anchor:  fn.Func.Name,
		Doc: "Expresses exponential, log, log_plus_one and sqrt of complex numbers by functions of real numbers that neither overflow nor lose " +
			"digits. Also erases dead operations, folds, and moves constants to the start of the function.",
		Idempotent: true,
	}
}

func (p ComplexMathExpander) Run(ctx *pass.Context, f *ir.Op) error {
	return legalize.Complex(f, p.Driver(ctx))
}
