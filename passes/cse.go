package passes

import (
	"context"

	"github.com/hlocb/hlocb/internal/hashindex"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// CSE merges ops that compute the same results, as MLIR's pass of this name does.
type CSE struct{}

func (CSE) Info() *pass.Info {
	return &pass.Info{
		Name: "cse",
		Doc: "Replaces an operation by an equal one that comes before it on every path, and erases operations whose results nothing uses. " +
			"Operations with side effects and unknown operations stay; calls of the host without side effects merge only within one block.",
	}
}

func (CSE) Run(ctx *pass.Context, op *ir.Op) error {
	r := rewrite.New(op.Module())
	mergeEqual(ctx, r, op)
	ctx.Changes(r.Statistics())
	return ctx.Err()
}

// mergeEqual merges ops inside op that compute the same results, and erases dead ops. It stops when ctx ends.
func mergeEqual(ctx context.Context, r *rewrite.Rewriter, op *ir.Op) {
	c := &cse{r: r, stop: stopper{ctx: ctx}}
	c.regions(op)
	for _, o := range c.dead {
		r.Erase(o)
	}
}

func (CSE) Separable() bool { return true }

// cse is one run of CSE. Its table of ops is scoped: leaving a region removes the ops of the region.
type cse struct {
	r      *rewrite.Rewriter
	stop   stopper
	index  hashindex.Index[*ir.Op] // all ops of the open scopes
	floor  int                     // ops below it belong to a scope outside of an isolated region
	blocks int                     // open regions of several blocks
	dead   []*ir.Op                // to be erased at the end, after the ops that use them
}

// regions simplifies the regions of op in a new scope.
func (c *cse) regions(op *ir.Op) {
	floor := c.floor
	if op.MightHave(ir.IsolatedFromAbove) {
		c.floor = c.index.Len()
	}
	for _, r := range op.Regions() {
		open := c.index.Len()
		ordered := !op.MightHave(ir.GraphRegion)
		several := len(r.Blocks()) > 1
		if several {
			c.blocks++
		}
		for _, b := range r.Blocks() {
			for o := range b.Ops() {
				if c.stop.now() {
					break
				}
				if len(o.Regions()) > 0 {
					c.regions(o)
				}
				c.op(o, ordered)
			}
		}
		if several {
			c.blocks--
		}
		c.index.Cut(open)
	}
	c.floor = floor
}

// op merges o with an earlier op, or adds it to the table.
func (c *cse) op(o *ir.Op, ordered bool) {
	if o.Has(ir.Terminator) || !o.Def().Known() {
		return
	}
	if !o.HasUses() && o.Removable() {
		c.dead = append(c.dead, o)
		return
	}
	if !ordered || o.Effects() != 0 {
		return
	}
	for _, r := range o.Regions() {
		if len(r.Blocks()) > 1 {
			return
		}
	}
	hash := hashOp(o)
	if old := c.find(o, hash); old != nil {
		if old.Loc().Kind() == ir.LocUnknown && o.Loc().Kind() != ir.LocUnknown {
			c.r.Update(old, func() { old.SetLoc(o.Loc()) })
		}
		for i, v := range o.Results() {
			c.r.ReplaceUses(v, old.Result(i), nil)
		}
		c.dead = append(c.dead, o)
		return
	}
	c.index.Add(hash, o)
}

// find returns an op of the table that computes the same results as o and dominates o.
func (c *cse) find(o *ir.Op, hash uint64) *ir.Op {
	old := c.index.Find(hash, c.floor, func(e **ir.Op) bool {
		return equivalent(*e, o) && ((*e).Block() == o.Block() || callsNoHost(o) && (c.blocks == 0 || (*e).Result(0).Dominates(o)))
	})
	if old == nil {
		return nil
	}
	return *old
}

// callsNoHost reports whether neither o nor an op inside it may call the host.
func callsNoHost(o *ir.Op) bool {
	return o.Walk(func(p *ir.Op) bool { return p.Def().Traits&(ir.Pure|ir.NestedEffects) != 0 })
}
