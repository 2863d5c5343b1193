package passes

import (
	"fmt"

	"github.com/hlocb/hlocb/hook"

	"github.com/hlocb/hlocb/internal/hook/alias"
	"github.com/hlocb/hlocb/ir"
)

var aliasHooksInfo = &Info{
	Name:    "alias-hooks",
	Doc:     "Lets results of hooks share the memory of their operands, and taps of computed values pass them through.",
	Options: []Option{{Name: "mode", Default: "all", Doc: "all: wherever the types agree; free: where XLA need not copy; none"}},
}

// AliasHooks returns the pass that decides the aliases of a raised module. Its result is a []hook.AliasReport.
func AliasHooks(mode hook.AliasMode) Pass {
	return simple{aliasHooksInfo, func(c *Context, m *ir.Module) error {
		c.SetResult(aliasHooksInfo.Name, alias.Decide(m, mode))
		return nil
	}}
}

func newAliasHooks(o Options) (Pass, error) {
	var mode hook.AliasMode
	if err := mode.UnmarshalText([]byte(o.Get("mode", "all"))); err != nil {
		return nil, fmt.Errorf("mode: %w", err)
	}
	return AliasHooks(mode), nil
}
