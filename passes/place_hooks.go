package passes

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/hook/place"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// PlaceHooks sets the devices on which the hooks of a raised, ordered, partitioned module fire. If PlaceHooks did not
// run, LowerHooks does the same with the placement of the source.
type PlaceHooks struct {
	PerDevice hook.PerDevice `pass:"per-device" doc:"once: with the whole value; each: with the device's shard; source: as the source says"`
}

func (PlaceHooks) Info() *pass.Info {
	return &pass.Info{
		Name:     "place-hooks",
		Doc:      "Writes the hooks of a partitioned module so that XLA accepts them, to fire once or on each device.",
		Requires: []pass.Requirement{orderedHooks},
	}
}

func (p PlaceHooks) Run(ctx *pass.Context, m *ir.Module) error {
	ctx.Set(placedHooks, true)
	return place.OnDevices(ctx, m, p.PerDevice)
}
