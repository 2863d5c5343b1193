package passes

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// ListHooks lists the hooks of a module. Before LowerHooks, the list includes each hook's format and source IDs.
type ListHooks struct{}

// Manifest is the result of ListHooks.
var Manifest = pass.NewResult[*hook.Manifest]("manifest")

func (ListHooks) Info() *pass.Info {
	return &pass.Info{
		Name:     "list-hooks",
		Doc:      "Lists the hooks and their order for the caller; changes nothing.",
		ReadOnly: true,
	}
}

func (ListHooks) Run(ctx *pass.Context, m *ir.Module) error {
	manifest, err := format.ManifestOf(m)
	if err == nil {
		Manifest.Put(ctx, manifest)
	}
	return err
}
