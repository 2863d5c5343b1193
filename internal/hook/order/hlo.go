package order

import (
	"context"
	"fmt"

	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
)

// ProveHLO proves the order of hooks once more on HLO that was written for m, as others will read it: program order if
// it is proven in m, else the order of the chains in m.
func ProveHLO(ctx context.Context, m *ir.Module, h *hlo.Module) error {
	if !Orders(m) {
		return nil
	}
	program := Prove(ctx, m) == nil
	again, err := hlo.Import(h, m.Context())
	switch {
	case err != nil:
	case program:
		err = Prove(ctx, again)
	default:
		edges, _ := chainsOf(m, true)
		got, ops := chainsOf(again, true)
		err = Source{edges}.keptBy(ctx, again, got, ops)
	}
	if err := ctx.Err(); err != nil { // an interrupted proof says nothing
		return err
	}
	if err != nil {
		return fmt.Errorf("HLO would not keep the order of the hooks: %w", err)
	}
	return nil
}
