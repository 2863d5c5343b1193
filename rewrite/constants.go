package rewrite

import (
	"github.com/hlocb/hlocb/internal/hashindex"
	"github.com/hlocb/hlocb/ir"
)

// Constants keeps one op per constant value at the start of each region that is isolated from above, as MLIR's folder
// does. Ops further in use the values from there.
type Constants struct {
	r     *Rewriter
	index hashindex.Index[*ir.Op] // nil for an op that was erased
	owned map[*ir.Op]bool         // the ops in index
}

// NewConstants returns an empty set that makes its changes through r.
func NewConstants(r *Rewriter) *Constants { return &Constants{r: r, owned: map[*ir.Op]bool{}} }

// IsConstant reports whether op returns the value of an attribute.
func IsConstant(op *ir.Op) bool { return op != nil && op.Has(ir.ConstantLike) && op.NumResults() == 1 }

// ConstantOf returns the attribute that v has as its value, or nil if v is not constant.
func ConstantOf(v *ir.Value) ir.Attr {
	if op := v.DefiningOp(); IsConstant(op) {
		return op.Attr(valueOf(op.Def()))
	}
	return nil
}

// ConstantInts returns the elements of v if v is a constant tensor of integers.
func ConstantInts(v *ir.Value) ([]int64, bool) {
	d, ok := ConstantOf(v).(*ir.DenseAttr)
	if !ok {
		return nil, false
	}
	list, err := d.Int64s()
	return list, err == nil
}

// valueOf returns the name of the attribute of a row that is ConstantLike.
func valueOf(d *ir.Def) string { return d.Attrs[0].Name }

// homeOf returns the block that holds the constants for ops in b: the first block of the innermost region around b
// whose op is isolated from above, of an unknown kind, or in no block.
func homeOf(b *ir.Block) *ir.Block {
	r := b.Region()
	for r.Op() != nil && !r.Op().MightHave(ir.IsolatedFromAbove) && r.Op().Block() != nil {
		r = r.Op().Block().Region()
	}
	return r.Entry()
}

// Owns reports whether op is a constant of the set.
func (c *Constants) Owns(op *ir.Op) bool { return c.owned[op] }

// isPlaced reports whether op is at the start of home or right after an op of the set.
func (c *Constants) isPlaced(home *ir.Block, op *ir.Op) bool {
	return op.Block() == home && (op.Prev() == nil || c.owned[op.Prev()])
}

func (c *Constants) find(home *ir.Block, hash uint64, def *ir.Def, t ir.Type, a ir.Attr) *ir.Op {
	old := c.index.Find(hash, 0, func(p **ir.Op) bool {
		op := *p
		return op != nil && op.Def() == def && op.Block() == home && op.Result(0).Type() == t && ir.EqualAttrs(op.Attr(valueOf(def)), a)
	})
	if old == nil {
		return nil
	}
	return *old
}

func (c *Constants) add(hash uint64, op *ir.Op) {
	c.index.Add(hash, op)
	c.owned[op] = true
}

// Adopt adds the constant op to the set: it replaces op by an equal constant of the set, or moves op to the
// constants at the start of its region. It reports whether op remains.
func (c *Constants) Adopt(op *ir.Op) bool {
	home := homeOf(op.Block())
	if c.owned[op] {
		if !c.isPlaced(home, op) {
			c.r.MoveBefore(op, home.First())
		}
		return true
	}
	return c.join(home, op, c.isPlaced(home, op))
}

// Raise is Adopt for a pass that makes its constants with Get: op moves to the very start of its region, as a new
// constant would. What op states besides its value remains.
func (c *Constants) Raise(op *ir.Op) {
	home := homeOf(op.Block())
	c.join(home, op, home.First() == op)
}

// join adds a constant that is not owned: it replaces op by an equal constant of the set, or moves op to the start of
// home unless it is placed. It reports whether op remains.
func (c *Constants) join(home *ir.Block, op *ir.Op, placed bool) bool {
	a := op.Attr(valueOf(op.Def()))
	hash := ir.HashAttr(a)
	if old := c.find(home, hash, op.Def(), op.Result(0).Type(), a); old != nil {
		c.r.dropLoc(old)
		c.r.Replace(op, old.Result(0))
		return false
	}
	if !placed {
		c.r.MoveBefore(op, home.First())
		c.r.dropLoc(op)
	}
	c.add(hash, op)
	return true
}

// Get returns a constant of the given kind, type and value that ops in block b may use, from the set or new at the
// start of the region.
func (c *Constants) Get(b *ir.Block, def *ir.Def, t ir.Type, a ir.Attr) *ir.Value {
	home, hash := homeOf(b), ir.HashAttr(a)
	if old := c.find(home, hash, def, t, a); old != nil {
		return old.Result(0)
	}
	op := c.r.AtStart(home).Create(def, nil, []ir.Type{t}, ir.NamedAttr{Name: valueOf(def), Attr: a})
	c.add(hash, op)
	return op.Result(0)
}

// forget removes op, which is about to be erased.
func (c *Constants) forget(op *ir.Op) {
	if !c.owned[op] {
		return
	}
	delete(c.owned, op)
	hash := ir.HashAttr(op.Attr(valueOf(op.Def())))
	if old := c.index.Find(hash, 0, func(p **ir.Op) bool { return *p == op }); old != nil {
		*old = nil
	}
}
