package passes

import (
	"fmt"

	hooks "github.com/hlocb/hlocb/internal/hook"
	"github.com/hlocb/hlocb/ir"
)

var placeHooksInfo = &Info{
	Name:    "place-hooks",
	Doc:     "Writes the hooks of a partitioned module so that XLA accepts them, to fire once or on each device.",
	Options: []Option{{Name: "per-device", Default: "source", Doc: "once, with the whole value; each, with the device's shard; source, as the source has it"}},
}

// PlaceHooks returns the pass that says on which devices the hooks of a raised, ordered module fire.
func PlaceHooks(mode hooks.PerDevice) Pass {
	return simple{placeHooksInfo, func(_ *Context, m *ir.Module) error { return hooks.PlaceOnDevices(m, mode) }}
}

func newPlaceHooks(o Options) (Pass, error) {
	mode, ok := hooks.ParsePerDevice(o.Get("per-device", "source"))
	if !ok {
		return nil, fmt.Errorf("per-device is source, once or each, but got %q", o["per-device"])
	}
	return PlaceHooks(mode), nil
}
