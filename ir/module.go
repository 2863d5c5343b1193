package ir

import (
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/diag"
)

// Module is a builtin.module op with the storage of everything in it, the context of its types, the registry
// its ops were looked up in, and the source it was read from.
type Module struct {
	ctx       *Context
	registry  *Registry
	source    *diag.Source // nil where it was not read from text
	op        *Op
	slab      slab
	unknown   map[string]*Def
	resources []Resource
	numbering sync.Mutex
}

// Resource is one entry of the file metadata section: {-# dialect_resources: {builtin: {key: "0x..."}} #-}. The
// section is kept as text per dialect group.
type Resource struct {
	Section string // "dialect_resources" or "external_resources"
	Dialect string // "builtin"
	Key     string
	Text    string // the value as written
}

// moduleDef is what the module op is made with where no registry defines builtin.module.
const moduleName = "builtin.module"

// NewModule returns an empty module with one empty block.
func NewModule(ctx *Context, registry *Registry, source *diag.Source) *Module {
	m := &Module{ctx: ctx, registry: registry, source: source, unknown: map[string]*Def{}}
	m.op = m.NewOp(&OpState{Def: m.Def(moduleName), Regions: 1})
	m.op.regions()[0].AddBlock()
	return m
}

// Adopt makes op, a builtin.module, the module op in place of the present one, whose body must hold nothing else.
func (m *Module) Adopt(op *Op) {
	op.Remove()
	m.op = op
	if op.regions()[0].Empty() {
		op.regions()[0].AddBlock()
	}
}

// Context returns the context of the module's types.
func (m *Module) Context() *Context { return m.ctx }

// Registry returns the registry the module's ops were looked up in.
func (m *Module) Registry() *Registry { return m.registry }

// Source returns the text the module was read from, nil where there is none.
func (m *Module) Source() *diag.Source { return m.source }

// Op returns the module op.
func (m *Module) Op() *Op { return m.op }

// Body returns the module's block.
func (m *Module) Body() *Block { return m.op.regions()[0].Entry() }

// Reserve prepares storage for about n ops, in a module that has none but its own so far.
func (m *Module) Reserve(n int) {
	if s := &m.slab; s.moreOps.all <= firstChunk {
		n = min(n, maxChunk-1)
		s.ops, s.values, s.uses = s.moreOps.next(n), s.moreValues.next(n), s.moreUses.next(n)
	}
}

// NumValues returns how many results of ops were made in the module so far, those of erased ops included: a size to
// prepare for.
func (m *Module) NumValues() int { return m.slab.count }

// Numbering is held by whoever sets the numbers of the module's values, as long as the numbers are to stay: printers do,
// so that any number of them can print a module at a time.
func (m *Module) Numbering() sync.Locker { return &m.numbering }

// Resources returns the entries of the file metadata section.
func (m *Module) Resources() []Resource { return m.resources }

// SetResources replaces the entries of the file metadata section.
func (m *Module) SetResources(r []Resource) { m.resources = r }

// Def returns the definition of the op named name, making one for an unknown kind.
func (m *Module) Def(name string) *Def {
	if m.registry != nil {
		if d := m.registry.defs[name]; d != nil {
			return d
		}
	}
	d := m.unknown[name]
	if d == nil {
		d = UnknownDef(name)
		m.unknown[name] = d
	}
	return d
}

// Walk calls f for every op of the module (not the module op itself), parents first, in program order, until f
// returns false.
func (m *Module) Walk(f func(*Op) bool) {
	for o := range m.Body().Ops() {
		if !o.Walk(f) {
			return
		}
	}
}

// Errorf returns an error diagnostic at the op's position in the module's source.
func (m *Module) Errorf(o *Op, format string, args ...any) *diag.Diagnostic {
	return diag.Errorf(m.source, o.pos, format, args...)
}

// OpState is everything an op is made from.
type OpState struct {
	Def        *Def
	Operands   []*Value
	Types      []Type // of the results
	Attrs      AttrList
	Regions    int       // number of empty regions to make, besides those in Bodies
	Bodies     []*Region // regions made before (see Module.NewRegion); they are adopted
	Successors []Successor
	Verbatim   []string // see Op.Verbatim
	Loc        *Loc
	Pos        diag.Pos

	room AttrList // for the attributes of this op and of those that the state is used for later
}

// SetAttr binds an attribute in the state, inherent where the definition says so.
func (st *OpState) SetAttr(name string, a Attr) {
	n := len(st.Attrs) + 1
	if cap(st.room)-len(st.room) < n {
		st.room = make(AttrList, 0, max(n, min(2*cap(st.room), 256)))
	}
	out := st.room[len(st.room) : len(st.room) : len(st.room)+n]
	i := 0
	for i < len(st.Attrs) && st.Attrs[i].Name < name {
		i++
	}
	out = append(append(out, st.Attrs[:i]...), NamedAttr{name, a, st.Def.IsInherent(name)})
	if i < len(st.Attrs) && st.Attrs[i].Name == name {
		i++
	}
	st.Attrs = append(out, st.Attrs[i:]...)
	st.room = st.room[:len(st.room)+len(st.Attrs)]
}

