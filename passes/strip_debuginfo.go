package passes

import (
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
)

// StripDebugInfo drops locations, as MLIR's pass of this name does.
type StripDebugInfo struct{}

func (StripDebugInfo) Info() *pass.Info {
	return &pass.Info{Name: "strip-debuginfo", Doc: "Sets the location of every operation and block argument to unknown.", Idempotent: true}
}

func (StripDebugInfo) Run(ctx *pass.Context, op *ir.Op) error {
	n := 0
	op.Walk(func(o *ir.Op) bool {
		if o.Loc() != nil {
			o.SetLoc(nil)
			n++
		}
		for _, r := range o.Regions() {
			for _, b := range r.Blocks() {
				for _, a := range b.Args() {
					if a.Loc() != nil {
						a.SetLoc(nil)
						n++
					}
				}
			}
		}
		return true
	})
	ctx.Count("locations dropped", n)
	return nil
}
