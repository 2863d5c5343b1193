package passes

import (
	"fmt"

	hooks "github.com/hlocb/hlocb/internal/hook"
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
func OrderHooks(order hooks.Order, chain hooks.Chain) Pass {
	return simple{orderHooksInfo, func(_ *Context, m *ir.Module) error {
		return hooks.Thread(m, order, chain)
	}}
}

func newOrderHooks(o Options) (Pass, error) {
	order, ok := hooks.ParseOrder(o.Get("order", "program"))
	if !ok {
		return nil, fmt.Errorf("order is program, source or none, but got %q", o["order"])
	}
	chain, ok := hooks.ParseChain(o.Get("chain", "state"))
	if !ok {
		return nil, fmt.Errorf("chain is state or token, but got %q", o["chain"])
	}
	return OrderHooks(order, chain), nil
}
