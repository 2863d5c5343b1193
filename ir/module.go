package ir

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hlocb/hlocb/diag"
)

// Module is a builtin.module op with its type context, the registry of its ops, and the source it was read from. It
// makes its ops, regions and blocks, which must not be inserted into another module.
type Module struct {
	ctx       *Context
	source    *diag.Source // nil if the module was not read from text
	op        *Op
	resources []Resource
	origins   Origins // nil if the module was not translated from another form
	loose     *Block  // of detached ops; it lists none of them

	version atomic.Uint64
	counted atomic.Bool // Version was called since the last change

	mu      sync.Mutex // guards the fields below
	ids     uint32     // of values
	slab    slab
	unknown map[string]*Def
}

// Resource is one entry of the file metadata section: {-# dialect_resources: {builtin: {key: "0x..."}} #-}. The module
// keeps the section as text per dialect group.
type Resource struct {
	Section string // "dialect_resources" or "external_resources"
	Dialect string // "builtin"
	Key     string
	Text    string // the value as written
}

// ModuleName is the name of the module op.
const ModuleName = "builtin.module"

// NewModule returns an empty module with one empty block.
func NewModule(ctx *Context, source *diag.Source) *Module {
	m := &Module{ctx: ctx, source: source, unknown: map[string]*Def{}}
	m.loose = &Block{m: m}
	m.op = m.NewOp(&OpState{Def: m.Def(ModuleName), Regions: 1})
	m.op.Region(0).AddBlock()
	return m
}

// Context returns the context of the module's types.
func (m *Module) Context() *Context { return m.ctx }

// Registry returns the registry that defines the module's ops.
func (m *Module) Registry() *Registry { return m.ctx.registry }

// Source returns the text that the module was read from, or nil.
func (m *Module) Source() *diag.Source { return m.source }

// Op returns the module op.
func (m *Module) Op() *Op { return m.op }

// Body returns the module's block.
func (m *Module) Body() *Block { return m.op.Region(0).Entry() }

// NumIDs returns a number above every value ID of the module.
func (m *Module) NumIDs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int(m.ids)
}

// Version returns a number that increases when the module changes: equal numbers mean that no op, value, type,
// attribute or location of m changed between the calls. A new op changes the module when it is inserted.
func (m *Module) Version() uint64 {
	m.counted.Store(true)
	return m.version.Load()
}

// touch says that the module changed. Only the first change after a call of Version writes to memory that goroutines
// share.
func (m *Module) touch() {
	if m.counted.Load() {
		m.counted.Store(false)
		m.version.Add(1)
	}
}

// Origins is what is known about the form that a module was translated from. Op.Origin and Value.Origin are numbers of
// that translation.
type Origins interface {
	// Before returns the origins of ops that execute before an op with the given origin, by an order that no value of
	// the module expresses. The caller must not change the list.
	Before(origin uint32) []uint32
}

// Origins returns what is known about the form that the module was translated from, nil if nothing is.
func (m *Module) Origins() Origins { return m.origins }

// SetOrigins sets what is known about the form that the module was translated from.
func (m *Module) SetOrigins(o Origins) { m.origins = o }

// Resources returns the entries of the file metadata section.
func (m *Module) Resources() []Resource { return m.resources }

// SetResources replaces the entries of the file metadata section.
func (m *Module) SetResources(r []Resource) {
	m.touch()
	m.resources = r
}

