package ir

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/tensor"
)

// Builder makes ops at an insertion point. Ops get the builder's location, position and origin, which Before and After
// copy from their argument. If the op at the insertion point is erased, the builder inserts at its former place. If it
// moves to another block, the builder panics.
type Builder struct {
	m        *Module
	block    *Block
	before   *Op // nil: append to block
	loc      *Loc
	pos      diag.Pos
	origin   uint32
	like     *likeness // of the ops to make, nil for any
	inserted func(*Op) // nil: no callback
}

// likeness is what ops have in common with the op that they replace.
type likeness struct {
	name  string
	types []Type
	attrs AttrList // discardable
}

// Before returns a builder that inserts before o.
func (m *Module) Before(o *Op) *Builder {
	return &Builder{m: m, block: o.Block(), before: o, loc: o.loc, pos: o.pos, origin: o.origin}
}

// After returns a builder that inserts after o, in order.
func (m *Module) After(o *Op) *Builder {
	return &Builder{m: m, block: o.Block(), before: o.Next(), loc: o.loc, pos: o.pos, origin: o.origin}
}

// AtEnd returns a builder that appends to b.
func (m *Module) AtEnd(b *Block) *Builder { return &Builder{m: m, block: b} }

// AtStart returns a builder that inserts at the start of b, in order.
func (m *Module) AtStart(b *Block) *Builder { return &Builder{m: m, block: b, before: b.first} }

// In returns a builder like b that appends to another block.
func (b *Builder) In(block *Block) *Builder {
	c := *b
	c.block, c.before = block, nil
	return &c
}

// Clone inserts a copy of o, as CloneOp makes it.
func (b *Builder) Clone(o *Op, mapping map[*Value]*Value) *Op {
	c := b.m.CloneOp(o, mapping)
	b.insert(c)
	if b.inserted != nil {
		c.Walk(func(x *Op) bool {
			b.inserted(x)
			return true
		})
	}
	return c
}

// At sets the location and position of the ops that b makes from then on, which have no origin, and returns b.
func (b *Builder) At(loc *Loc, pos diag.Pos) *Builder {
	b.loc, b.pos, b.origin = loc, pos, 0
	return b
}

// From gives the ops that b makes from then on the location, position and origin of o, and returns b.
func (b *Builder) From(o *Op) *Builder {
	b.loc, b.pos, b.origin = o.loc, o.pos, o.origin
	return b
}

// Like gives the ops that b makes from then on the result types, the discardable attributes, and the location, position
// and origin of o, and returns b. Use it for the op that replaces o. An op that infers other types than o's gets o's
// types if they are compatible with the inferred types, such as tensor<?xf32> and tensor<4xf32>; otherwise the builder
// refuses the op. Discardable attributes of the new op win over o's.
func (b *Builder) Like(o *Op) *Builder {
	b.like = &likeness{name: o.def.Name, types: o.ResultTypes()}
	for _, a := range o.attrs {
		if !a.Inherent {
			b.like.attrs = append(b.like.attrs, a)
		}
	}
	return b.From(o)
}

// OnInsert makes b call f for every op that it inserts, and returns b.
func (b *Builder) OnInsert(f func(*Op)) *Builder {
	b.inserted = f
	return b
}

// Module returns the module that b builds into.
func (b *Builder) Module() *Module { return b.m }

// Insert makes the op that st describes and inserts it. An op without a location, position or origin in st
// gets the builder's.
func (b *Builder) Insert(st *OpState) *Op {
	if l := b.like; l != nil {
		if len(st.Types) == 0 && countFault("result", st.Def.Results, 0) != "" {
			st.Types = l.types
		}
		for _, a := range l.attrs {
			if st.Attrs.Get(a.Name) == nil {
				st.Attrs = st.Attrs.Set(a.Name, a.Attr, false)
			}
		}
	}
	if st.Loc == nil {
		st.Loc = b.loc
	}
	if !st.Pos.IsValid() {
		st.Pos = b.pos
	}
	if st.Origin == 0 {
		st.Origin = b.origin
	}
	o := b.m.NewOp(st)
	b.insert(o)
	if b.inserted != nil {
		b.inserted(o)
	}
	return o
}

func (b *Builder) insert(o *Op) {
	p := b.before
	for p != nil && p.Erased() { // its next is the op that followed it
		p = p.next
	}
	switch b.before = p; {
	case b.block == nil:
		panic("ir: inserting " + o.def.Name + " beside an op that is in no block")
	case p != nil && p.block != b.block:
		panic("ir: inserting " + o.def.Name + " before " + p.def.Name + ", which has left the builder's block")
	}
	b.block.insert(o, p)
}

// Create makes an op with the given result types, for operations that do not infer them. Attributes are inherent if the
// definition says so.
func (b *Builder) Create(def *Def, operands []*Value, types []Type, attrs ...NamedAttr) *Op {
	st := &OpState{Def: def, Operands: operands, Types: types}
	for _, a := range attrs {
		st.SetAttr(a.Name, a.Attr)
	}
	return b.Insert(st)
}

// Build makes an op with the result types that its definition infers.
func (b *Builder) Build(def *Def, operands []*Value, attrs ...NamedAttr) (*Op, error) {
	st := &OpState{Def: def, Operands: operands}
	for _, a := range attrs {
		st.SetAttr(a.Name, a.Attr)
	}
	return b.Infer(st)
}

