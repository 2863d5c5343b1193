package ir

import (
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/hlocb/hlocb/diag"
)

// Region is a list of blocks owned by an op.
type Region struct {
	m      *Module
	op     *Op
	blocks []*Block // a new slice whenever a block is removed
	erased bool
	tree   atomic.Pointer[dominators] // nil until it is needed, and after a change of blocks or branches
}

// Block is a list of ops, with block arguments.
type Block struct {
	m           *Module
	region      *Region
	args        []*Value
	places      []place // of the arguments; empty if no argument has one
	first, last *Op
	erased      bool
}

// place is the source location of a block argument, and its origin.
type place struct {
	loc    *Loc
	pos    diag.Pos
	origin uint32
}

// Op returns the op that owns the region.
func (r *Region) Op() *Op { return r.op }

// Erased reports whether the op of r was erased.
func (r *Region) Erased() bool { return r.erased }

// Blocks returns the blocks. The caller must not change the slice.
func (r *Region) Blocks() []*Block { return r.blocks }

// Entry returns the first block, nil for an empty region.
func (r *Region) Entry() *Block {
	if len(r.blocks) == 0 {
		return nil
	}
	return r.blocks[0]
}

// AddBlock appends a new empty block with arguments of the given types.
func (r *Region) AddBlock(types ...Type) *Block {
	b := r.m.NewBlock(types...)
	r.InsertBlock(len(r.blocks), b)
	return b
}

// InsertBlock inserts b, which must belong to no region, as block i.
func (r *Region) InsertBlock(i int, b *Block) {
	b.usable()
	switch {
	case r.erased:
		panic("ir: inserting a block into an erased region")
	case b.region != nil:
		panic("ir: inserting a block that is already in a region")
	case b.contains(r.op):
		panic("ir: inserting a block into itself")
	}
	r.m.sameModule(b.m)
	r.m.touch()
	b.region = r
	r.blocks = insert(r.blocks, i, b)
	r.branched()
}

// TakeBlocks moves all blocks of from to the end of r. from may belong to another module with the same context and
// registry; the values in the blocks then get new IDs.
func (r *Region) TakeBlocks(from *Region) {
	if r == from {
		return
	}
	if r.erased {
		panic("ir: moving blocks into an erased region")
	}
	for o := r.op; o != nil; o = o.Parent() {
		if o.block != nil && o.block.region == from {
			panic("ir: moving blocks into themselves")
		}
	}
	r.m.touch()
	from.m.touch()
	for _, b := range from.blocks {
		b.region = r
		if r.m != from.m {
			r.m.adopt(b)
		}
	}
	r.blocks = slices.Concat(r.blocks, from.blocks)
	from.blocks = nil
	r.branched()
	from.branched()
}

// adopt makes b, and everything in it, part of m.
func (m *Module) adopt(b *Block) {
	if m.ctx != b.m.ctx {
		panic("ir: moving blocks between modules of different contexts or registries")
	}
	number := func(v *Value) {
		v.id = m.ids
		m.ids++
	}
	foreign := m.origins != b.m.origins
	b.m = m
	for _, a := range b.args {
		number(a)
		if foreign {
			a.SetOrigin(0)
		}
	}
	for o := b.first; o != nil; o = o.next {
		if foreign {
			o.origin = 0
		}
		if d := o.def; m.ctx.registry.Lookup(d.Name) != d { // of an unknown kind, which the other module defined
			if o.def = m.Def(d.Name); d.registered {
				o.def = m.RegisteredDef(d.Name)
			}
		}
		for i := range o.results {
			number(&o.results[i])
		}
		for _, r := range o.Regions() {
			r.m = m
			for _, inner := range r.blocks {
				m.adopt(inner)
			}
		}
	}
}

// sameModule panics if m is not other.
func (m *Module) sameModule(other *Module) {
	if m != other {
		panic("ir: a part of another module")
	}
}

// insert returns list with x at position i. It does not modify the elements of list, because a loop may range over
// them.
func insert[T any](list []T, i int, x T) []T {
	if i == len(list) {
		return append(list, x)
	}
	return slices.Concat(list[:i], []T{x}, list[i:])
}

// NewRegion returns a region that does not belong to an op yet.
func (m *Module) NewRegion() *Region { return &Region{m: m} }

// NewBlock returns a block with arguments of the given types. It does not belong to a region yet.
func (m *Module) NewBlock(types ...Type) *Block {
	b := &Block{m: m}
	if len(types) > 0 {
		values := m.newValues(types)
		b.args = make([]*Value, len(types))
		for i := range values {
			values[i].block = b
			b.args[i] = &values[i]
		}
	}
	return b
}

// usable panics if b is erased.
func (b *Block) usable() {
	if b.erased {
		panic("ir: changing a block that is erased")
	}
}

