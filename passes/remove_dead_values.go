package passes

import (
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// RemoveDeadValues erases ops and values that nothing needs, as MLIR's pass of this name does.
type RemoveDeadValues struct {
	// Canonicalize is MLIR's option. MLIR then simplifies ops of its interface for branches into regions, which no op of
	// StableHLO has.
	Canonicalize pass.Opt[bool] `pass:"canonicalize" default:"true" doc:"accepted for MLIR's pipelines; it concerns no operation of StableHLO"`
}

func (RemoveDeadValues) Info() *pass.Info {
	return &pass.Info{
		Name: "remove-dead-values",
		Doc: "Erases operations that no result and no side effect depends on, and the values that private functions forward only for such operations. " +
			"Loops and branches keep all their values; dce removes these values, too.",
	}
}

func (RemoveDeadValues) Run(ctx *pass.Context, m *ir.Module) error { return runDCE(ctx, m, true) }
