package ir

import (
	"iter"
	"math"
	"slices"
	"unsafe"
)

// Region is a list of blocks owned by an op.
type Region struct {
	op     *Op
	blocks list[*Block]
}

// Block is a list of ops with arguments. Of a block in a module, region is never nil.
type Block struct {
	region      *Region
	args        list[*Value]
	first, last *Op
	room        *argument // the first of some that are made for arguments to come
	serial      int32     // what a printer knows it by, see Module.Numbering
	left        uint16    // how many room has
	unordered   bool      // the ops' order does not grow along the block, see number
}

// Op returns the op that owns the region.
func (r *Region) Op() *Op { return r.op }

// Blocks returns the blocks; the caller must not change the slice.
func (r *Region) Blocks() []*Block { return r.blocks.all() }

// Empty reports whether the region has no blocks.
func (r *Region) Empty() bool { return r.blocks.len() == 0 }

// Entry returns the first block, nil for an empty region.
func (r *Region) Entry() *Block {
	if r.blocks.len() == 0 {
		return nil
	}
	return r.blocks.all()[0]
}

// AddBlock appends a new empty block with arguments of the given types.
func (r *Region) AddBlock(types ...Type) *Block {
	b := &Block{region: r}
	r.blocks.add(b)
	r.changed()
	b.ReserveArgs(len(types))
	for _, t := range types {
		b.AddArg(t, nil)
	}
	return b
}

// NewBlock returns a block that belongs to no region yet.
func NewBlock() *Block { return &Block{} }

// AppendBlock adds a block that belongs to no region at the end.
func (r *Region) AppendBlock(b *Block) {
	b.region = r
	r.blocks.add(b)
	r.changed()
}

// changed notes that blocks came or went.
func (r *Region) changed() {
	if r.op != nil {
		r.op.marks = r.op.marks&^checked | moved
	}
}

// TakeBlocks moves all blocks of from to the end of r.
func (r *Region) TakeBlocks(from *Region) {
	for _, b := range from.blocks.all() {
		b.region = r
	}
	r.blocks.add(from.blocks.all()...)
	from.blocks.set(nil)
	r.changed()
	from.changed()
}

// Region returns the region the block belongs to.
func (b *Block) Region() *Region { return b.region }

// Number returns what SetNumber set last, 0 where it was not called.
func (b *Block) Number() int32 { return b.serial }

// SetNumber sets a number that means nothing to the module. It is for whoever holds Module.Numbering.
func (b *Block) SetNumber(n int32) { b.serial = n }

// Parent returns the op whose region holds the block, nil where it has none.
func (b *Block) Parent() *Op {
	if b.region == nil {
		return nil
	}
	return b.region.op
}

// Args returns the arguments; the caller must not change the slice.
func (b *Block) Args() []*Value { return b.args.all() }

// Arg returns argument i.
func (b *Block) Arg(i int) *Value { return b.args.all()[i] }

// NumArgs returns the number of arguments.
func (b *Block) NumArgs() int { return b.args.len() }

// ReserveArgs prepares for n more arguments.
func (b *Block) ReserveArgs(n int) {
	if n > 0 {
		b.setRoom(make([]argument, min(n, math.MaxUint16)))
		b.args.set(slices.Grow(b.args.all(), n))
	}
}

// setRoom makes list the arguments that come next.
func (b *Block) setRoom(list []argument) { b.room, b.left = unsafe.SliceData(list), uint16(len(list)) }

// AddArg appends an argument.
func (b *Block) AddArg(t Type, loc *Loc) *Value { return b.InsertArg(b.args.len(), t, loc) }

// InsertArg inserts an argument at position i.
func (b *Block) InsertArg(i int, t Type, loc *Loc) *Value {
	a := b.room
	if b.left > 1 {
		b.setRoom(unsafe.Slice(a, b.left)[1:])
	} else if b.left = 0; a == nil {
		a = &argument{}
	} else {
		b.room = nil
	}
	a.typ, a.block, a.loc = t, b, loc
	v := &a.Value
	b.args.set(slices.Insert(b.args.all(), i, v))
	b.renumber(i)
	return v
}

// RemoveArg removes argument i, which must have no uses.
func (b *Block) RemoveArg(i int) {
	args := b.args.all()
	if args[i].first != nil {
		panic("ir: removing a block argument that is in use")
	}
	b.args.set(slices.Concat(args[:i], args[i+1:]))
	b.renumber(i)
}

// renumber sets the index of the arguments from at on.
func (b *Block) renumber(at int) {
	if p := b.Parent(); p != nil {
		p.touch()
	}
	for i, a := range b.args.all()[at:] {
		a.arg().index = int32(at + i)
	}
}

// First returns the first op, nil for an empty block.
func (b *Block) First() *Op { return b.first }

// Last returns the last op, nil for an empty block.
func (b *Block) Last() *Op { return b.last }

// Terminator returns the last op where it may be a terminator, else nil.
func (b *Block) Terminator() *Op {
	if b.last != nil && b.last.MightHave(Terminator) {
		return b.last
	}
	return nil
}

// Ops iterates over the ops in order. The current op may be erased or moved.
func (b *Block) Ops() iter.Seq[*Op] {
	return func(yield func(*Op) bool) {
		for o := b.first; o != nil; {
			next := o.next
			if !yield(o) {
				return
			}
			o = next
		}
	}
}

// Append adds a detached op at the end.
func (b *Block) Append(o *Op) { b.insert(o, b.last) }

// InsertBefore adds a detached op in front of before; nil appends.
func (b *Block) InsertBefore(o, before *Op) {
	if before == nil {
		b.Append(o)
		return
	}
	b.insert(o, before.prev)
}

// insert links o behind after; nil means at the front.
func (b *Block) insert(o, after *Op) {
	if o.block != nil {
		panic("ir: inserting " + o.def.Name + ", which is already in a block")
	}
	o.block, o.prev = b, after
	b.stir(o)
	o.marks = o.marks&^checked | moved
	o.touchResults()
	if after != nil {
		o.next = after.next
		after.next = o
	} else {
		o.next = b.first
		b.first = o
	}
	if o.next != nil {
		o.next.prev = o
		b.unordered = true
		return
	}
	b.last = o
	o.order = 0
	if after != nil {
		o.order = after.order + 1
		b.unordered = b.unordered || o.order == 0
	}
}

// number makes the order of the ops grow along the block.
func (b *Block) number() {
	if !b.unordered {
		return
	}
	n := uint32(0)
	for o := b.first; o != nil; o = o.next {
		o.order = n
		n++
	}
	b.unordered = false
}
