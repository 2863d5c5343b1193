package passes

import (
	"context"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// RewriteOptions says how RewriteHooks converts a module.
type RewriteOptions struct {
	Targets []string // further custom-call targets to treat as hooks
	Order   hook.Order
	Chain   hook.Chain
	Alias   hook.AliasMode
	// Driver verifies and watches; nil means a driver that verifies after each pass.
	Driver *Driver
}

// Rewritten is what RewriteHooks tells of the module it converted.
type Rewritten struct {
	Manifest *hlocb.Manifest
	Aliases  []hook.AliasReport
}

// RewriteHooks converts every hook of m to hlocb's own call: raise-hooks, order-hooks, alias-hooks, lower-hooks.
// A module without hooks stays as it is.
func RewriteHooks(ctx context.Context, m *ir.Module, opts RewriteOptions) (*Rewritten, error) {
	d := opts.Driver
	if d == nil {
		d = &Driver{}
	}
	c := NewContext(ctx)
	out := &Rewritten{}
	pipeline := Pipeline{
		{Pass: RaiseHooks(hook.RaiseOptions{Targets: opts.Targets})},
		{Pass: OrderHooks(opts.Order, opts.Chain)},
		{Pass: AliasHooks(opts.Alias)},
		// The manifest is taken from the raised form, which still knows where each hook comes from.
		{Pass: simple{&Info{Name: "manifest"}, func(_ *Context, m *ir.Module) (err error) {
			out.Manifest, err = hook.ManifestOf(m)
			return err
		}}},
		{Pass: LowerHooks()},
	}
	if opts.Order == hook.OrderProgram {
		pipeline = append(pipeline, Step{Pass: CheckOrder()})
	}
	if err := d.Run(c, pipeline, m); err != nil {
		return nil, err
	}
	out.Aliases, _ = c.Result(aliasHooksInfo.Name).([]hook.AliasReport)
	return out, nil
}