// Region returns the region that holds the block, or nil.
func (b *Block) Region() *Region { return b.region }

// Erased reports whether b was erased.
func (b *Block) Erased() bool { return b.erased }

// Parent returns the op whose region holds the block, or nil.
func (b *Block) Parent() *Op {
	if b.region == nil {
		return nil
	}
	return b.region.op
}

// remove detaches the block from its region without destroying it.
func (b *Block) remove() {
	b.usable()
	if b.region != nil {
		b.m.touch()
		i := slices.Index(b.region.blocks, b)
		b.region.blocks = slices.Concat(b.region.blocks[:i], b.region.blocks[i+1:])
		b.region.branched()
		b.region = nil
	}
}

// Erase destroys the block and everything in it. It panics if another block branches to it, or if an op outside uses a
// value of the block.
func (b *Block) Erase() {
	b.usable()
	if b.hasPredecessor() {
		panic("ir: erasing a block that another block branches to")
	}
	inUse := func(v *Value) {
		for u := v.first; u != nil; u = u.next {
			if !b.contains(u.owner) {
				panic("ir: erasing a block whose values are in use outside")
			}
		}
	}
	for _, a := range b.args {
		inUse(a)
	}
	for o := b.first; o != nil; o = o.next {
		for i := range o.results {
			inUse(&o.results[i])
		}
	}
	b.remove()
	b.erase()
}

// hasPredecessor reports whether another block branches to b.
func (b *Block) hasPredecessor() bool {
	return b.region != nil && slices.ContainsFunc(b.region.blocks, func(p *Block) bool { return p != b && slices.Contains(p.successors(), b) })
}

// contains reports whether o is in b or nested in an op of it.
func (b *Block) contains(o *Op) bool {
	for ; o != nil; o = o.Parent() {
		if o.block == b {
			return true
		}
	}
	return false
}

// erase destroys the block and everything in it.
func (b *Block) erase() {
	for o := b.first; o != nil; o = o.next {
		o.block, o.prev = nil, nil
		o.erase()
	}
	for _, a := range b.args {
		a.erase()
	}
	b.region, b.args, b.places, b.first, b.last, b.erased = nil, nil, nil, nil, nil, true
}

// Args returns the arguments. The caller must not change the slice.
func (b *Block) Args() []*Value { return b.args }

// Arg returns argument i.
func (b *Block) Arg(i int) *Value { return b.args[i] }

// AddArg appends an argument.
func (b *Block) AddArg(t Type, loc *Loc) *Value { return b.InsertArg(len(b.args), t, loc) }

// InsertArg inserts an argument at position i.
func (b *Block) InsertArg(i int, t Type, loc *Loc) *Value {
	b.usable()
	b.m.touch()
	v := &b.m.newValues([]Type{t})[0]
	v.block = b
	b.args = insert(b.args, i, v)
	if b.places != nil {
		b.places = slices.Insert(b.places, i, place{})
	}
	b.renumber(i)
	v.SetLoc(loc)
	return v
}

// RemoveArg removes argument i. It panics if the argument has uses.
func (b *Block) RemoveArg(i int) {
	b.usable()
	v := b.args[i]
	if v.first != nil {
		panic("ir: removing a block argument that is in use")
	}
	b.m.touch()
	b.args = slices.Concat(b.args[:i], b.args[i+1:])
	if b.places != nil {
		b.places = slices.Delete(b.places, i, i+1)
	}
	b.renumber(i)
	v.erase()
}

// renumber updates the index of the arguments from i on.
func (b *Block) renumber(i int) {
	for ; i < len(b.args); i++ {
		b.args[i].index = uint32(i)
	}
}

func (b *Block) place(v *Value) place {
	if b.places == nil {
		return place{}
	}
	return b.places[v.index]
}

func (b *Block) ownPlace(v *Value) *place {
	if b.places == nil {
		b.places = make([]place, len(b.args))
	}
	return &b.places[v.index]
}

// First returns the first op, nil for an empty block.
func (b *Block) First() *Op { return b.first }

// Last returns the last op, nil for an empty block.
func (b *Block) Last() *Op { return b.last }

// Terminator returns the last op if it may be a terminator, else nil.
func (b *Block) Terminator() *Op {
	if b.last != nil && b.last.MightHave(Terminator) {
		return b.last
	}
	return nil
}

// Ops iterates over the ops in order. The loop body may erase any op and move the current one. If it moves another op
// to another block, the iteration may end early.
func (b *Block) Ops() iter.Seq[*Op] {
	return func(yield func(*Op) bool) {
		for o := b.first; o != nil; {
			next := o.next
			if !yield(o) {
				return
			}
			for next != nil && next.block == nil { // erased: its next is the op that followed it
				next = next.next
			}
			if o = next; o != nil && o.block != b {
				return
			}
		}
	}
}

