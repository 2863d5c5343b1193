package ir

import (
	"fmt"
	"iter"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
)

// Value is the result of an op or an argument of a block.
//
// Invariants: op is set for results alone; every other value is the first field of an argument. first heads the list
// of all uses of the value, and each use in it has val set to this value. The layout is tight: a module of a million
// ops has more than a million values, and memory to clear and to look through for pointers is most of what an IR costs.
type Value struct {
	typ     Type
	op      *Op
	first   *Use  // its prev is the last one
	name    *byte // the name it was written with, without '%'; a hint for printing
	nameLen uint32
	number  int32 // what a printer knows it by, see Module.Numbering
}

// argument is a value that no op defines: an argument of a block, or a stand-in for a value that is used in front of
// its definition, which has no block.
type argument struct {
	Value
	block *Block
	loc   *Loc
	pos   diag.Pos
	index int32
}

// arg returns the argument that v, which is no result, is the first field of.
func (v *Value) arg() *argument { return (*argument)(unsafe.Pointer(v)) }

// Use is one operand slot of an op, linked into the use list of its value: next ends with nil, prev of the first use is
// the last.
type Use struct {
	val        *Value
	owner      *Op
	prev, next *Use
}

// Op is an operation of any kind, known or not.
//
// Invariants: attrs is sorted by name; every operand slot is in the use list of its value; block is nil for a
// detached op and the top-level module; regions point back to the op. Operands, results and attributes are kept as
// pointer and length; operands, results and attrs return them as slices. Most ops with regions have one and nothing else
// that is rare: of those, inner is the region, and regions returns inner itself as a slice of one.
type Op struct {
	def         *Def
	operandPtr  *Use
	resultPtr   *Value
	attrPtr     *NamedAttr
	inner       unsafe.Pointer // the *Region of an op that is sole, else its *rare or nil
	block       *Block
	numOperands uint32
	numResults  uint32
	numAttrs    uint32
	order       uint32 // grows along the block where that is ordered, see Block.number; beside block, with which it is asked for
	next, prev  *Op
	loc         *Loc
	pos         diag.Pos
	marks       marks
	sole        bool // inner is the one region
}

// rare is what few ops have.
type rare struct {
	regions    list[*Region]
	successors list[Successor]
	verbatim   list[string]
}

func (o *Op) operands() []Use { return unsafe.Slice(o.operandPtr, o.numOperands) }

func (o *Op) results() []Value { return unsafe.Slice(o.resultPtr, o.numResults) }

func (o *Op) attrs() AttrList { return unsafe.Slice(o.attrPtr, o.numAttrs) }

func (o *Op) setOperands(list []Use) {
	o.operandPtr, o.numOperands = unsafe.SliceData(list), uint32(len(list))
}

func (o *Op) setResults(list []Value) {
	o.resultPtr, o.numResults = unsafe.SliceData(list), uint32(len(list))
}

func (o *Op) setAttrs(list AttrList) {
	o.attrPtr, o.numAttrs = unsafe.SliceData(list), uint32(len(list))
}

func (o *Op) rare() *rare {
	if o.sole {
		return nil
	}
	return (*rare)(o.inner)
}

func (o *Op) regions() []*Region {
	if o.sole {
		return unsafe.Slice((**Region)(unsafe.Pointer(&o.inner)), 1)
	}
	if r := o.rare(); r != nil {
		return r.regions.all()
	}
	return nil
}

// Successor is a block that a terminator may branch to, with the operands that become its arguments.
type Successor struct {
	Block    *Block
	Operands []*Value // kept apart from the op's own operands only while parsing; see OpState
}

// NewForwardValue returns a value that nothing defines: it stands for one that is used in front of its definition
// until ReplaceAllUsesWith puts that in its place.
func NewForwardValue(t Type) *Value { return &(&argument{Value: Value{typ: t}}).Value }

// Type returns the value's type.
func (v *Value) Type() Type { return v.typ }

// SetType changes the value's type. The caller keeps producers and users consistent.
func (v *Value) SetType(t Type) {
	v.typ = t
	if v.op != nil {
		v.op.touch()
	} else if b := v.arg().block; b != nil && b.Parent() != nil {
		b.Parent().touch()
	}
	v.touchUsers()
}

// DefiningOp returns the op that v is a result of, nil for a block argument.
func (v *Value) DefiningOp() *Op { return v.op }

