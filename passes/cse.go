package passes

import (
	"context"

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
	r       *rewrite.Rewriter
	stop    stopper
	entries []cseEntry // all ops of the open scopes, in the order of their addition
	heads   []int32    // by hash: 1 + the index of the last entry, or 0; its length is a power of two
	floor   int32      // entries below it belong to a scope outside of an isolated region
	blocks  int        // open regions of several blocks
	dead    []*ir.Op   // to be erased at the end, after the ops that use them
}

type cseEntry struct {
	hash uint64
	op   *ir.Op
	next int32 // 1 + the index of the next entry of the same head
}

// regions simplifies the regions of op in a new scope.
func (c *cse) regions(op *ir.Op) {
	floor := c.floor
	if op.MightHave(ir.IsolatedFromAbove) {
		c.floor = int32(len(c.entries))
	}
	for _, r := range op.Regions() {
		open := len(c.entries)
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
		c.leave(open)
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
	c.add(o, hash)
}

// find returns an op of the table that computes the same results as o and dominates o.
func (c *cse) find(o *ir.Op, hash uint64) *ir.Op {
	if len(c.heads) == 0 {
		return nil
	}
	for i := c.heads[hash&uint64(len(c.heads)-1)]; i > c.floor; i = c.entries[i-1].next {
		e := &c.entries[i-1]
		if e.hash != hash || !equivalent(e.op, o) {
			continue
		}
		if e.op.Block() == o.Block() {
			return e.op
		}
		if !isHostless(o) || c.blocks > 0 && !e.op.Result(0).Dominates(o) {
			continue
		}
		return e.op
	}
	return nil
}

// isHostless reports whether neither o nor an op inside it may call the host.
func isHostless(o *ir.Op) bool {
	return o.Walk(func(p *ir.Op) bool { return p.Def().Traits&(ir.Pure|ir.NestedEffects) != 0 })
}

func (c *cse) add(o *ir.Op, hash uint64) {
	if len(c.entries) >= len(c.heads) {
		c.heads = make([]int32, max(64, 2*len(c.heads)))
		for i := range c.entries {
			c.link(i)
		}
	}
	c.entries = append(c.entries, cseEntry{hash: hash, op: o})
	c.link(len(c.entries) - 1)
}

func (c *cse) link(i int) {
	e := &c.entries[i]
	h := &c.heads[e.hash&uint64(len(c.heads)-1)]
	e.next, *h = *h, int32(i+1)
}

// leave removes the entries from open on.
func (c *cse) leave(open int) {
	for i := len(c.entries) - 1; i >= open; i-- {
		e := &c.entries[i]
		c.heads[e.hash&uint64(len(c.heads)-1)] = e.next
	}
	c.entries = c.entries[:open]
}