// Append moves o, which may be detached, to the end of b.
func (b *Block) Append(o *Op) { b.insert(o, nil) }

// SplitBefore moves o and the ops after it into a new block without arguments, which it inserts after b and returns.
func (b *Block) SplitBefore(o *Op) *Block {
	if o.block != b || b.region == nil {
		panic("ir: splitting a block before an op of another block, or outside a region")
	}
	rest := b.m.NewBlock()
	b.region.InsertBlock(slices.Index(b.region.blocks, b)+1, rest)
	rest.takeOps(o)
	return rest
}

// takeOps moves o and the ops after it to the end of b.
func (b *Block) takeOps(o *Op) {
	for o != nil {
		next := o.Next()
		b.Append(o)
		o = next
	}
}

// InlineBefore moves the ops of b before o, which must not be in b, replaces b's arguments by values, and erases b.
func (b *Block) InlineBefore(o *Op, values ...*Value) {
	b.usable()
	switch {
	case len(values) != len(b.args):
		panic(fmt.Sprintf("ir: inlining a block of %d arguments with %d values", len(b.args), len(values)))
	case b.contains(o) || o.Block() == nil:
		panic("ir: inlining a block into itself, or beside an op that is in no block")
	case b.hasPredecessor():
		panic("ir: inlining a block that another block branches to")
	}
	b.m.sameModule(o.block.m)
	for _, v := range values {
		if v.usableIn(b.m); v.block == b {
			panic("ir: inlining a block with its own argument")
		}
	}
	for i, a := range b.args {
		a.ReplaceAllUsesWith(values[i])
	}
	o.block.splice(b, o)
	b.Erase()
}

// splice moves the ops of from before o, an op of b.
func (b *Block) splice(from *Block, o *Op) {
	first, last := from.first, from.last
	if first == nil {
		return
	}
	b.m.touch()
	from.first, from.last = nil, nil
	n := uint64(0)
	for x := first; x != nil; x = x.next {
		x.block = b
		n++
	}
	if first.prev = o.prev; o.prev != nil {
		o.prev.next = first
	} else {
		b.first = first
	}
	last.next, o.prev = o, last
	b.setOrder(first, n)
}

// insert moves o, which may be detached, before next, or to the end if next is nil.
func (b *Block) insert(o, next *Op) {
	b.usable()
	o.usable()
	if o.parts != nil {
		if b.Parent() != nil && o.IsAncestorOf(b.Parent()) {
			panic("ir: inserting " + o.def.Name + " into itself")
		}
		if o == b.m.op {
			panic("ir: inserting the module op into a block")
		}
	}
	b.m.sameModule(o.block.m)
	b.m.touch()
	o.unlink()
	prev := b.last
	if next != nil {
		prev, next.prev = next.prev, o
	} else {
		b.last = o
		if branches(o) || branches(prev) {
			b.region.branched()
		}
	}
	if prev != nil {
		prev.next = o
	} else {
		b.first = o
	}
	o.block, o.prev, o.next = b, prev, next
	b.setOrder(o, 1)
}

// orderStep is the distance between the order numbers of appended ops. lastOrder is the largest order number.
const (
	orderStep = 1 << 10
	lastOrder = erasedOrder - 1
)

// setOrder assigns o and the ops after it, n ops that were just linked, order numbers between their neighbours'. If
// there is no gap, it renumbers as many of the following ops as necessary (Dietz and Sleator, "Two algorithms for
// maintaining order in a list", 1987).
func (b *Block) setOrder(o *Op, n uint64) {
	low := uint32(0)
	if o.prev != nil {
		low = o.prev.order
	}
	if n == 1 && o.next == nil {
		if lastOrder-low > orderStep {
			o.order = low + orderStep
			return
		}
	} else if n == 1 {
		if gap := o.next.order - low; gap > 1 {
			o.order = low + (gap+6)/8 // builders insert one op after another before the same op: keep most of the gap
			return
		}
	}
	end := o // n ops before end get new orders between low and high
	for range n {
		end = end.next
	}
	for ; end != nil && uint64(end.order-low) <= (n+1)*(n+1); end = end.next {
		n++
	}
	high := uint32(min(lastOrder, uint64(low)+(n+1)*orderStep))
	if end != nil {
		high = end.order
	} else if uint64(high-low) <= (n+1)*2 { // no gap up to the end of the block
		o, low, n = b.first, 0, 0
		for x := o; x != nil; x = x.next {
			n++
		}
		high = uint32(min(lastOrder/2, (n+1)*orderStep))
	}
	for i := uint64(1); o != end; i++ {
		o.order = low + uint32(uint64(high-low)*i/(n+1))
		o = o.next
	}
}