// Infer makes the op that st describes with the result types that its definition infers. It returns an error if the
// number of operands or an attribute is invalid, or if the definition cannot infer the types.
func (b *Builder) Infer(st *OpState) (*Op, error) {
	if st.Def.Infer == nil && b.like == nil {
		return nil, fmt.Errorf("the result types of %s cannot be inferred", st.Def.Name)
	}
	if err := st.check(); err != nil {
		return nil, err
	}
	if st.Def.Infer == nil {
		return b.Insert(st), nil
	}
	types, err := st.Def.Infer(b.m.ctx, st)
	if err == nil && b.like != nil {
		types, err = b.like.refine(st.Def, types)
	}
	if err != nil {
		return nil, err
	}
	st.Types = types
	return b.Insert(st), nil
}

// Typed makes the op that st describes with the result types in st. It returns an error if the number of operands, a
// type or an attribute is invalid, or if the definition infers results of another shape. Without types in st, the op
// gets those of the op in Like.
func (b *Builder) Typed(st *OpState) (*Op, error) {
	if l := b.like; l != nil && !slices.ContainsFunc(st.Types, func(t Type) bool { return t != nil }) {
		st.Types = l.types
	}
	if err := st.check(); err != nil {
		return nil, err
	}
	if err := st.checkTypes(); err != nil {
		return nil, err
	}
	if st.Def.Infer != nil {
		types, err := st.Def.Infer(b.m.ctx, st)
		if err != nil {
			return nil, err
		}
		for i, t := range types {
			if i < len(st.Types) && !mayShape(t, st.Types[i]) {
				return nil, fmt.Errorf("result #%d of %s is %s, which differs in shape from %s", i, st.Def.Name, st.Types[i], t)
			}
		}
	}
	return b.Insert(st), nil
}

// checkTypes returns an error if the definition's results cannot have the types of st.
func (st *OpState) checkTypes() error {
	d := st.Def
	if fault := countFault("result", d.Results, len(st.Types)); fault != "" {
		return errors.New(fault)
	}
	var sizes Attr
	if d.Traits&AttrSizedResults != 0 {
		sizes = st.Attrs.Get("resultSegmentSizes")
	}
	counts, ok := segments(nil, d.Results, len(st.Types), sizes, false)
	switch {
	case !ok && sizes != nil:
		return fmt.Errorf("%d results do not divide into the groups of %s", len(st.Types), d.Name)
	case !ok:
		return nil // the definition's own hooks check the groups
	}
	i := 0
	for k, n := range counts {
		for range n {
			switch t, c := st.Types[i], &d.Results[k].Type; {
			case t == nil:
				return fmt.Errorf("the type of result #%d is missing", i)
			case !c.accepts(t):
				return fmt.Errorf("result #%d must be %s, but got '%s'", i, c.Summary, t)
			}
			i++
		}
	}
	return nil
}

// refine returns the types of l for an op whose types are inferred.
func (l *likeness) refine(def *Def, inferred []Type) ([]Type, error) {
	if len(inferred) != len(l.types) {
		return nil, fmt.Errorf("%s has %d results, and %s, which it replaces, has %d", def.Name, len(inferred), l.name, len(l.types))
	}
	for i, t := range inferred {
		if !mayBe(t, l.types[i]) {
			return nil, fmt.Errorf("result #%d of %s is %s, and that of %s, which it replaces, is %s", i, def.Name, t, l.name, l.types[i])
		}
	}
	return l.types, nil
}

// mayBe reports whether a value of the inferred type t may have type u: tensors whose numbers are of one type and whose
// shapes agree in all known sizes, or equal types. It does not know the elements of dialects; Verify checks these.
func mayBe(t, u Type) bool {
	a, ok := t.(*TensorType)
	b, okay := u.(*TensorType)
	if ok && okay {
		if x, y := a.DType(), b.DType(); x != y && x != tensor.Invalid && y != tensor.Invalid {
			return false
		}
	}
	return mayShape(t, u)
}

// mayShape is like mayBe for tensors of any numbers.
func mayShape(t, u Type) bool {
	a, ok := t.(*TensorType)
	b, okay := u.(*TensorType)
	if !ok || !okay {
		return t == u
	}
	if !a.Ranked() || !b.Ranked() {
		return true
	}
	if len(a.Shape()) != len(b.Shape()) {
		return false
	}
	for i, n := range a.Shape() {
		if m := b.Shape()[i]; n != m && n >= 0 && m >= 0 {
			return false
		}
	}
	return true
}

// check returns an error if the operands or attributes of st do not fit its definition. It leaves the types of operands
// to Infer hooks.
func (st *OpState) check() error {
	d := st.Def
	for i, v := range st.Operands {
		if v == nil {
			return fmt.Errorf("operand #%d is missing", i)
		}
	}
	if fault := countFault("operand", d.Operands, len(st.Operands)); fault != "" {
		return errors.New(fault)
	}
	var sizes Attr
	if d.Traits&AttrSizedOperands != 0 {
		sizes = st.Attrs.Get("operandSegmentSizes")
	}
	if _, ok := segments(nil, d.Operands, len(st.Operands), sizes, d.Traits&SameVariadicOperands != 0); !ok {
		return fmt.Errorf("%d operands do not divide into the groups of %s", len(st.Operands), d.Name)
	}
	if fault, _ := d.attrFault(st.Attrs); fault != "" {
		return errors.New(fault)
	}
	return nil
}

// Must returns op, an Op or the view of one, or panics if err is not nil. Use it for a Build or Infer whose operands
// and attributes are known to be valid.
func Must[T any](op T, err error) T {
	if err != nil {
		panic(err)
	}
	return op
}
