package passes

import (
	hooks "github.com/hlocb/hlocb/internal/hook"
	"github.com/hlocb/hlocb/ir"
)

var raiseHooksInfo = &Info{
	Name:    "raise-hooks",
	Doc:     "Replaces hooks of every input format by hlocb.hook ops; their tokens stay for order-hooks.",
	Options: []Option{{Name: "targets", Doc: "further custom-call targets to treat as hooks, separated by commas"}},
}

// RaiseHooks returns the pass that replaces the hooks of every input format by hlocb.hook ops. Its result is a
// *hooks.Raised.
func RaiseHooks(opts hooks.RaiseOptions) Pass {
	return simple{raiseHooksInfo, func(c *Context, m *ir.Module) error {
		raised, err := hooks.Raise(m, opts)
		c.SetResult(raiseHooksInfo.Name, raised)
		return err
	}}
}

func newRaiseHooks(o Options) (Pass, error) {
	return RaiseHooks(hooks.RaiseOptions{Targets: o.List("targets")}), nil
}
