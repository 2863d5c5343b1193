package passes

import (
	"github.com/hlocb/hlocb/dialect/vhlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// CompatibilityExpander replaces features that an older version of StableHLO lacks.
type CompatibilityExpander struct {
	Target string `pass:"target" doc:"the version of StableHLO to write for, as 1.0.0"`
	pass.Rules
}

func (CompatibilityExpander) Info() *pass.Info {
	return &pass.Info{
		Name:    "stablehlo-compatibility-expander",
		Aliases: []string{"stablehlo-create-compatibility-expander", "compatibility-expander"},
		Doc: "Replaces features that the target version of StableHLO lacks by older operations: tan, batching dimensions of gather and " +
			"scatter, replica groups on mesh axes, and ranges in locations. Also erases dead operations, folds, and moves constants to the " +
			"start of a function.",
	}
}

func (p CompatibilityExpander) Run(ctx *pass.Context, m *ir.Module) error {
	target, err := vhlo.ParseVersion(p.Target)
	if err == nil {
		err = target.Check()
	}
	if err != nil {
		return err
	}
	return legalize.Compatible(m, target, p.Driver(ctx))
}
