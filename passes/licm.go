package passes

import (
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// LICM moves loop-invariant ops before their loop.
type LICM struct{}

func (LICM) Info() *pass.Info {
	return &pass.Info{
		Name:    "loop-invariant-code-motion",
		Aliases: []string{"licm"},
		Doc: "Moves loop-invariant operations before the loop: pure operations of static shape, which cannot fail even if the loop has no trip. " +
			"Calls of the host stay.",
		Idempotent: true,
	}
}

func (LICM) Run(ctx *pass.Context, op *ir.Op) error {
	r := rewrite.New(op.Module())
	stop := stopper{ctx: ctx}
	op.WalkPost(func(loop *ir.Op) bool {
		if loop == op || stop.now() {
			return !stop.ended
		}
		for i, region := range loop.Regions() {
			if run := loop.Def().Flow.Run(i); run != ir.RunsRepeated && run != ir.RunsTest {
				continue
			}
			for _, b := range region.Blocks() {
				for o := range b.Ops() {
					if stop.now() {
						return false
					}
					if movable(o, loop) {
						r.MoveBefore(o, loop)
					}
				}
			}
		}
		return true
	})
	ctx.Changes(r.Statistics())
	return ctx.Err()
}

// movable reports whether op, in a region of loop, computes the same results before the loop.
func movable(op, loop *ir.Op) bool {
	return !op.Has(ir.Terminator) && op.NumResults() > 0 && op.Walk(func(o *ir.Op) bool {
		if !o.Has(ir.Pure) {
			return false
		}
		for _, v := range o.Results() {
			if static(v) == nil {
				return false
			}
		}
		for _, v := range o.Operands() {
			if static(v) == nil {
				return false
			}
			if b := v.ParentBlock(); b.Parent() != nil && !op.IsAncestorOf(b.Parent()) && loop.IsAncestorOf(b.Parent()) {
				return false
			}
		}
		return true
	})
}
