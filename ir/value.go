package ir

import (
	"iter"

	"github.com/hlocb/hlocb/diag"
)

// Value is the result of an op or an argument of a block.
//
// Invariants: op is set for a result, block for an argument; an erased value has neither. first is the head of the list
// of all uses of the value, and val of each use in the list is this value.
type Value struct {
	typ   Type
	op    *Op
	block *Block
	first *Use   // its prev is the last use
	name  string // the name in the source text, without '%'
	id    uint32
	index uint32
}

// Use is one operand slot of an op. The uses of a value form a list. next of the last use is nil; prev of the first use
// is the last use.
type Use struct {
	val        *Value
	owner      *Op
	prev, next *Use
}

// Type returns the value's type. An erased value keeps its type.
func (v *Value) Type() Type { return v.typ }

// SetType changes the value's type. The caller must keep producers and users consistent.
func (v *Value) SetType(t Type) {
	if v.typ == t {
		return
	}
	v.touch()
	v.typ = t
	if v.op != nil {
		v.op.recheck()
	}
	v.recheckUsers()
}

// touch says that v's module changed.
func (v *Value) touch() {
	b := v.block
	if v.op != nil {
		b = v.op.block
	}
	if b != nil {
		b.m.touch()
	}
}

// Erased reports whether the value was erased, because its op or block was erased or the argument was removed. An
// erased value keeps its type, name and ID. It has no defining op, block or uses, and cannot be used.
func (v *Value) Erased() bool { return v.op == nil && v.block == nil }

// DefiningOp returns the op with result v, or nil for a block argument.
func (v *Value) DefiningOp() *Op { return v.op }

// Block returns the block with argument v, or nil for a result.
func (v *Value) Block() *Block { return v.block }

// ParentBlock returns the block that defines v: the block of the defining op, or the block with argument v.
func (v *Value) ParentBlock() *Block {
	if v.op != nil {
		return v.op.Block()
	}
	return v.block
}

// Index returns the position among the op's results or the block's arguments, or -1 for an erased value.
func (v *Value) Index() int {
	if v.Erased() {
		return -1
	}
	return int(v.index)
}

// ID returns a number below Module.NumIDs that is unique in the module and never reused. It can index tables.
func (v *Value) ID() int { return int(v.id) }

// Name returns the value's name in the source text, without '%'. It is a hint for printing. For one of several results
// of an op, the hint is on the first.
func (v *Value) Name() string { return v.name }

// SetName changes the name hint.
func (v *Value) SetName(name string) { v.name = name }

// Loc returns the location of a block argument, or nil for a result.
func (v *Value) Loc() *Loc {
	if v.block == nil {
		return nil
	}
	return v.block.place(v).loc
}

// SetLoc sets the location of a block argument. It does nothing for a result, which has the location of its op.
func (v *Value) SetLoc(l *Loc) {
	if v.block != nil && l != v.Loc() {
		v.touch()
		v.block.ownPlace(v).loc = l
	}
}

// Pos returns the position of a block argument in the text that was read, or 0 for a result.
func (v *Value) Pos() diag.Pos {
	if v.block == nil {
		return 0
	}
	return v.block.place(v).pos
}

// SetPos sets the position of a block argument. It does nothing for a result, which has the position of its op.
func (v *Value) SetPos(p diag.Pos) {
	if v.block != nil && p != v.Pos() {
		v.block.ownPlace(v).pos = p
	}
}

// Origin returns the number of a block argument that v was made from when the module was translated from another form.
// It is 0 for other arguments, and for a result, which has the origin of its op.
func (v *Value) Origin() uint32 {
	if v.block == nil {
		return 0
	}
	return v.block.place(v).origin
}

// SetOrigin sets the origin of a block argument. It does nothing for a result, which has the origin of its op.
func (v *Value) SetOrigin(n uint32) {
	if v.block != nil && n != v.Origin() {
		v.block.ownPlace(v).origin = n
	}
}

// HasUses reports whether any op uses the value.
func (v *Value) HasUses() bool { return v.first != nil }

