package ir

import (
	"fmt"

	"github.com/hlocb/hlocb/diag"
)

// Builder makes ops at an insertion point. Ops get the builder's location and position, which Before and
// After take from the op they are given.
type Builder struct {
	m      *Module
	block  *Block
	before *Op // nil: append to block
	loc    *Loc
	pos    diag.Pos
}

// Before returns a builder that inserts in front of o.
func (m *Module) Before(o *Op) *Builder {
	return &Builder{m: m, block: o.block, before: o, loc: o.loc, pos: o.pos}
}

// After returns a builder that inserts behind o, in order.
func (m *Module) After(o *Op) *Builder {
	return &Builder{m: m, block: o.block, before: o.next, loc: o.loc, pos: o.pos}
}

// AtEnd returns a builder that appends to b.
func (m *Module) AtEnd(b *Block) *Builder { return &Builder{m: m, block: b} }

// AtStart returns a builder that inserts at the start of b, in order.
func (m *Module) AtStart(b *Block) *Builder { return &Builder{m: m, block: b, before: b.first} }

// At sets the location and position of what is built from now on and returns b.
func (b *Builder) At(loc *Loc, pos diag.Pos) *Builder {
	b.loc, b.pos = loc, pos
	return b
}

// Module returns the module that is built into.
func (b *Builder) Module() *Module { return b.m }

// Insert makes the op that st describes and inserts it. Where st has no location, the builder's is used.
func (b *Builder) Insert(st *OpState) *Op {
	if st.Loc == nil {
		st.Loc = b.loc
	}
	if !st.Pos.IsValid() {
		st.Pos = b.pos
	}
	o := b.m.NewOp(st)
	b.block.InsertBefore(o, b.before)
	return o
}

// Create makes an op with result types of the caller's choosing, for operations that do not infer them. Attributes are made inherent where the
// definition says so.
func (b *Builder) Create(def *Def, operands []*Value, types []Type, attrs ...NamedAttr) *Op {
	st := &OpState{Def: def, Operands: operands, Types: types}
	for _, a := range attrs {
		st.SetAttr(a.Name, a.Attr)
	}
	return b.Insert(st)
}

// Build makes an op whose result types the definition infers.
func (b *Builder) Build(def *Def, operands []*Value, attrs ...NamedAttr) (*Op, error) {
	st := &OpState{Def: def, Operands: operands}
	for _, a := range attrs {
		st.SetAttr(a.Name, a.Attr)
	}
	return b.Infer(st)
}

// Infer makes the op that st describes, with the result types that its definition infers.
func (b *Builder) Infer(st *OpState) (*Op, error) {
	if st.Def.Infer == nil {
		return nil, fmt.Errorf("the result types of %s cannot be inferred", st.Def.Name)
	}
	types, err := st.Def.Infer(b.m.ctx, st)
	if err != nil {
		return nil, err
	}
	st.Types = types
	return b.Insert(st), nil
}

// Must returns the op of a Build or Infer that cannot fail, as the caller knows the operands and attributes to be right.
// It panics where they are not.
func Must(op *Op, err error) *Op {
	if err != nil {
		panic(err)
	}
	return op
}
