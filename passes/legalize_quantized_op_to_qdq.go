package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// LegalizeQuantizedOpToQDQ computes quantized ops on real numbers.
type LegalizeQuantizedOpToQDQ struct{ pass.Rules }

func (LegalizeQuantizedOpToQDQ) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-legalize-quantized-op-to-qdq",
		Aliases: []string{"legalize-quantized-op-to-qdq"},
		Anchor:  fn.Func.Name,
		Doc: "Decomposes quantized ops: uniform_dequantize for the operands, the op on real numbers, uniform_quantize for the results. " +
			"Also erases dead operations and folds.",
	}
}

func (p LegalizeQuantizedOpToQDQ) Run(ctx *pass.Context, f *ir.Op) error {
	_, err := p.Greedy(ctx, f, legalize.OnReals, optimizing)
	return err
}
