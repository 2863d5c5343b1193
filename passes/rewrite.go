package passes

import (
	"cmp"
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
	// PerDevice says how often hooks of partitioned programs fire.
	PerDevice hook.PerDevice
	To        string // output format, see hook.Outputs; empty is "ffi"
	Default   string // for "strip": "zeros" stands for what a host would compute
	// Driver verifies and watches; nil means a driver that verifies after each pass.
	Driver *Driver
}

// Rewritten is what RewriteHooks tells of the module it converted.
type Rewritten struct {
	Manifest *hlocb.Manifest
	Aliases  []hook.AliasReport
}

// RewriteHooks converts every hook of m to hlocb's own call, or to opts.To: raise-hooks, order-hooks, alias-hooks, lower-hooks.
// A module without hooks stays as it is.
func RewriteHooks(ctx context.Context, m *ir.Module, opts RewriteOptions) (*Rewritten, error) {
	d := opts.Driver
	if d == nil {
		d = &Driver{Verify: ir.Verify}
	}
	to, err := hook.FindOutput(cmp.Or(opts.To, "ffi"))
	if err != nil {
		return nil, err
	}
	order, chain, alias := to.Order(opts.Order), to.Chain(opts.Chain), opts.Alias
	if to.Name != "ffi" {
		alias = hook.AliasNone // aliases are hlocb's own; other notations have theirs
	}
	place := PlaceHooks(opts.PerDevice)
	if to.Name != "ffi" {
		place = simple{placeHooksInfo, func(*Context, *ir.Module) error { return nil }}
	}
	c := NewContext(ctx)
	out := &Rewritten{}
	pipeline := Pipeline{
		{Pass: RaiseHooks(hook.RaiseOptions{Targets: opts.Targets})},
		{Pass: OrderHooks(order, chain)},
		{Pass: place},
		{Pass: AliasHooks(alias)},
		// The manifest is taken from the raised form, which still knows where each hook comes from.
		{Pass: simple{&Info{Name: "manifest", ReadOnly: true}, func(_ *Context, m *ir.Module) (err error) {
			out.Manifest, err = hook.ManifestOf(m)
			return err
		}}},
		{Pass: LowerHooks(to, hook.LowerOptions{Default: opts.Default})},
	}
	if order == hook.OrderProgram && to.Name == "ffi" {
		pipeline = append(pipeline, Step{Pass: CheckOrder()})
	}
	if err := d.Run(c, pipeline, m); err != nil {
		return nil, err
	}
	out.Aliases, _ = c.Result(aliasHooksInfo.Name).([]hook.AliasReport)
	return out, nil
}
