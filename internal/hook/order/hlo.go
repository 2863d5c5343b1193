package order

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
)

// ProveHLO proves the order of hooks once more on HLO that was written for m, as others will read it. It checks nothing
// if the order in m is not proven.
func ProveHLO(ctx context.Context, m *ir.Module, h *hlo.Module) error {
	if !Orders(m) || Prove(ctx, m) != nil {
		return nil
	}
	again, err := hlo.Import(h, m.Context())
	if err == nil {
		err = Prove(ctx, again)
	}
	if err != nil {
		return fmt.Errorf("HLO would not keep the order of the hooks: %w", err)
	}
	return nil
}
