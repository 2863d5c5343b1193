package passes

import (
	"fmt"

	"github.com/hlocb/hlocb/hook"

	"github.com/hlocb/hlocb/internal/hook/place"
	"github.com/hlocb/hlocb/ir"
)

var placeHooksInfo = &Info{
	Name:    "place-hooks",
	Doc:     "Writes the hooks of a partitioned module so that XLA accepts them, to fire once or on each device.",
	Options: []Option{{Name: "per-device", Default: "source", Doc: "once, with the whole value; each, with the device's shard; source, as the source has it"}},
}

// PlaceHooks returns the pass that says on which devices the hooks of a raised, ordered module fire.
func PlaceHooks(mode hook.PerDevice) Pass {
	return simple{placeHooksInfo, func(_ *Context, m *ir.Module) error { return place.OnDevices(m, mode) }}
}

func newPlaceHooks(o Options) (Pass, error) {
	var mode hook.PerDevice
	if err := mode.UnmarshalText([]byte(o.Get("per-device", "source"))); err != nil {
		return nil, fmt.Errorf("per-device: %w", err)
	}
	return PlaceHooks(mode), nil
}