// Def returns the definition of the op named name. It makes one for an unknown kind.
func (m *Module) Def(name string) *Def {
	if d := m.ctx.registry.Lookup(name); d != nil {
		return d
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.unknown[name]
	if d == nil {
		d = unknownDef(name)
		m.unknown[name] = d
	}
	return d
}

// RegisteredDef is like Def. If the name is unknown, the producer of the module knew it: see Def.Registered.
func (m *Module) RegisteredDef(name string) *Def {
	d := m.Def(name)
	if !d.Registered() {
		m.mu.Lock()
		defer m.mu.Unlock()
		d.registered = true
	}
	return d
}

// Walk calls f for every op of the module except the module op itself. See Op.Walk.
func (m *Module) Walk(f func(*Op) bool) { m.op.walkRegions(f) }

// Errorf returns an error diagnostic at the op's position in the module's source.
func (m *Module) Errorf(o *Op, format string, args ...any) *diag.Diagnostic {
	return diag.Errorf(m.source, o.pos, format, args...)
}

// OpState describes an op to make.
type OpState struct {
	Def        *Def
	Operands   []*Value
	Types      []Type // of the results
	Attrs      AttrList
	Regions    int       // number of empty regions to make, besides those in Bodies
	Bodies     []*Region // existing regions (see Module.NewRegion); the op adopts them
	Successors []*Block
	Verbatim   []string // see Op.Verbatim
	Loc        *Loc
	Pos        diag.Pos
	Origin     uint32 // see Op.Origin

	spare AttrList // spare capacity for the attributes of this op and of later ops made from the state
}

// SetAttr sets an attribute in the state. It is inherent if the definition says so.
func (st *OpState) SetAttr(name string, a Attr) {
	n := len(st.Attrs) + 1
	if cap(st.spare)-len(st.spare) < n {
		st.spare = make(AttrList, 0, max(n, 16, min(2*cap(st.spare), 256)))
	}
	out := st.spare[len(st.spare) : len(st.spare) : len(st.spare)+n]
	i := 0
	for i < len(st.Attrs) && st.Attrs[i].Name < name {
		i++
	}
	out = append(append(out, st.Attrs[:i]...), NamedAttr{name, a, st.Def.Attr(name) != nil})
	if i < len(st.Attrs) && st.Attrs[i].Name == name {
		i++
	}
	st.Attrs = append(out, st.Attrs[i:]...)
	st.spare = st.spare[:len(st.spare)+len(st.Attrs)]
}

// AddAttr sets an attribute that the syntax of an op gives. It is an error if st has the attribute already.
func (st *OpState) AddAttr(p AsmParser, name string, a Attr) {
	if st.Attrs.Get(name) != nil {
		p.ErrorfAt(st.Pos, "attribute '%s' occurs more than once in the attribute list", name)
	}
	st.SetAttr(name, a)
}

// NewOp makes a detached op. It keeps st.Attrs, which must be sorted, and st.Verbatim; the caller must not change them
// afterwards. NewOp copies the other fields.
func (m *Module) NewOp(st *OpState) *Op {
	for _, v := range st.Operands {
		v.usableIn(m)
	}
	for _, b := range st.Successors {
		b.usable()
		m.sameModule(b.m)
	}
	m.mu.Lock()
	o := &m.slab.ops.take(1)[0]
	o.operands = m.slab.uses.take(len(st.Operands))
	o.results = m.values(st.Types)
	m.mu.Unlock()
	for i := range o.results {
		o.results[i].op = o
	}
	o.def, o.attrs, o.loc, o.pos, o.origin, o.block = st.Def, st.Attrs, st.Loc, st.Pos, st.Origin, m.loose
	o.linkOperands(st.Operands)
	n := len(st.Bodies) + st.Regions
	if n == 0 && len(st.Successors) == 0 && st.Verbatim == nil {
		return o
	}
	o.parts = &parts{regions: make([]*Region, n), successors: slices.Clone(st.Successors), verbatim: st.Verbatim}
	copy(o.parts.regions, st.Bodies)
	for i, r := range o.parts.regions {
		if r == nil {
			r = m.NewRegion()
			o.parts.regions[i] = r
		}
		if r.op != nil || r.erased {
			panic("ir: a region of " + o.def.Name + " belongs to another op, or is erased")
		}
		m.sameModule(r.m)
		r.op = o
	}
	return o
}

// newValues returns new values of the given types.
func (m *Module) newValues(types []Type) []Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values(types)
}

// values is newValues for a caller that holds m.mu.
func (m *Module) values(types []Type) []Value {
	out := m.slab.values.take(len(types))
	for i, t := range types {
		v := &out[i]
		v.typ, v.id, v.index = t, m.ids, uint32(i)
		m.ids++
	}
	if m.ids > math.MaxInt32 {
		panic("ir: a module of more than 1<<31 values")
	}
	return out
}

// slab allocates ops, uses and values in chunks, because allocation and garbage collection dominate the cost of an op.
type slab struct {
	ops    chunk[Op]
	uses   chunk[Use]
	values chunk[Value]
}

// chunk is memory for elements of one type. The first chunks are small, to keep small modules small; they grow to
// maxChunk.
type chunk[T any] struct {
	free []T
	size int
}

const (
	firstChunk = 16
	maxChunk   = 1 << 12
)

// take returns n new elements.
func (c *chunk[T]) take(n int) []T {
	if n == 0 {
		return nil
	}
	if len(c.free) < n {
		c.size = min(max(firstChunk, c.size+c.size/4), maxChunk)
		c.free = make([]T, max(n, c.size))
	}
	out := c.free[:n:n]
	c.free = c.free[n:]
	return out
}
