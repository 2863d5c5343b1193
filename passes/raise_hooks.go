package passes

import (
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
)

var raiseHooksInfo = &Info{
	Name:    "raise-hooks",
	Doc:     "Replaces hooks of every input format by hlocb.hook ops; their tokens stay for order-hooks.",
	Options: []Option{{Name: "targets", Doc: "further custom-call targets to treat as hooks, separated by commas"}},
}

// RaiseHooks returns the pass that replaces the hooks of every input format by hlocb.hook ops. Its result is a
// *format.Raised.
func RaiseHooks(opts format.RaiseOptions) Pass {
	return simple{raiseHooksInfo, func(c *Context, m *ir.Module) error {
		raised, err := format.Raise(m, opts)
		c.SetResult(raiseHooksInfo.Name, raised)
		return err
	}}
}

func newRaiseHooks(o Options) (Pass, error) {
	return RaiseHooks(format.RaiseOptions{Targets: o.List("targets")}), nil
}
