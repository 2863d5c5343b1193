package passes

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// LegalizeDeprecatedOps replaces deprecated ops.
type LegalizeDeprecatedOps struct {
	FailOnUnused pass.Opt[bool] `pass:"fail-on-unused" default:"true" doc:"fail on map and rng, which are deprecated and have no replacement"`
	pass.Rules
}

func (LegalizeDeprecatedOps) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-legalize-deprecated-ops",
		Aliases: []string{"legalize-deprecated-ops"},
		Anchor:  fn.Func.Name,
		Doc: "Replaces broadcast by broadcast_in_dim, create_token by after_all, cross-replica-sum by all_reduce, dot by dot_general and " +
			"unary_einsum by einsum.",
		Idempotent: true,
	}
}

func (p LegalizeDeprecatedOps) Run(ctx *pass.Context, f *ir.Op) error {
	p = pass.Defaults(p)
	err := legalize.Deprecated(f, p.Driver(ctx))
	if err != nil {
		return err
	}
	f.Walk(func(op *ir.Op) bool {
		unused := p.FailOnUnused.Get() && (op.Is(stablehlo.Map) || op.Is(stablehlo.Rng))
		if err == nil && (unused || op.Is(stablehlo.Dot) || op.Is(stablehlo.Broadcast)) {
			err = f.Module().Errorf(op, "failed to legalize operation '%s' that was explicitly marked illegal", op.Name())
		}
		return err == nil
	})
	return err
}
