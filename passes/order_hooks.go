package passes

import (
	"fmt"

	"github.com/hlocb/hlocb/hook"

	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
)

var orderHooksInfo = &Info{
	Name: "order-hooks",
	Doc:  "Takes tokens out of the module and puts a chain through its hooks.",
	Options: []Option{
		{Name: "order", Default: "program", Doc: "program: all hooks in program order; source: what the source's tokens impose; none"},
		{Name: "chain", Default: "state", Doc: "state: a scalar tensor<ui64>; token: !stablehlo.token"},
	},
}

// OrderHooks returns the pass that puts a chain through the hooks of a raised module.
func OrderHooks(o hook.Order, chain hook.Chain) Pass {
	return simple{orderHooksInfo, func(_ *Context, m *ir.Module) error {
		return order.Thread(m, o, chain)
	}}
}

func newOrderHooks(o Options) (Pass, error) {
	var kept hook.Order
	if err := kept.UnmarshalText([]byte(o.Get("order", "program"))); err != nil {
		return nil, fmt.Errorf("order: %w", err)
	}
	var chain hook.Chain
	if err := chain.UnmarshalText([]byte(o.Get("chain", "state"))); err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	return OrderHooks(kept, chain), nil
}
