package passes

import (
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// RemoveDeadValues erases what nothing needs, as MLIR's pass of this name does.
type RemoveDeadValues struct{}

var removeDeadValuesInfo = &pass.Info{
	Name: "remove-dead-values",
	Doc: "Erases operations that no result and no side effect depends on, with the values that private functions take and return for them alone. " +
		"Loops and branches keep all their values; dce takes these out, too.",
}

// Info implements pass.Pass.
func (RemoveDeadValues) Info() *pass.Info { return removeDeadValuesInfo }

// Run implements pass.ModulePass.
func (RemoveDeadValues) Run(ctx *pass.Context, m *ir.Module) error { return runDCE(ctx, m, true) }
