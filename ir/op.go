package ir

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"github.com/hlocb/hlocb/diag"
)

// Op is an operation of any kind, known or unknown.
//
// Invariants: attrs is sorted by name. Every operand slot with a value is in the value's use list. block of a detached
// op and of the module op is the module's loose block. Nested regions point back to the op. An erased op has no block,
// operands, results or regions.
type Op struct {
	def        *Def
	operands   []Use
	results    []Value
	attrs      AttrList
	parts      *parts // nil for an op without regions, successors or verbatim text
	block      *Block
	next, prev *Op // an op that left its block keeps next, for loops over the block
	loc        *Loc
	pos        diag.Pos
	origin     uint32
	order      uint32 // increases along the block, see setOrder; erasedOrder for an erased op
	// valid is set by Verify on an op that passed its checks if every change that can break them clears valid: see
	// verifier.op. Goroutines that verify one module set it at the same time.
	valid atomic.Bool
}

// erasedOrder is the order of an erased op. It is above the order of every op in a block.
const erasedOrder = math.MaxUint32

// parts are the fields that few ops need.
type parts struct {
	regions    []*Region
	successors []*Block
	verbatim   []string
}

// Erased reports whether the op was erased. An erased op keeps its definition, attributes, location and position. It
// has no block, operands, results, regions or successors, and panics on any attempt to change it.
func (o *Op) Erased() bool { return o.order == erasedOrder }

// usable panics if o is erased.
func (o *Op) usable() {
	if o.Erased() {
		panic("ir: changing " + o.def.Name + ", which is erased")
	}
}

// recheck says that o changed: Verify checks it again.
func (o *Op) recheck() {
	if o.valid.Load() {
		o.valid.Store(false)
	}
}

// recheckUsers says that v changed: Verify checks the ops that use v again.
func (v *Value) recheckUsers() {
	for u := v.first; u != nil; u = u.next {
		u.owner.recheck()
	}
}

// changed says that the attributes of o changed: Verify checks o and the users of its results again.
func (o *Op) changed() {
	o.usable()
	o.block.m.touch()
	o.recheck()
	for i := range o.results {
		o.results[i].recheckUsers()
	}
}

// Def returns the definition of the op's kind.
func (o *Op) Def() *Def { return o.def }

// Name returns the full name: "stablehlo.add".
func (o *Op) Name() string { return o.def.Name }

// Is reports whether d is the op's definition. It is false if the op's definition mirrors d: see IsOrMirrors.
func (o *Op) Is(d *Def) bool { return o.def == d }

// IsOrMirrors reports whether the op's definition is d or has d as its Base.
func (o *Op) IsOrMirrors(d *Def) bool { return o.def == d || d != nil && o.def.Base == d }

// Has reports whether the op has all traits t. It is false for an op of an unknown kind.
func (o *Op) Has(t Traits) bool { return o.def.Has(t) }

// MightHave reports whether the op may have traits t. It is true for an op of an unknown kind.
func (o *Op) MightHave(t Traits) bool { return o.def.unknown || o.def.Traits&t == t }

// NumOperands returns the number of operands.
func (o *Op) NumOperands() int { return len(o.operands) }

// Operand returns operand i.
func (o *Op) Operand(i int) *Value { return o.operands[i].val }

// OperandUse returns the slot of operand i.
func (o *Op) OperandUse(i int) *Use { return &o.operands[i] }

// Operands iterates over the operands.
func (o *Op) Operands() iter.Seq2[int, *Value] {
	return func(yield func(int, *Value) bool) {
		for i := range o.operands {
			if !yield(i, o.operands[i].val) {
				return
			}
		}
	}
}

// OperandList returns the operands as a new slice.
func (o *Op) OperandList() []*Value {
	out := make([]*Value, len(o.operands))
	for i := range o.operands {
		out[i] = o.operands[i].val
	}
	return out
}

// SetOperand sets operand i to v.
func (o *Op) SetOperand(i int, v *Value) { o.operands[i].Set(v) }

// SetOperands replaces all operands. The op gets new slots; the old slots become invalid.
func (o *Op) SetOperands(vals []*Value) {
	o.usable()
	for _, v := range vals {
		v.usableIn(o.block.m)
	}
	o.block.m.touch()
	o.dropOperands()
	o.operands = make([]Use, len(vals))
	o.linkOperands(vals)
}

func (o *Op) linkOperands(vals []*Value) {
	for i, v := range vals {
		o.operands[i].owner = o
		o.operands[i].link(v)
	}
}

func (o *Op) dropOperands() {
	for i := range o.operands {
		o.operands[i].unlink()
		o.operands[i].owner = nil
	}
	o.operands = nil
}

