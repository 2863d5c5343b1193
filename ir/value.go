package ir

import (
	"iter"

	"github.com/hlocb/hlocb/diag"
)

// Value is the result of an op or an argument of a block.
//
// Invariants: a result has op set and an argument block; an erased value has neither. first heads the list of all uses of
// the value, and each use in it has val set to this value.
type Value struct {
	typ   Type
	op    *Op
	block *Block
	first *Use   // its prev is the last one
	name  string // the name it was written with, without '%'
	id    uint32
	index uint32
}

// Use is one operand slot of an op. The uses of a value form a list: next ends with nil, prev of the first use is the last.
type Use struct {
	val        *Value
	owner      *Op
	prev, next *Use
}

// Type returns the value's type. An erased value keeps its type.
func (v *Value) Type() Type { return v.typ }

// SetType changes the value's type. The caller keeps producers and users consistent.
func (v *Value) SetType(t Type) { v.typ = t }

// Erased reports whether the value is gone: its op or block was erased, or the argument was removed. An erased value keeps
// its type, name and ID; it has no defining op, no block and no uses, and cannot be used.
func (v *Value) Erased() bool { return v.op == nil && v.block == nil }

// DefiningOp returns the op that v is a result of, nil for a block argument.
func (v *Value) DefiningOp() *Op { return v.op }

// Block returns the block that v is an argument of, nil for a result.
func (v *Value) Block() *Block { return v.block }

// ParentBlock returns the block that v is defined in: its op's block, or the block it is an argument of.
func (v *Value) ParentBlock() *Block {
	if v.op != nil {
		return v.op.block
	}
	return v.block
}

// Index returns the position among the results of the op or the arguments of the block, -1 for an erased value.
func (v *Value) Index() int {
	if v.Erased() {
		return -1
	}
	return int(v.index)
}

// ID returns a number below Module.NumIDs that no other value of the module ever has. It serves as an index of tables.
func (v *Value) ID() int { return int(v.id) }

// Name returns the name the value was written with, without '%'. It is a hint for printing. For one of several results of
// an op it is the hint of the first.
func (v *Value) Name() string { return v.name }

// SetName changes the name hint.
func (v *Value) SetName(name string) { v.name = name }

// Loc returns the location of a block argument, nil for a result.
func (v *Value) Loc() *Loc {
	if v.block == nil {
		return nil
	}
	return v.block.place(v).loc
}

// SetLoc sets the location of a block argument. A result has the location of its op: SetLoc leaves it alone.
func (v *Value) SetLoc(l *Loc) {
	if v.block != nil && l != v.Loc() {
		v.block.ownPlace(v).loc = l
	}
}

// Pos returns the place of a block argument in the text that was read, 0 for a result.
func (v *Value) Pos() diag.Pos {
	if v.block == nil {
		return 0
	}
	return v.block.place(v).pos
}

// SetPos sets the position of a block argument. A result has the position of its op: SetPos leaves it alone.
func (v *Value) SetPos(p diag.Pos) {
	if v.block != nil && p != v.Pos() {
		v.block.ownPlace(v).pos = p
	}
}

// HasUses reports whether any op uses the value.
func (v *Value) HasUses() bool { return v.first != nil }

// HasOneUse reports whether exactly one operand slot holds the value.
func (v *Value) HasOneUse() bool { return v.first != nil && v.first.next == nil }

// Uses iterates over the uses that the value has when the loop begins, in the order they were added. The loop may change
// and remove any of them; those that no longer use v when their turn comes are skipped.
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

// Users iterates over the ops that use v, in the order in which their operands were set. An op that uses v several times
// comes as often. The loop may change or erase the current op.
func (v *Value) Users() iter.Seq[*Op] {
	return func(yield func(*Op) bool) {
		for u := range v.Uses() {
			if !yield(u.owner) {
				return
			}
		}
	}
}

// FirstUse returns the use that was added first, nil for a value without uses.
func (v *Value) FirstUse() *Use { return v.first }

// SortUses puts the uses into the order of list, which holds all of them once.
func (v *Value) SortUses(list []*Use) {
	v.first = nil
	for _, u := range list {
		u.prev, u.next = nil, nil
		u.link(v)
	}
}

// Next returns the use of the same value that was added after u, nil for the last one.
func (u *Use) Next() *Use { return u.next }

// ReplaceAllUsesWith makes every user of v use w instead.
func (v *Value) ReplaceAllUsesWith(w *Value) {
	for v != w && v.first != nil {
		v.first.Set(w)
	}
}

// ReplaceUsesIf makes the users that keep selects use w instead of v.
func (v *Value) ReplaceUsesIf(w *Value, keep func(*Use) bool) {
	for u := range v.Uses() {
		if keep(u) {
			u.Set(w)
		}
	}
}

// Value returns the value in the slot: nil if the slot or its value is gone.
func (u *Use) Value() *Value { return u.val }

// Owner returns the op whose operand slot this is. It is nil after SetOperands made new slots, and after the op was erased.
func (u *Use) Owner() *Op { return u.owner }

// Index returns the position among the owner's operands, -1 if the slot is gone.
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

// Set puts v into the slot. It panics if the slot is gone or v is erased.
func (u *Use) Set(v *Value) {
	if u.owner == nil {
		panic("ir: setting an operand slot that is gone")
	}
	v.usable()
	u.unlink()
	u.link(v)
}

// usable panics if v is erased.
func (v *Value) usable() {
	if v != nil && v.Erased() {
		panic("ir: using a value that is erased")
	}
}

func (u *Use) link(v *Value) {
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
	u.val, u.prev, u.next = nil, nil, nil
}

// erase takes v away from its op or block and from the slots that hold it.
func (v *Value) erase() {
	for v.first != nil {
		v.first.unlink()
	}
	v.op, v.block = nil, nil
}