// NewOp makes a detached op. It keeps st.Attrs, which must be sorted, st.Successors and st.Verbatim, none of which
// may be reused, and copies the rest.
func (m *Module) NewOp(st *OpState) *Op {
	o := m.slab.op()
	o.def, o.loc, o.pos = st.Def, st.Loc, st.Pos
	if len(st.Attrs) > 0 {
		o.setAttrs(st.Attrs)
	}
	if n := len(st.Operands); n > 0 {
		uses := m.slab.useSlice(n)
		o.setOperands(uses)
		for i, v := range st.Operands {
			u := &uses[i]
			u.owner = o
			u.link(v)
		}
	}
	if n := len(st.Types); n > 0 {
		values := m.slab.valueSlice(n)
		o.setResults(values)
		for i, t := range st.Types {
			v := &values[i]
			v.typ, v.op = t, o
		}
	}
	n := len(st.Bodies) + st.Regions
	if n == 0 && len(st.Successors) == 0 && st.Verbatim == nil {
		return o
	}
	if o.sole = n == 1 && len(st.Successors) == 0 && st.Verbatim == nil; !o.sole {
		r := &rare{}
		r.regions.set(make([]*Region, n))
		r.successors.set(st.Successors)
		r.verbatim.set(st.Verbatim)
		o.inner = unsafe.Pointer(r)
	}
	regions := o.regions()
	copy(regions, st.Bodies)
	for i := len(st.Bodies); i < n; i++ {
		regions[i] = m.NewRegion()
	}
	for _, r := range regions {
		r.op = o
	}
	return o
}

// NewRegion returns a region that belongs to no op yet.
func (m *Module) NewRegion() *Region {
	// Most have one block: its place is allocated with the region.
	s := &struct {
		region Region
		blocks [1]*Block
	}{}
	s.region.blocks.set(s.blocks[:0])
	return &s.region
}

// NewBody returns a region that belongs to no op yet, with one block that has arguments of the given types.
func (m *Module) NewBody(types ...Type) *Region {
	// One object in place of five: computations on scalars are nearly as many as the ops that have one.
	s := &struct {
		region Region
		block  Block
		blocks [1]*Block
		args   [2]*Value
		room   [2]argument
	}{}
	s.blocks[0] = &s.block
	s.block.region = &s.region
	s.region.blocks.set(s.blocks[:])
	if len(types) <= len(s.args) {
		s.block.args.set(s.args[:0])
		s.block.setRoom(s.room[:])
	} else {
		s.block.ReserveArgs(len(types))
	}
	for _, t := range types {
		s.block.AddArg(t, nil)
	}
	return &s.region
}

// AddResults appends results of the given types to o. Pointers to its old results that the caller holds are no longer
// good.
func (m *Module) AddResults(o *Op, types ...Type) {
	o.touch()
	old := o.results()
	list := m.slab.valueSlice(len(old) + len(types))
	o.setResults(list)
	for i := range old {
		list[i].become(&old[i])
	}
	for i, t := range types {
		list[len(old)+i] = Value{typ: t, op: o}
	}
}

// Prepend makes v operand 0 of o, where it is not nil, and puts a result of type t, which it returns, in front of its
// results. Pointers to its old results and operand slots that the caller holds are no longer good.
func (m *Module) Prepend(o *Op, v *Value, t Type) *Value {
	o.touch()
	if v != nil {
		old := o.operands()
		uses := m.slab.useSlice(len(old) + 1)
		o.setOperands(uses)
		for i := range old {
			uses[i+1].become(&old[i])
		}
		uses[0].owner = o
		uses[0].link(v)
	}
	old := o.results()
	list := m.slab.valueSlice(len(old) + 1)
	o.setResults(list)
	for i := range old {
		list[i+1].become(&old[i])
	}
	list[0] = Value{typ: t, op: o}
	return &list[0]
}

// become takes over everything of old, uses too.
func (v *Value) become(old *Value) {
	*v = *old
	for u := v.first; u != nil; u = u.next {
		u.val = v
	}
	*old = Value{}
}

// become takes over the place of old in the use list of its value.
func (u *Use) become(old *Use) {
	*u = *old
	v := u.val
	if v == nil {
		return
	}
	if v.first == old {
		v.first = u
	} else {
		u.prev.next = u
	}
	if u.next != nil {
		u.next.prev = u
	} else {
		v.first.prev = u
	}
	*old = Use{}
}

// Clone returns a detached copy of o with everything in its regions. mapping gives values of the original for
// which the copy uses others, and is extended by those that the copy defines.
func (m *Module) Clone(o *Op, mapping map[*Value]*Value) *Op {
	blocks := map[*Block]*Block{}
	return m.clone(o, mapping, blocks)
}

func (m *Module) clone(o *Op, mapping map[*Value]*Value, blocks map[*Block]*Block) *Op {
	st := OpState{Def: o.def, Attrs: o.attrs(), Regions: o.NumRegions(), Verbatim: o.Verbatim(), Loc: o.loc, Pos: o.pos}
	lookup := func(v *Value) *Value {
		if w, ok := mapping[v]; ok {
			return w
		}
		return v
	}
	for _, v := range o.Operands() {
		st.Operands = append(st.Operands, lookup(v))
	}
	for _, v := range o.Results() {
		st.Types = append(st.Types, v.typ)
	}
	for _, s := range o.Successors() {
		c := Successor{Block: s.Block}
		if b, ok := blocks[s.Block]; ok {
			c.Block = b
		}
		for _, v := range s.Operands {
			c.Operands = append(c.Operands, lookup(v))
		}
		st.Successors = append(st.Successors, c)
	}
	c := m.NewOp(&st)
	for i, v := range o.Results() {
		c.Result(i).SetName(v.Name())
		mapping[v] = c.Result(i)
	}
	for i, r := range o.regions() {
		for _, b := range r.blocks.all() {
			nb := c.regions()[i].AddBlock()
			blocks[b] = nb
			for _, a := range b.args.all() {
				na := nb.AddArg(a.typ, a.Loc())
				na.SetName(a.Name())
				mapping[a] = na
			}
		}
		for _, b := range r.blocks.all() {
			for n := b.first; n != nil; n = n.next {
				blocks[b].Append(m.clone(n, mapping, blocks))
			}
		}
	}
	return c
}