// NumResults returns the number of results.
func (o *Op) NumResults() int { return len(o.results) }

// Result returns result i.
func (o *Op) Result(i int) *Value { return &o.results[i] }

// Results iterates over the results.
func (o *Op) Results() iter.Seq2[int, *Value] {
	return func(yield func(int, *Value) bool) {
		for i := range o.results {
			if !yield(i, &o.results[i]) {
				return
			}
		}
	}
}

// ResultList returns the results as a new slice.
func (o *Op) ResultList() []*Value {
	out := make([]*Value, len(o.results))
	for i := range o.results {
		out[i] = &o.results[i]
	}
	return out
}

// ResultTypes returns the types of the results as a new slice.
func (o *Op) ResultTypes() []Type {
	out := make([]Type, len(o.results))
	for i := range o.results {
		out[i] = o.results[i].typ
	}
	return out
}

// HasUses reports whether any op uses a result of o.
func (o *Op) HasUses() bool {
	for i := range o.results {
		if o.results[i].first != nil {
			return true
		}
	}
	return false
}

// Attrs returns the inherent and discardable attributes, sorted by name. The caller must not change the list.
func (o *Op) Attrs() AttrList { return o.attrs }

// Attr returns the attribute named name, or nil.
func (o *Op) Attr(name string) Attr { return o.attrs.Get(name) }

// SetAttr sets the attribute named name to a. It is inherent if the definition says so. For an op of an unknown kind,
// it is inherent if it replaces an inherent attribute.
func (o *Op) SetAttr(name string, a Attr) {
	o.usable()
	if o.attrs.Get(name) == a && a != nil {
		return
	}
	o.changed()
	inherent := o.def.Attr(name) != nil
	if o.def.unknown {
		for _, a := range o.attrs {
			if a.Name == name {
				inherent = a.Inherent
			}
		}
	}
	o.attrs = o.attrs.Set(name, a, inherent)
}

// SetAttrs replaces all attributes by list, which must be sorted by name and mark the inherent entries. The op keeps
// list; the caller must not change it afterwards.
func (o *Op) SetAttrs(list AttrList) {
	o.changed()
	o.attrs = list
}

// RemoveAttr removes the attribute named name, if there is one.
func (o *Op) RemoveAttr(name string) {
	o.usable()
	if o.attrs.Get(name) == nil {
		return
	}
	o.changed()
	o.attrs = o.attrs.Without(name)
}

// Region returns region i.
func (o *Op) Region(i int) *Region { return o.Regions()[i] }

// Regions returns the regions. The caller must not change the slice.
func (o *Op) Regions() []*Region {
	if o.parts == nil {
		return nil
	}
	return o.parts.regions
}

// Successors returns the blocks that the op may branch to. The caller must not change the slice.
func (o *Op) Successors() []*Block {
	if o.parts == nil {
		return nil
	}
	return o.parts.successors
}

// SetSuccessor sets successor i to b.
func (o *Op) SetSuccessor(i int, b *Block) {
	o.usable()
	b.usable()
	o.block.m.sameModule(b.m)
	o.block.m.touch()
	list := slices.Clone(o.Successors())
	list[i] = b
	o.parts.successors = list
	o.block.region.branched()
}

// Verbatim returns the text of an op of an unknown kind in a form that only its dialect can parse: the text between
// name and location, split at the operands. It is nil for all other ops.
func (o *Op) Verbatim() []string {
	if o.parts == nil {
		return nil
	}
	return o.parts.verbatim
}

// Block returns the block that contains the op, or nil for a detached op.
func (o *Op) Block() *Block {
	if o.block == nil || o.block == o.block.m.loose {
		return nil
	}
	return o.block
}

// Next returns the op after o in its block, or nil.
func (o *Op) Next() *Op {
	if o.Block() == nil {
		return nil
	}
	return o.next
}

// Prev returns the op before o in its block, or nil.
func (o *Op) Prev() *Op { return o.prev }

// Parent returns the op whose region contains o, or nil for a detached op and the module op.
func (o *Op) Parent() *Op {
	if o.block == nil {
		return nil
	}
	return o.block.Parent()
}

// Module returns the module that made o. It is nil for an erased op.
func (o *Op) Module() *Module {
	if o.block == nil {
		return nil
	}
	return o.block.m
}

// Loc returns the MLIR location; nil means unknown.
func (o *Op) Loc() *Loc { return o.loc }

// SetLoc sets the MLIR location.
func (o *Op) SetLoc(l *Loc) {
	if o.loc == l {
		return
	}
	if o.block != nil {
		o.block.m.touch()
	}
	o.loc = l
}

