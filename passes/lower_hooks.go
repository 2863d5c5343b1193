package passes

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

var lowerHooksInfo = &Info{
	Name: "lower-hooks",
	Doc:  "Writes hlocb.hook ops as hlocb's own custom call.",
}

// LowerHooks returns the pass that writes hlocb.hook ops as hlocb's own call.
func LowerHooks() Pass {
	return simple{lowerHooksInfo, func(_ *Context, m *ir.Module) error { return hook.Lower(m) }}
}

func newLowerHooks(Options) (Pass, error) { return LowerHooks(), nil }