// HasOneUse reports whether exactly one operand slot holds the value.
func (v *Value) HasOneUse() bool { return v.first != nil && v.first.next == nil }

// Uses iterates over the uses that the value has when the loop begins, in the order they were added. The loop may
// change and remove any of them. Uses skips those that no longer use v.
func (v *Value) Uses() iter.Seq[*Use] {
	return func(yield func(*Use) bool) {
		var buf [16]*Use
		list := buf[:0]
		for u := v.first; u != nil; u = u.next {
			list = append(list, u)
		}
		for _, u := range list {
			if u.val == v && !yield(u) {
				return
			}
		}
	}
}

// Users iterates over the ops that use v, in the order in which their operands were set. It yields an op once per use.
// The loop may change or erase the current op.
func (v *Value) Users() iter.Seq[*Op] {
	return func(yield func(*Op) bool) {
		for u := range v.Uses() {
			if !yield(u.owner) {
				return
			}
		}
	}
}

// SortUses puts the uses into the order of list. It panics if list does not contain each use once.
func (v *Value) SortUses(list []*Use) {
	missing := map[*Use]bool{}
	for u := v.first; u != nil; u = u.next {
		missing[u] = true
	}
	for _, u := range list {
		if !missing[u] {
			panic("ir: sorting the uses of a value by a list with another use, or with one of them twice")
		}
		delete(missing, u)
	}
	if len(missing) > 0 {
		panic("ir: sorting the uses of a value by a list without all of them")
	}
	v.first = nil
	for _, u := range list {
		u.prev, u.next = nil, nil
		u.link(v)
	}
}

// Next returns the use of the same value that was added after u, or nil for the last use.
func (u *Use) Next() *Use { return u.next }

// ReplaceAllUsesWith replaces all uses of v by w.
func (v *Value) ReplaceAllUsesWith(w *Value) {
	for v != w && v.first != nil {
		v.first.Set(w)
	}
}

// Value returns the value in the slot, or nil if the slot is invalid or its value was erased.
func (u *Use) Value() *Value { return u.val }

// Owner returns the op with this operand slot. It is nil after SetOperands replaced the slots or the op was erased.
func (u *Use) Owner() *Op { return u.owner }

// Index returns the position among the owner's operands, or -1 if the slot is invalid.
func (u *Use) Index() int {
	if u.owner != nil {
		for i := range u.owner.operands {
			if &u.owner.operands[i] == u {
				return i
			}
		}
	}
	return -1
}

// Set puts v into the slot. It panics if the slot is invalid, or if v is erased or belongs to another module.
func (u *Use) Set(v *Value) {
	if u.owner == nil {
		panic("ir: setting an operand slot that is gone")
	}
	v.usableIn(u.owner.block.m)
	u.owner.block.m.touch()
	u.unlink()
	u.link(v)
}

// usable panics if v is erased.
func (v *Value) usable() {
	if v != nil && v.Erased() {
		panic("ir: using a value that is erased")
	}
}

// usableIn panics if v is erased or belongs to another module than m.
func (v *Value) usableIn(m *Module) {
	if v == nil {
		return
	}
	v.usable()
	b := v.block
	if v.op != nil {
		b = v.op.block
	}
	m.sameModule(b.m)
}

func (u *Use) link(v *Value) {
	u.owner.recheck()
	u.val = v
	if v == nil {
		return
	}
	if v.first == nil {
		v.first, u.prev = u, u
		return
	}
	last := v.first.prev
	u.prev, last.next = last, u
	v.first.prev = u
}

func (u *Use) unlink() {
	v := u.val
	if v == nil {
		return
	}
	switch {
	case v.first != u:
		u.prev.next = u.next
		if u.next != nil {
			u.next.prev = u.prev
		} else {
			v.first.prev = u.prev
		}
	case u.next != nil:
		v.first, u.next.prev = u.next, u.prev
	default:
		v.first = nil
	}
	u.owner.recheck()
	u.val, u.prev, u.next = nil, nil, nil
}

// erase removes v from its op or block and from the slots that hold it.
func (v *Value) erase() {
	for v.first != nil {
		v.first.unlink()
	}
	v.op, v.block = nil, nil
}
