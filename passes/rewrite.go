package passes

import (
	"cmp"
	"context"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/hook/order"
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
	To        string // output format, see format.Outputs; empty is "ffi"
	Default   string // for "strip": "zeros" stands for what a host would compute
	// Driver verifies and watches; nil means a driver that verifies the input and the result.
	Driver *Driver
}

// Rewritten is what RewriteHooks tells of the module it converted.
type Rewritten struct {
	Manifest *hook.Manifest
	Aliases  []hook.AliasReport
	Origins  map[hook.ID][]diag.Pos // where in the source each hook was
}

// RewriteHooks converts every hook of m to hlocb's own call, or to opts.To: raise-hooks, order-hooks, alias-hooks, lower-hooks.
// A module without hooks stays as it is.
func RewriteHooks(ctx context.Context, m *ir.Module, opts RewriteOptions) (*Rewritten, error) {
	d := opts.Driver
	if d == nil {
		d = &Driver{Verify: ir.Verify, Ends: true}
	}
	to, err := format.Builtin().Writer(cmp.Or(opts.To, "ffi"))
	if err != nil {
		return nil, err
	}
	given, chain, alias := to.Order(opts.Order), to.Chain(opts.Chain), to.Alias(opts.Alias)
	placed, err := to.PerDevice(opts.PerDevice)
	if err != nil {
		return nil, err
	}
	place := PlaceHooks(opts.PerDevice)
	if !placed {
		place = simple{placeHooksInfo, func(*Context, *ir.Module) error { return nil }}
	}
	c := NewContext(ctx)
	out := &Rewritten{}
	var source order.Source
	pipeline := Pipeline{
		{Pass: RaiseHooks(format.RaiseOptions{Targets: opts.Targets})},
		{Pass: look("source-order", func(m *ir.Module) error {
			if given == hook.OrderSource {
				source = order.SourceOf(m)
			}
			return nil
		})},
		{Pass: OrderHooks(given, chain)},
		{Pass: place},
		{Pass: AliasHooks(alias)},
		// The manifest is taken from the raised form, which still knows where each hook comes from.
		{Pass: look("manifest", func(m *ir.Module) (err error) {
			out.Manifest, err = format.ManifestOf(m)
			return err
		})},
		{Pass: LowerHooks(to, format.LowerOptions{Default: opts.Default})},
	}
	switch {
	case !to.Proof:
	case given == hook.OrderProgram:
		pipeline = append(pipeline, Step{Pass: CheckOrder()})
	case given == hook.OrderSource:
		pipeline = append(pipeline, Step{Pass: look("check-order", func(m *ir.Module) error { return source.Prove(m) })})
	}
	if err := d.Run(c, pipeline, m); err != nil {
		return nil, err
	}
	if raised, ok := c.Result(raiseHooksInfo.Name).(*format.Raised); ok && raised != nil {
		out.Origins = raised.Origins
	}
	out.Aliases, _ = c.Result(aliasHooksInfo.Name).([]hook.AliasReport)
	return out, nil
}

// look is a pass that changes nothing.
func look(name string, f func(*ir.Module) error) Pass {
	return simple{&Info{Name: name, ReadOnly: true}, func(_ *Context, m *ir.Module) error { return f(m) }}
}