// Pos returns the op's position in the text that the module was read from.
func (o *Op) Pos() diag.Pos { return o.pos }

// SetPos sets the position. A pass gives a new op the position of the op that it replaces.
func (o *Op) SetPos(p diag.Pos) { o.pos = p }

// Origin returns the number of the op that o was made from when the module was translated from another form, such as
// HLO. It is 0 for an op that is not of that translation. Copies of an op, and ops that replace it, have its origin:
// see Origins.
func (o *Op) Origin() uint32 { return o.origin }

// SetOrigin sets the origin. A pass gives a new op the origin of the op that it replaces.
func (o *Op) SetOrigin(n uint32) { o.origin = n }

// IsBefore reports whether o comes before p in the same block.
func (o *Op) IsBefore(p *Op) bool { return o.Block() != nil && o.block == p.block && o.order < p.order }

// unlink removes the op from its block's list. It keeps next, so that a loop about to visit o continues with the ops
// after it.
func (o *Op) unlink() {
	b := o.Block()
	if b == nil {
		return
	}
	b.m.touch()
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		b.first = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	} else {
		b.last = o.prev
		if branches(o) || branches(o.prev) {
			b.region.branched()
		}
	}
	o.block, o.prev, o.order = b.m.loose, nil, 0
}

// Erase destroys the op and everything in its regions. It panics if a result has uses. In an invalid module an op
// outside may use a value that the regions define; that operand then has no value.
func (o *Op) Erase() {
	o.usable()
	for i := range o.results {
		if o.results[i].first != nil {
			panic(fmt.Sprintf("ir: erasing %s, whose result %d is in use", o.def.Name, i))
		}
	}
	if m := o.Module(); m != nil && m.op == o {
		panic("ir: erasing the module op")
	}
	o.unlink()
	o.erase()
}

// erase destroys an op that is not in a list, and everything in it.
func (o *Op) erase() {
	o.dropOperands()
	for i := range o.results {
		o.results[i].erase()
	}
	regions := o.Regions()
	o.results, o.parts, o.block, o.order = nil, nil, nil, erasedOrder
	for _, r := range regions {
		for _, b := range r.blocks {
			b.erase()
		}
		r.op, r.blocks, r.erased = nil, nil, true
	}
}

// ReplaceWith replaces the uses of each result i by values[i] and erases the op. There must be one value per result, of
// the result's type. No value may be a result of the op.
func (o *Op) ReplaceWith(values ...*Value) {
	if len(values) != len(o.results) {
		panic(fmt.Sprintf("ir: replacing the %d results of %s with %d values", len(o.results), o.def.Name, len(values)))
	}
	o.usable()
	for i, v := range values {
		if v.usableIn(o.block.m); v.op == o {
			panic("ir: replacing " + o.def.Name + " with its own result")
		}
		if v.typ != o.results[i].typ {
			panic(fmt.Sprintf("ir: replacing result %d of %s, %s, with a value of type %s", i, o.def.Name, o.results[i].typ, v.typ))
		}
	}
	for i, v := range values {
		o.results[i].ReplaceAllUsesWith(v)
	}
	o.Erase()
}

// MoveBefore moves o, which may be detached, before p.
func (o *Op) MoveBefore(p *Op) {
	o.usable()
	if p.Block() == nil {
		panic("ir: moving " + o.def.Name + " beside an op that is in no block")
	}
	if o != p {
		p.block.insert(o, p)
	}
}

// Walk calls f for o and every op nested in it, parents before children, in program order, until f returns false. f may
// erase any op and move its argument. Walk may or may not visit ops that f inserts right after its argument. Walk
// reports whether every call returned true.
func (o *Op) Walk(f func(*Op) bool) bool {
	return f(o) && o.walkRegions(f)
}

func (o *Op) walkRegions(f func(*Op) bool) bool {
	for b := range o.nestedBlocks() {
		for n := range b.Ops() {
			if !f(n) || n.parts != nil && !n.walkRegions(f) {
				return false
			}
		}
	}
	return true
}

// WalkPost is Walk with children before their parents: it calls f for every op nested in o and then for o.
func (o *Op) WalkPost(f func(*Op) bool) bool {
	for b := range o.nestedBlocks() {
		for n := range b.Ops() {
			if !n.WalkPost(f) {
				return false
			}
		}
	}
	return o.Erased() || f(o)
}

// nestedBlocks iterates over the blocks of all regions. The loop may move and erase any block.
func (o *Op) nestedBlocks() iter.Seq[*Block] {
	return func(yield func(*Block) bool) {
		for _, r := range o.Regions() {
			for _, b := range r.blocks {
				if b.region == r && !yield(b) {
					return
				}
			}
		}
	}
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
