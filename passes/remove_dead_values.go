package passes

import (
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// RemoveDeadValues erases ops and values that nothing needs, as MLIR's pass of this name does.
type RemoveDeadValues struct{}

func (RemoveDeadValues) Info() *pass.Info {
	return &pass.Info{
		Name: "remove-dead-values",
		Doc: "Erases operations that no result and no side effect depends on, and the values that private functions forward only for such operations. " +
			"Loops and branches keep all their values; dce removes these values, too.",
	}
}

func (RemoveDeadValues) Run(ctx *pass.Context, m *ir.Module) error { return runDCE(ctx, m, true) }
