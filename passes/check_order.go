package passes

import (
	"errors"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// CheckOrder proves that a lowered module delivers its hooks in order: the order that OrderHooks chose, or program
// order if OrderHooks did not run.
type CheckOrder struct{}

func (CheckOrder) Info() *pass.Info {
	return &pass.Info{
		Name:     "check-order",
		Doc:      "Proves on a lowered module that its hooks are delivered in order.",
		ReadOnly: true,
		Requires: []pass.Requirement{loweredHooks},
	}
}

func (CheckOrder) Run(ctx *pass.Context, m *ir.Module) error {
	switch o, _ := orderedBy.Get(ctx); o.by {
	case hook.OrderSource:
		return o.source.Prove(ctx, m)
	case hook.OrderNone:
		return errors.New("the hooks were not ordered (order=none), so there is no order to prove")
	}
	return order.Prove(ctx, m)
}
