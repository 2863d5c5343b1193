package cli

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/hook/order"
	"github.com/hlocb/hlocb/ir"
)

// provesOrder returns a check of HLO that is written for m. If the order of the hooks of m is proven, it is proven
// again for the HLO, as others will read it.
func provesOrder(ctx context.Context, m *ir.Module) func(*hlo.Module) error {
	return func(h *hlo.Module) error {
		if !order.Orders(m) || order.Prove(ctx, m) != nil {
			return nil
		}
		again, err := hlo.Import(h, m.Context())
		if err == nil {
			err = order.Prove(ctx, again)
		}
		if err != nil {
			return fmt.Errorf("HLO would not keep the order of the hooks: %w", err)
		}
		return nil
	}
}
