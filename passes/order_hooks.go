package passes

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// OrderHooks removes the tokens of a raised module and threads a chain through its hooks.
type OrderHooks struct {
	Order hook.Order `pass:"order" doc:"program: all hooks in program order; source: the order that the source's tokens impose; none"`
	Chain hook.Chain `pass:"chain" doc:"state: a scalar tensor<ui64>; token: !stablehlo.token; pid: EXLA's PID, only for lower-hooks{to=exla-io}"`
}

// hookOrder is the order that OrderHooks chose for a module.
type hookOrder struct {
	by     hook.Order
	source order.Source // for OrderSource
}

var orderedBy = pass.NewResult[hookOrder]("order")

func (OrderHooks) Info() *pass.Info {
	return &pass.Info{
		Name:     "order-hooks",
		Doc:      "Removes tokens from the module and threads a chain through its hooks.",
		Requires: []pass.Requirement{raisedHooks},
		Excludes: []*pass.State{orderedHooks},
	}
}

func (p OrderHooks) Run(ctx *pass.Context, m *ir.Module) error {
	o := hookOrder{by: p.Order}
	if p.Order == hook.OrderSource {
		o.source = order.SourceOf(m)
	}
	if err := order.Thread(ctx, m, p.Order, p.Chain); err != nil {
		return err
	}
	orderedBy.Put(ctx, o)
	ctx.Set(orderedHooks, true)
	return nil
}