// Block returns the block that v is an argument of, nil for a result.
func (v *Value) Block() *Block {
	if v.op != nil {
		return nil
	}
	return v.arg().block
}

// ParentBlock returns the block that v is defined in: its op's block, or the block it is an argument of.
func (v *Value) ParentBlock() *Block {
	if v.op != nil {
		return v.op.block
	}
	return v.arg().block
}

// Index returns the position among the results of the op or the arguments of the block.
func (v *Value) Index() int {
	if v.op == nil {
		return int(v.arg().index)
	}
	return int((uintptr(unsafe.Pointer(v)) - uintptr(unsafe.Pointer(v.op.resultPtr))) / unsafe.Sizeof(*v))
}

// Number returns what SetNumber set last, 0 where it was not called.
func (v *Value) Number() int32 { return v.number }

// SetNumber sets a number that means nothing to the module. It is for whoever holds Module.Numbering.
func (v *Value) SetNumber(n int32) { v.number = n }

// Name returns the name the value was written with (without '%'), a hint only. For one of several results of an
// op it is the hint of the first.
func (v *Value) Name() string { return unsafe.String(v.name, v.nameLen) }

// SetName changes the name hint.
func (v *Value) SetName(name string) { v.name, v.nameLen = unsafe.StringData(name), uint32(len(name)) }

// Loc returns the location of a block argument, nil for a result.
func (v *Value) Loc() *Loc {
	if v.op != nil {
		return nil
	}
	return v.arg().loc
}

// SetLoc sets the location of a block argument. A result has that of its op.
func (v *Value) SetLoc(l *Loc) {
	if v.op == nil {
		v.arg().loc = l
	}
}

// Pos returns where a block argument stands in the text that was read.
func (v *Value) Pos() diag.Pos {
	if v.op != nil {
		return 0
	}
	return v.arg().pos
}

// SetPos sets the position of a block argument. A result has that of its op.
func (v *Value) SetPos(p diag.Pos) {
	if v.op == nil {
		v.arg().pos = p
	}
}

// HasUses reports whether any op uses the value.
func (v *Value) HasUses() bool { return v.first != nil }

// HasOneUse reports whether exactly one operand slot holds the value.
func (v *Value) HasOneUse() bool { return v.first != nil && v.first.next == nil }

// Uses iterates over the uses in the order they were added. The current use may be changed or removed.
func (v *Value) Uses() iter.Seq[*Use] {
	return func(yield func(*Use) bool) {
		for u := v.first; u != nil; {
			next := u.next
			if !yield(u) {
				return
			}
			u = next
		}
	}
}

