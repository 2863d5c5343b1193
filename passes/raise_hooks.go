package passes

import (
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// RaiseHooks replaces the hooks of every format with hlocb.hook ops.
type RaiseHooks struct {
	Targets []string `pass:"targets" doc:"further custom-call targets that are hooks, separated by commas"`

	Formats format.List // nil: format.Builtin
}

// Raised is the result of RaiseHooks.
var Raised = pass.NewResult[*format.Raised]("raised hooks")

func (RaiseHooks) Info() *pass.Info {
	return &pass.Info{
		Name: "raise-hooks",
		Doc:  "Replaces the hooks of every format by hlocb.hook ops; their tokens stay for order-hooks.",
	}
}

func (p RaiseHooks) Run(ctx *pass.Context, m *ir.Module) error {
	raised, err := format.Raise(m, format.RaiseOptions{Formats: p.Formats, Targets: p.Targets, Context: ctx})
	if err != nil {
		return err
	}
	Raised.Put(ctx, raised)
	ctx.Set(raisedHooks, true)
	ctx.Set(loweredHooks, false)
	if raised.Hooks > 0 {
		ctx.Set(orderedHooks, false)
		ctx.Set(placedHooks, false)
	}
	return nil
}
