package passes

import (
	"fmt"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/internal/hook/place"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// LowerHooks converts hlocb.hook ops to one format.
type LowerHooks struct {
	To      string `pass:"to" default:"ffi" doc:"ffi, exla, exla-io, jax, sendrecv, outfeed or strip"`
	Default string `pass:"default" doc:"for strip: zeros replaces the results that a host would compute; default: refuse such hooks"`

	Formats format.List // nil: format.Builtin
}

func (LowerHooks) Info() *pass.Info {
	return &pass.Info{
		Name:     "lower-hooks",
		Doc:      "Writes hlocb.hook ops as hlocb's own custom call or in another format; places them on devices first if place-hooks did not.",
		Requires: []pass.Requirement{orderedHooks},
	}
}

func (p LowerHooks) Run(ctx *pass.Context, m *ir.Module) error {
	w, err := writer(p.Formats, p.To)
	if err != nil {
		return err
	}
	if placed, err := w.PerDevice(hook.PerDeviceSource); err != nil {
		return err
	} else if placed && !ctx.Holds(placedHooks) {
		if err := place.OnDevices(ctx, m, hook.PerDeviceSource); err != nil {
			return err
		}
	}
	if err := format.Lower(m, w, format.LowerOptions{Default: p.Default, Context: ctx}); err != nil {
		return err
	}
	ctx.Set(raisedHooks, false)
	ctx.Set(orderedHooks, false)
	ctx.Set(loweredHooks, w.Proof)
	return nil
}

// writer returns the named writer from formats; "" is ffi.
func writer(formats format.List, name string) (*format.Writer, error) {
	if formats == nil {
		formats = format.Builtin()
	}
	if name == "" {
		name = "ffi"
	}
	w, err := formats.Writer(name)
	if err != nil {
		return nil, fmt.Errorf("to: %w", err)
	}
	return w, nil
}
