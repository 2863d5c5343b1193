package passes

import (
	"github.com/hlocb/hlocb/hook/format"
	"github.com/hlocb/hlocb/ir"
)

var lowerHooksInfo = &Info{
	Name: "lower-hooks",
	Doc:  "Writes hlocb.hook ops as hlocb's own custom call or in another notation.",
	Options: []Option{
		{Name: "to", Default: "ffi", Doc: "ffi, exla, exla-io, jax, sendrecv, outfeed or strip"},
		{Name: "default", Doc: "for strip: zeros stands for what a host would compute; without it such hooks are refused"},
	},
}

// LowerHooks returns the pass that writes hlocb.hook ops in the notation of out.
func LowerHooks(out *format.Writer, opts format.LowerOptions) Pass {
	return simple{lowerHooksInfo, func(_ *Context, m *ir.Module) error { return format.Lower(m, out, opts) }}
}

func newLowerHooks(o Options) (Pass, error) {
	out, err := format.Builtin().Writer(o.Get("to", "ffi"))
	if err != nil {
		return nil, err
	}
	return LowerHooks(out, format.LowerOptions{Default: o["default"]}), nil
}
