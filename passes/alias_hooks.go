package passes

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/alias"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// AliasHooks decides which hook results share memory with their operands.
type AliasHooks struct {
	Mode hook.AliasMode `pass:"mode" doc:"all: whenever the types agree; free: only if XLA need not copy; none"`
}

// Aliases is the result of AliasHooks.
var Aliases = pass.NewResult[[]hook.AliasReport]("aliases")

func (AliasHooks) Info() *pass.Info {
	return &pass.Info{
		Name:     "alias-hooks",
		Doc:      "Lets results of hooks share the memory of their operands, and lets taps of computed values forward them.",
		Requires: []pass.Requirement{orderedHooks},
	}
}

func (p AliasHooks) Run(ctx *pass.Context, m *ir.Module) error {
	reports, err := alias.Decide(ctx, m, p.Mode)
	if err == nil {
		Aliases.Put(ctx, reports)
	}
	return err
}
