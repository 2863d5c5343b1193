package rewrite

import (
	"github.com/hlocb/hlocb/ir"
)

// Constants keeps one op per constant value at the start of each region that is isolated from above, as MLIR's folder
// does. Ops further in use the values from there.
type Constants struct {
	r     *Rewriter
	known map[constantKey][]*ir.Op
	owned map[*ir.Op]bool // the ops in known
	// home caches homes, because many constants are in one block.
	block *ir.Block
	home  *ir.Block
}

type constantKey struct {
	region *ir.Region
	def    *ir.Def
	typ    ir.Type
	hash   uint64
}

// NewConstants returns an empty set that makes its changes through r.
func NewConstants(r *Rewriter) *Constants {
	return &Constants{r: r, known: map[constantKey][]*ir.Op{}, owned: map[*ir.Op]bool{}}
}

// IsConstant reports whether op gives the value of an attribute.
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

// homeOf returns the block that holds the constants for ops in b: the first one of the innermost region around b whose
// op is isolated from above, of an unknown kind, or in no block.
func (c *Constants) homeOf(b *ir.Block) *ir.Block {
	if b == c.block {
		return c.home
	}
	r := b.Region()
	for r.Op() != nil && !r.Op().MightHave(ir.IsolatedFromAbove) && r.Op().Block() != nil {
		r = r.Op().Block().Region()
	}
	c.block, c.home = b, r.Entry()
	return c.home
}

// Owns reports whether op is a constant of the set.
func (c *Constants) Owns(op *ir.Op) bool { return c.owned[op] }

func (c *Constants) find(key constantKey, a ir.Attr) *ir.Op {
	for _, op := range c.known[key] {
		if ir.EqualAttrs(op.Attr(valueOf(op.Def())), a) {
			return op
		}
	}
	return nil
}

func (c *Constants) add(key constantKey, op *ir.Op) {
	c.known[key] = append(c.known[key], op)
	c.owned[op] = true
}

// Adopt takes the constant op into the set: it replaces op by an equal constant of the set, or moves op to the
// constants at the start of its region. It reports whether op remains.
func (c *Constants) Adopt(op *ir.Op) bool {
	home := c.homeOf(op.Block())
	if c.owned[op] {
		if home.First() != op && !c.owned[op.Prev()] {
			c.r.MoveBefore(op, home.First())
		}
		return true
	}
	a := op.Attr(valueOf(op.Def()))
	key := constantKey{home.Region(), op.Def(), op.Result(0).Type(), ir.HashAttr(a)}
	if old := c.find(key, a); old != nil {
		c.r.unlocate(old)
		c.r.Replace(op, old.Result(0))
		return false
	}
	if home.First() != op && (op.Block() != home || !c.owned[op.Prev()]) {
		c.r.MoveBefore(op, home.First())
		c.r.unlocate(op)
	}
	c.add(key, op)
	return true
}

// Get returns a constant of the given kind, type and value that ops in block b may use, from the set or new at the
// start of the region.
func (c *Constants) Get(b *ir.Block, def *ir.Def, t ir.Type, a ir.Attr) *ir.Value {
	home := c.homeOf(b)
	key := constantKey{home.Region(), def, t, ir.HashAttr(a)}
	if old := c.find(key, a); old != nil {
		return old.Result(0)
	}
	op := c.r.AtStart(home).Create(def, nil, []ir.Type{t}, ir.NamedAttr{Name: valueOf(def), Attr: a})
	c.add(key, op)
	return op.Result(0)
}

// forget removes op, which is about to be erased.
func (c *Constants) forget(op *ir.Op) {
	if !c.owned[op] {
		return
	}
	delete(c.owned, op)
	a := op.Attr(valueOf(op.Def()))
	key := constantKey{c.homeOf(op.Block()).Region(), op.Def(), op.Result(0).Type(), ir.HashAttr(a)}
	list := c.known[key]
	for i, x := range list {
		if x == op {
			c.known[key] = append(list[:i:i], list[i+1:]...)
		}
	}
}