// ReplaceAllUsesWith makes every user of v use w instead.
func (v *Value) ReplaceAllUsesWith(w *Value) {
	if v == w {
		return
	}
	for u := range v.Uses() {
		u.Set(w)
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

// Value returns the value in the slot.
func (u *Use) Value() *Value { return u.val }

// Owner returns the op whose operand slot this is.
func (u *Use) Owner() *Op { return u.owner }

// Index returns the position among the owner's operands.
func (u *Use) Index() int {
	for i := range u.owner.operands() {
		if &u.owner.operands()[i] == u {
			return i
		}
	}
	return -1
}

// Set puts v into the slot.
func (u *Use) Set(v *Value) {
	if sameKind(u.val, v) {
		u.owner.marks |= relinked
	} else {
		u.owner.touch()
	}
	u.unlink()
	u.link(v)
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

// Def returns the definition of the op's kind.
func (o *Op) Def() *Def { return o.def }

// Name returns the full name: "stablehlo.add".
func (o *Op) Name() string { return o.def.Name }

// Is reports whether d is the op's row. A row that mirrors d is another row: see IsOrMirrors.
func (o *Op) Is(d *Def) bool { return o.def == d }

// IsOrMirrors reports whether the op's row is d or has d as its Base.
func (o *Op) IsOrMirrors(d *Def) bool { return o.def == d || d != nil && o.def.Base == d }

// Has reports whether the op certainly has all traits t.
func (o *Op) Has(t Traits) bool { return o.def.Has(t) }

// MightHave reports whether the op may have traits t; an op of an unknown kind may have any.
func (o *Op) MightHave(t Traits) bool { return o.def.MightHave(t) }

// NumOperands returns the number of operands.
func (o *Op) NumOperands() int { return int(o.numOperands) }

// Operand returns operand i.
func (o *Op) Operand(i int) *Value { return o.operands()[i].val }

// OperandUse returns the slot of operand i.
func (o *Op) OperandUse(i int) *Use { return &o.operands()[i] }

// Operands iterates over the operands.
func (o *Op) Operands() iter.Seq2[int, *Value] {
	return func(yield func(int, *Value) bool) {
		for i := range o.operands() {
			if !yield(i, o.operands()[i].val) {
				return
			}
		}
	}
}

// Users iterates over the ops that use v, in the order in which their operands were set. An op that uses v several
// times comes as often. The current use may be changed or removed.
func (v *Value) Users() iter.Seq[*Op] {
	return func(yield func(*Op) bool) {
		for u := range v.Uses() {
			if !yield(u.owner) {
				return
			}
		}
	}
}

// Users iterates over the ops that use a result of o, first those of result 0. See Value.Users.
func (o *Op) Users() iter.Seq[*Op] {
	return func(yield func(*Op) bool) {
		for _, v := range o.Results() {
			for user := range v.Users() {
				if !yield(user) {
					return
				}
			}
		}
	}
}

// ReplaceWith makes every user of result i use values[i] instead and erases the op. There must be one value for each
// result; none may be a result of the op.
func (o *Op) ReplaceWith(values ...*Value) {
	if len(values) != o.NumResults() {
		panic(fmt.Sprintf("ir: replacing the %d results of %s with %d values", o.NumResults(), o.def.Name, len(values)))
	}
	for i, v := range values {
		o.Result(i).ReplaceAllUsesWith(v)
	}
	o.Erase()
}

// OperandList returns the operands as a new slice.
func (o *Op) OperandList() []*Value {
	out := make([]*Value, int(o.numOperands))
	for i := range o.operands() {
		out[i] = o.operands()[i].val
	}
	return out
}

// SetOperand puts v into operand slot i.
func (o *Op) SetOperand(i int, v *Value) { o.operands()[i].Set(v) }

// SetOperands replaces all operands.
func (o *Op) SetOperands(vals []*Value) {
	o.touch()
	old := o.operands()
	for i := range old {
		old[i].unlink()
	}
	if len(vals) <= len(old) {
		o.setOperands(old[:len(vals)])
	} else {
		o.setOperands(make([]Use, len(vals)))
	}
	for i, v := range vals {
		u := &o.operands()[i]
		u.owner = o
		u.link(v)
	}
}

// NumResults returns the number of results.
func (o *Op) NumResults() int { return int(o.numResults) }

// Result returns result i.
func (o *Op) Result(i int) *Value { return &o.results()[i] }

// Results iterates over the results.
func (o *Op) Results() iter.Seq2[int, *Value] {
	return func(yield func(int, *Value) bool) {
		for i := range o.results() {
			if !yield(i, &o.results()[i]) {
				return
			}
		}
	}
}

// Attrs returns the attributes sorted by name, inherent and discardable; the caller must not change them.
func (o *Op) Attrs() AttrList { return o.attrs() }

// Attr returns the attribute named name, or nil.
func (o *Op) Attr(name string) Attr { return o.attrs().Get(name) }

// SetAttr binds name to a. The entry is inherent where the definition says so; of an op of unknown kind, where
// it replaces an inherent entry.
func (o *Op) SetAttr(name string, a Attr) {
	inherent := o.def.IsInherent(name)
	if o.def.unknown {
		for _, a := range o.attrs() {
			if a.Name == name {
				inherent = a.Inherent
			}
		}
	}
	o.setAttrs(o.attrs().Set(name, a, inherent))
	o.touch()
	o.touchConstant()
}

// SetAttrs replaces all attributes by list, which is sorted by name, says of each entry whether it is inherent, and must
// not be changed afterwards.
func (o *Op) SetAttrs(list AttrList) {
	if o.block != nil && (list.Get(SymbolName) != nil || o.attrs().Get(SymbolName) != nil) {
		o.block.stir(o)
	}
	o.setAttrs(list)
	o.touch()
	o.touchConstant()
}

// RemoveAttr removes the attribute named name, if there is one.
func (o *Op) RemoveAttr(name string) {
	if name == SymbolName && o.block != nil {
		o.block.stir(o)
	}
	o.setAttrs(o.attrs().Without(name))
	o.touch()
	o.touchConstant()
}

// NumRegions returns the number of regions.
func (o *Op) NumRegions() int { return len(o.regions()) }

// Region returns region i.
func (o *Op) Region(i int) *Region { return o.regions()[i] }

// Regions returns the regions; the caller must not change the slice.
func (o *Op) Regions() []*Region { return o.regions() }

// Successors returns the successors; the caller must not change the slice. Their operands are given with each.
func (o *Op) Successors() []Successor {
	if r := o.rare(); r != nil {
		return r.successors.all()
	}
	return nil
}

// Verbatim returns the text of an op of an unknown kind that has no generic form: what stands between its name and its
// location, in pieces with an operand between each two. It is nil for all other ops.
func (o *Op) Verbatim() []string {
	if r := o.rare(); r != nil {
		return r.verbatim.all()
	}
	return nil
}

// Block returns the block the op stands in, nil for a detached op.
func (o *Op) Block() *Block { return o.block }

// Next returns the op after o in its block, or nil.
func (o *Op) Next() *Op { return o.next }

// Prev returns the op before o in its block, or nil.
func (o *Op) Prev() *Op { return o.prev }

// Parent returns the op whose region holds o, nil for a detached op and the module.
func (o *Op) Parent() *Op {
	if o.block == nil || o.block.region == nil {
		return nil
	}
	return o.block.region.op
}

// Loc returns the MLIR location; nil means unknown.
func (o *Op) Loc() *Loc { return o.loc }

// SetLoc sets the MLIR location.
func (o *Op) SetLoc(l *Loc) { o.loc = l }

// Pos returns where the op stands in the text that was read.
func (o *Op) Pos() diag.Pos { return o.pos }

// SetPos sets the position; ops that a pass makes get that of the op they stand for.
func (o *Op) SetPos(p diag.Pos) { o.pos = p }

// IsBefore reports whether o stands before p in the same block. Where ops were inserted since it was last asked, the
// ops of the block are numbered anew.
func (o *Op) IsBefore(p *Op) bool {
	o.block.number()
	return o.order < p.order
}

// Remove takes the op out of its block without destroying it.
func (o *Op) Remove() {
	b := o.block
	if b == nil {
		return
	}
	b.stir(o)
	o.touchResults()
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		b.first = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	} else {
		b.last = o.prev
	}
	o.block, o.prev, o.next = nil, nil, nil
}

// Erase removes the op, everything in its regions, and their uses. No result may have a use left.
func (o *Op) Erase() {
	for i := range o.results() {
		if o.results()[i].first != nil {
			panic("ir: erasing " + o.def.Name + ", whose result is in use")
		}
	}
	o.Remove()
	o.dropUses()
}

// dropUses unlinks all operands of o and of the ops nested in it.
func (o *Op) dropUses() {
	for i := range o.operands() {
		o.operands()[i].unlink()
	}
	for _, r := range o.regions() {
		for _, b := range r.blocks.all() {
			for n := b.first; n != nil; n = n.next {
				n.dropUses()
			}
		}
	}
}

// MoveBefore moves the op in front of p.
func (o *Op) MoveBefore(p *Op) {
	o.Remove()
	p.block.insert(o, p.prev)
}

// MoveAfter moves the op behind p.
func (o *Op) MoveAfter(p *Op) {
	o.Remove()
	p.block.insert(o, p)
}

// Walk calls f for o and every op nested in it, parents before children, in program order. f may erase or move
// the op it is given (not o itself); its regions are then still visited. It stops where f returns false.
func (o *Op) Walk(f func(*Op) bool) bool {
	return f(o) && o.walkRegions(f)
}

func (o *Op) walkRegions(f func(*Op) bool) bool {
	for _, r := range o.regions() {
		for _, b := range r.blocks.all() {
			for n := b.first; n != nil; {
				next := n.next
				if !f(n) || n.regions() != nil && !n.walkRegions(f) {
					return false
				}
				n = next
			}
		}
	}
	return true
}

// IsAncestorOf reports whether p is o or nested in it.
func (o *Op) IsAncestorOf(p *Op) bool {
	for ; p != nil; p = p.Parent() {
		if p == o {
			return true
		}
	}
	return false
}
