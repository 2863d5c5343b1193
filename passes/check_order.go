package passes

import (
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
)

var checkOrderInfo = &Info{
	Name: "check-order",
	Doc:  "Proves on a lowered module that its hooks are delivered in program order.",

	ReadOnly: true,
}

// CheckOrder returns the pass that proves the program order of a lowered module. It changes nothing.
func CheckOrder() Pass {
	return simple{checkOrderInfo, func(_ *Context, m *ir.Module) error { return order.Prove(m) }}
}

func newCheckOrder(Options) (Pass, error) { return CheckOrder(), nil }
