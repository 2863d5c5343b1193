package passes

import (
	"fmt"

	hooks "github.com/hlocb/hlocb/internal/hook"
	"github.com/hlocb/hlocb/ir"
)

var aliasHooksInfo = &Info{
	Name:    "alias-hooks",
	Doc:     "Lets results of hooks share the memory of their operands, and taps of computed values pass them through.",
	Options: []Option{{Name: "mode", Default: "all", Doc: "all: wherever the types agree; free: where XLA need not copy; none"}},
}

// AliasHooks returns the pass that decides the aliases of a raised module. Its result is a []hooks.AliasReport.
func AliasHooks(mode hooks.AliasMode) Pass {
	return simple{aliasHooksInfo, func(c *Context, m *ir.Module) error {
		c.SetResult(aliasHooksInfo.Name, hooks.Alias(m, mode))
		return nil
	}}
}

func newAliasHooks(o Options) (Pass, error) {
	mode, ok := hooks.ParseAliasMode(o.Get("mode", "all"))
	if !ok {
		return nil, fmt.Errorf("mode is all, free or none, but got %q", o["mode"])
	}
	return AliasHooks(mode), nil
}
