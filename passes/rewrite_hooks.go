package passes

import (
	"context"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// RewriteHooks is a group of passes that converts every hook of a module to one format.
type RewriteHooks struct {
	To        string         `pass:"to" default:"ffi" doc:"the format: ffi, exla, exla-io, jax, sendrecv, outfeed or strip"`
	Order     hook.Order     `pass:"order" doc:"program, source or none, see order-hooks"`
	Chain     hook.Chain     `pass:"chain" doc:"state or token, see order-hooks"`
	Alias     hook.AliasMode `pass:"alias" doc:"all, free or none, see alias-hooks"`
	PerDevice hook.PerDevice `pass:"per-device" doc:"source, once or each, see place-hooks"`
	Targets   []string       `pass:"targets" doc:"further custom-call targets that are hooks, separated by commas"`
	Default   string         `pass:"default" doc:"for strip: zeros, see lower-hooks"`

	Formats format.List // nil: format.Builtin
}

func (RewriteHooks) Info() *pass.Info {
	return &pass.Info{
		Name: "rewrite-hooks",
		Doc:  "Converts every hook to one format, in order: raise-hooks, order-hooks, place-hooks, alias-hooks, list-hooks, lower-hooks, check-order.",
	}
}

// Expand implements pass.Group. It returns an error if the format does not support the options.
func (p RewriteHooks) Expand() ([]pass.Pass, error) {
	w, err := writer(p.Formats, p.To)
	if err != nil {
		return nil, err
	}
	if err := w.Check(p.Order, p.Chain); err != nil {
		return nil, err
	}
	place, err := w.PerDevice(p.PerDevice)
	if err != nil {
		return nil, err
	}
	order := w.Order(p.Order)
	list := []pass.Pass{
		RaiseHooks{Targets: p.Targets, Formats: p.Formats},
		OrderHooks{Order: order, Chain: w.Chain(p.Chain)},
	}
	if place {
		list = append(list, PlaceHooks{PerDevice: p.PerDevice})
	}
	list = append(list,
		AliasHooks{Mode: w.Alias(p.Alias)},
		ListHooks{},
		LowerHooks{To: p.To, Default: p.Default, Formats: p.Formats})
	if w.Proof && order != hook.OrderNone {
		list = append(list, CheckOrder{})
	}
	return list, nil
}

// Rewritten describes the result of Rewrite.
type Rewritten struct {
	Manifest *hook.Manifest
	Aliases  []hook.AliasReport
	Origins  map[hook.ID][]diag.Pos // source positions of the ops that made up each hook
}

// Rewrite runs the passes of p on m and verifies the input and the result. It leaves a module without hooks unchanged.
func Rewrite(ctx context.Context, m *ir.Module, p RewriteHooks) (*Rewritten, error) {
	if err := ir.VerifyContext(ctx, m); err != nil {
		return nil, err
	}
	c := pass.NewContext(ctx, m)
	d := &pass.Driver{Verify: ir.VerifyContext, VerifyResult: true}
	if err := d.Run(c, pass.Pipeline{p}); err != nil {
		return nil, err
	}
	out := &Rewritten{}
	if raised, ok := Raised.Get(c); ok {
		out.Origins = raised.Origins
	}
	out.Aliases, _ = Aliases.Get(c)
	out.Manifest, _ = Manifest.Get(c)
	return out, nil
}
