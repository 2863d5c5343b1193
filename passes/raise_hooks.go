package passes

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

var raiseHooksInfo = &Info{
	Name:    "raise-hooks",
	Doc:     "Replaces hooks of every input format by hlocb.hook ops; their tokens stay for order-hooks.",
	Options: []Option{{Name: "targets", Doc: "further custom-call targets to treat as hooks, separated by commas"}},
}

// RaiseHooks returns the pass that replaces the hooks of every input format by hlocb.hook ops.
func RaiseHooks(opts hook.RaiseOptions) Pass {
	return simple{raiseHooksInfo, func(_ *Context, m *ir.Module) error {
		_, err := hook.Raise(m, opts)
		return err
	}}
}

func newRaiseHooks(o Options) (Pass, error) {
	return RaiseHooks(hook.RaiseOptions{Targets: o.List("targets")}), nil
}
