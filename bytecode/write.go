package bytecode

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// Options chooses the form of a file. The zero value means the newest version, with hlocb as the producer.
type Options struct {
	// Version is the version of the format, 0 to 6, if Versioned is set. If it is not set, the version is 6, or 4 if an op
	// may have a late attribute (ir.AttrSpec): readers of StableHLO 1.17 and of 1.22 expect different bytes of such an op
	// from version 5 on.
	Version   int
	Versioned bool
	// Late writes such ops in versions 5 and 6 as StableHLO 1.22 does. Without it, only ops that have a late attribute
	// are written so.
	Late bool
	// View is written instead of the module's ops. Nil means the ops themselves.
	View View
	// TextFloats writes f8E5M2, tf32 and the other floating-point types with codes newer than version 6 as text. Every
	// reader accepts that form.
	TextFloats bool
	// StripLocations omits the locations of operations.
	StripLocations bool
	// Producer is the name of the program that wrote the file; "" means hlocb.
	Producer string
}

// View presents a module to Append with ops and values of other kinds, in the same structure.
type View interface {
	// Op returns the definition and attributes of an op. The caller uses the list before it calls Op again. ErrRefused
	// means that the view does not keep the structure of the module.
	Op(op *ir.Op) (*ir.Def, ir.AttrList, error)
	// Type returns the type of a value of type t in op or a block of op.
	Type(op *ir.Op, t ir.Type) (ir.Type, error)
}

// Append appends the module as bytecode to dst. It fails for a module that bytecode cannot express, such as one with
// the assembly of an unknown operation.
func Append(dst []byte, m *ir.Module, o Options) (out []byte, err error) {
	if !o.Versioned {
		if o.Version = maxVersion; o.View == nil && mayBeLate(m) {
			o.Version = 4 // the last one with all attributes in a dictionary
		}
	}
	if o.Version < 0 || o.Version > maxVersion {
		return nil, fmt.Errorf("bytecode version %d: expected 0 to %d", o.Version, maxVersion)
	}
	if o.Producer == "" {
		o.Producer = "hlocb"
	}
	w := &writer{
		m: m, version: o.Version, ctx: m.Context(), view: o.View, strip: o.StripLocations, textFloats: o.TextFloats, late: o.Late, typesSeen: map[ir.Type]int32{},
		attrIDs: map[ir.Attr]int32{}, stringAttrs: map[string]int32{}, locIDs: map[*ir.Loc]int32{},
		typeIDs: map[ir.Type]int32{}, dialectIDs: map[string]int32{}, kindIDs: map[*ir.Def]int32{}, stringIDs: map[string]int{},
	}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case writeError:
			out, err = nil, x.error
		default:
			panic(x)
		}
	}()
	w.collect()
	w.number()
	w.order()
	w.numberResources()
	return w.file(dst, o.Producer), nil
}

// mayBeLate reports whether an op of m may have a late attribute.
func mayBeLate(m *ir.Module) bool {
	var last *ir.Def
	return !m.Op().Walk(func(op *ir.Op) bool {
		d := op.Def()
		if d == last {
			return true
		}
		last = d
		return !slices.ContainsFunc(d.Attrs, func(a ir.AttrSpec) bool { return a.Late })
	})
}

// writeError is the panic value for a module that cannot be written. Append recovers it.
type writeError struct{ error }

func (w *writer) fail(op *ir.Op, format string, args ...any) {
	panic(writeError{w.m.Errorf(op, format, args...)})
}

// writer writes one module. Attributes, types, dialects and op kinds each have an id, in the order in which the module
// walk meets them, and a number, which identifies them in the file.
type writer struct {
	m       *ir.Module
	ctx     *ir.Context
	version int
	view    View
	strip   bool

	textFloats, late bool

	typesSeen map[ir.Type]int32 // by the module's types; used with a view

	unknown     int32 // 1 + the id of the unknown location, 0 if it has none yet
	lastLoc     *ir.Loc
	lastLocID   int32
	attrIDs     map[ir.Attr]int32
	attrKeys    keyTable // equal attributes have equal keys
	keyed       []int32  // the ids of the attributes with keys
	stringAttrs map[string]int32
	named       bool   // the name of a file is known
	lastName    string // of that file
	lastNameID  int32
	builtin     int32 // the id of the dialect
	fileLocs    locTable
	locIDs      map[*ir.Loc]int32 // all other locations
	typeIDs     map[ir.Type]int32
	dialectIDs  map[string]int32
	kindIDs     map[*ir.Def]int32
	attrs       []item
	types       []item
	dialects    []dialectItem
	kinds       []kindItem
	refs        []int32 // parts of attributes and types: id<<1, |1 for a type
	free        []*encoder

	ops     []opItem
	values  []valueItem // by ID
	defined int32       // number of values found so far
	blocks  []blockItem
	ids     []int32 // attributes and types of ops and blocks

	attrOrder, typeOrder, kindOrder, dialectOrder []int32

	stringIDs map[string]int
	strings   []string
	props     map[string]int
	propData  []byte
	opNumbers map[*ir.Op]int

	resources []resourceItem
}

// item is an attribute or a type.
type item struct {
	x       any   // an ir.Attr, a *ir.Loc or an ir.Type
	refs    int32 // start of its parts
	numRefs int32
	dialect int32
	count   int32
	number  int32
	coded   bool
}

type dialectItem struct {
	name   string
	known  *ir.Dialect
	number int32 // -1 before the first use
}

type kindItem struct {
	def     *ir.Def
	name    string // without the dialect; "" for a name without a dot
	dialect int32
	count   int32
	number  int32
	props   *propTable
}

// opItem describes how to write an op.
type opItem struct {
	op       *ir.Op
	end      int32 // the op after its last nested op
	kind     int32
	loc      int32
	dict     int32 // -1 for none
	props    int32 // start of its properties in ids, -1 for none
	types    int32 // start of its result types in ids
	blocks   int32 // its first block
	inner    int32 // number of values defined before its regions; finally, before their end
	last     int32
	isolated bool
}

type valueItem struct {
	order    int32   // number of values defined before it
	number   int32   // in the file
	last     *ir.Use // the last use in the program so far
	reorders bool
}

type blockItem struct {
	args int32 // start of the locations and types of its arguments in ids
}

// absent represents an absent attribute.
const absent = -1

// collect walks the module and assigns ids to everything in it.
func (w *writer) collect() {
	n := w.m.NumIDs()
	w.builtin = w.dialectID("builtin")
	w.ops = make([]opItem, 0, n+n/8+16)
	w.values = make([]valueItem, n)
	w.attrs = make([]item, 0, n+64)
	w.fileLocs = newLocTable(n)
	w.refs = make([]int32, 0, n+64)
	w.ids = make([]int32, 0, 2*n+64)
	w.collectOp(w.m.Op())
	w.checkUses()
}

func (w *writer) collectOp(op *ir.Op) {
	if op.Verbatim() != nil {
		w.fail(op, "%s is of an unknown dialect and written in its own form, which bytecode cannot hold; write it in generic form", op.Name())
	}
	at := len(w.ops)
	def, attrs := op.Def(), op.Attrs()
	if w.view != nil {
		var err error
		if def, attrs, err = w.view.Op(op); err != nil {
			panic(writeError{err})
		}
	}
	k := w.kindID(op, def)
	w.ops = append(w.ops, opItem{op: op, kind: k, loc: w.locID(op.Loc()), dict: absent, props: absent, blocks: int32(len(w.blocks))})
	it := &w.ops[at]
	w.collectAttrs(op, attrs, it, &w.kinds[k])
	it.types = int32(len(w.ids))
	for _, v := range op.Results() {
		w.ids = append(w.ids, w.valueType(op, v))
		w.addValue(v)
	}
	it.inner = w.defined
	block := len(w.blocks)
	for _, r := range op.Regions() {
		for range r.Blocks() {
			w.blocks = append(w.blocks, blockItem{})
		}
	}
	for _, r := range op.Regions() {
		for _, b := range r.Blocks() {
			w.blocks[block].args = int32(len(w.ids))
			block++
			for _, a := range b.Args() {
				l := w.locID(a.Loc())
				w.ids = append(w.ids, l, w.valueType(op, a))
				w.addValue(a)
			}
			for o := b.First(); o != nil; o = o.Next() {
				w.collectOp(o)
			}
		}
	}
	it = &w.ops[at]
	it.end, it.last = int32(len(w.ops)), w.defined
}

// valueType returns the id of the type of a value in op.
func (w *writer) valueType(op *ir.Op, v *ir.Value) int32 {
	if w.view == nil {
		return w.typeID(v.Type())
	}
	if id, ok := w.typesSeen[v.Type()]; ok {
		return id
	}
	t, err := w.view.Type(op, v.Type())
	if err != nil {
		panic(writeError{err})
	}
	id := w.typeID(t)
	w.typesSeen[v.Type()] = id
	return id
}

func (w *writer) addValue(v *ir.Value) {
	w.values[v.ID()] = valueItem{order: w.defined}
	w.defined++
}

// collectAttrs assigns ids to the attributes of an op: first the properties, then the dictionary of all others.
func (w *writer) collectAttrs(op *ir.Op, attrs ir.AttrList, it *opItem, k *kindItem) {
	props := 0
	if w.version >= 5 {
		props = w.collectProps(op, it, k, attrs)
	}
	if props == len(attrs) {
		return
	}
	var list ir.AttrList
	if props == 0 {
		list = attrs
	} else {
		for _, a := range attrs {
			if !w.isProperty(k, &a) {
				list = append(list, a)
			}
		}
	}
	it.dict = w.dictID(list)
}

// isProperty reports whether an attribute of an op of kind k is a property.
func (w *writer) isProperty(k *kindItem, a *ir.NamedAttr) bool {
	if k.props == nil {
		return a.Inherent
	}
	return k.props.index(a.Name) >= 0 || k.props.segment(a.Name) >= 0
}

// collectProps assigns ids to the properties of an op and returns how many of its attributes are properties.
func (w *writer) collectProps(op *ir.Op, it *opItem, k *kindItem, attrs ir.AttrList) int {
	if k.props == nil { // the properties of an unknown kind are one dictionary
		var list ir.AttrList
		for _, a := range attrs {
			if a.Inherent {
				list = append(list, a)
			}
		}
		if list != nil {
			id := w.dictID(list)
			it.props = int32(len(w.ids))
			w.ids = append(w.ids, id)
		}
		return len(list)
	}
	t := k.props
	if len(t.attrs) == 0 && len(t.segments) == 0 {
		return 0
	}
	it.props = int32(len(w.ids))
	n, i := 0, 0
	for p := range t.attrs {
		spec := &t.attrs[p]
		for i < len(attrs) && attrs[i].Name < spec.name {
			i++
		}
		if i < len(attrs) && attrs[i].Name == spec.name {
			w.ids = append(w.ids, w.attrID(attrs[i].Attr))
			i++
			n++
			continue
		}
		if !spec.optional {
			w.fail(op, "%s lacks the attribute %s", op.Name(), spec.name)
		}
		w.ids = append(w.ids, absent)
	}
	return n + len(t.segments)
}

func (w *writer) kindID(op *ir.Op, def *ir.Def) int32 {
	if id, ok := w.kindIDs[def]; ok {
		return id
	}
	id := int32(len(w.kinds))
	w.kindIDs[def] = id
	dialect, rest, dotted := strings.Cut(def.Name, ".")
	if dotted && rest == "" {
		w.fail(op, "bytecode cannot hold an operation name that ends with its first dot: %q", def.Name)
	}
	k := kindItem{def: def, name: rest, dialect: w.dialectID(dialect)}
	k.props = newPropTable(w.m.Registry(), def, w.version)
	w.kinds = append(w.kinds, k)
	return id
}

func (w *writer) dialectID(name string) int32 {
	if id, ok := w.dialectIDs[name]; ok {
		return id
	}
	id := int32(len(w.dialects))
	w.dialectIDs[name] = id
	d := dialectItem{name: name, number: absent}
	if reg := w.m.Registry(); reg != nil {
		d.known = reg.Dialect(name)
	}
	w.dialects = append(w.dialects, d)
	return id
}

// checkUses finds the values whose uses are not in program order, and the ops whose regions use no value from outside.
func (w *writer) checkUses() {
	var open []int32 // the ops with enclosing regions, outermost first
	for i := range w.ops {
		it := &w.ops[i]
		for len(open) > 0 && w.ops[open[len(open)-1]].end <= int32(i) {
			open = open[:len(open)-1]
		}
		op := it.op
		for k := range op.NumOperands() {
			u := op.OperandUse(k)
			if u.Value() == nil {
				w.fail(op, "operand %d of %s is missing", k, op.Name())
			}
			v := &w.values[u.Value().ID()]
			if v.last != nil && v.last.Next() != u {
				v.reorders = true
			}
			v.last = u
			for j := len(open) - 1; j >= 0; j-- {
				around := &w.ops[open[j]]
				if v.order >= around.inner && v.order < around.last {
					break
				}
				around.isolated = false
			}
		}
		if len(op.Regions()) > 0 {
			it.isolated = true
			open = append(open, int32(i))
		}
	}
	for i := range w.ops {
		if it := &w.ops[i]; !it.isolated && len(it.op.Regions()) > 0 && (it.op.Has(ir.IsolatedFromAbove) || w.kinds[it.kind].def.Has(ir.IsolatedFromAbove)) {
			w.fail(it.op, "%s uses a value from outside its regions, which are isolated from above", it.op.Name())
		}
	}
}

// number visits everything in the order of MLIR's writer. It counts the uses of attributes, types and op kinds, and
// numbers dialects and values.
func (w *writer) number() {
	for i := range w.dialects {
		w.dialects[i].number = absent
	}
	w.attrOrder = make([]int32, 0, len(w.attrs))
	w.visitOp(0)
	type work struct {
		region *ir.Region
		op     int32 // its first op
		block  int32 // its first block
		value  int32 // the number of its first value
	}
	var stack []work
	push := func(i int32, value int32) {
		it := &w.ops[i]
		next, block := i+1, it.blocks
		for _, r := range it.op.Regions() {
			start := value
			if it.isolated {
				start = 0
			}
			stack = append(stack, work{r, next, block, start})
			block += int32(len(r.Blocks()))
			for _, b := range r.Blocks() {
				for o := b.First(); o != nil; o = o.Next() {
					next = w.ops[next].end
				}
			}
		}
	}
	push(0, 0)
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		value, next := x.value, x.op
		nested := false
		for k, b := range x.region.Blocks() {
			bi := w.blocks[int(x.block)+k]
			for i, a := range b.Args() {
				w.values[a.ID()].number = value
				value++
				w.visitAttr(w.ids[int(bi.args)+2*i])
				w.visitType(w.ids[int(bi.args)+2*i+1])
			}
			for o := b.First(); o != nil; o = o.Next() {
				w.visitOp(next)
				for i := range o.NumResults() {
					w.values[o.Result(i).ID()].number = value
					value++
				}
				nested = nested || len(o.Regions()) > 0
				next = w.ops[next].end
			}
		}
		if !nested {
			continue
		}
		next = x.op
		for _, b := range x.region.Blocks() {
			for o := b.First(); o != nil; o = o.Next() {
				if len(o.Regions()) > 0 {
					push(next, value)
				}
				next = w.ops[next].end
			}
		}
	}
}

func (w *writer) visitOp(i int32) {
	it := &w.ops[i]
	k := &w.kinds[it.kind]
	if k.count++; k.count == 1 {
		w.visitDialect(k.dialect)
		w.kindOrder = append(w.kindOrder, it.kind)
	}
	for j := range it.op.NumResults() {
		w.visitType(w.ids[int(it.types)+j])
	}
	if it.dict != absent {
		w.visitAttr(it.dict)
	}
	if it.props != absent {
		for _, id := range w.ids[it.props : int(it.props)+w.numProps(k)] {
			if id != absent {
				w.visitAttr(id)
			}
		}
	}
	w.visitAttr(it.loc)
}

// numProps returns the number of attributes in the properties of an op of kind k.
func (w *writer) numProps(k *kindItem) int {
	if k.props == nil {
		return 1
	}
	return len(k.props.attrs)
}

func (w *writer) visitDialect(id int32) {
	if d := &w.dialects[id]; d.number == absent {
		d.number = int32(len(w.dialectOrder))
		w.dialectOrder = append(w.dialectOrder, id)
	}
}

func (w *writer) visitAttr(id int32) {
	it := &w.attrs[id]
	if it.count++; it.count == 1 {
		w.attrOrder = append(w.attrOrder, id)
		w.visitNew(it)
	}
}

func (w *writer) visitType(id int32) {
	it := &w.types[id]
	if it.count++; it.count == 1 {
		w.typeOrder = append(w.typeOrder, id)
		w.visitNew(it)
	}
}

func (w *writer) visitNew(it *item) {
	w.visitDialect(it.dialect)
	if r, ok := it.x.(*ir.ResourceAttr); ok {
		w.visitResource(r)
	}
	for _, ref := range w.refs[it.refs : it.refs+it.numRefs] {
		if ref&1 != 0 {
			w.visitType(ref >> 1)
		} else {
			w.visitAttr(ref >> 1)
		}
	}
}

// order assigns the numbers in the file: the most used item comes first. Among numbers of the same length, items of one
// dialect are adjacent.
func (w *writer) order() {
	arrangeItems := func(ids []int32, items []item) {
		w.arrange(ids, func(id int32) (count, dialect int32) { return items[id].count, items[id].dialect })
		for n, id := range ids {
			items[id].number = int32(n)
		}
	}
	arrangeItems(w.attrOrder, w.attrs)
	arrangeItems(w.typeOrder, w.types)
	w.arrange(w.kindOrder, func(id int32) (count, dialect int32) { return w.kinds[id].count, w.kinds[id].dialect })
	for n, id := range w.kindOrder {
		w.kinds[id].number = int32(n)
	}
}

// arrange sorts ids by count, largest first. Then, in each range of numbers whose varints have the same length, it
// sorts by dialect, starting with the dialect of the last id of the previous range. The ranges are MLIR's, which has
// 2,080,896 instead of 2,080,768 (IRNumbering.cpp, groupByDialectPerByte).
func (w *writer) arrange(ids []int32, of func(id int32) (count, dialect int32)) {
	var often []int32 // used more than once
	once := len(ids)
	for i := len(ids) - 1; i >= 0; i-- {
		if count, _ := of(ids[i]); count > 1 {
			often = append(often, ids[i])
		} else {
			once--
			ids[once] = ids[i]
		}
	}
	slices.Reverse(often)
	slices.SortStableFunc(often, func(a, b int32) int {
		x, _ := of(a)
		y, _ := of(b)
		return int(y) - int(x)
	})
	copy(ids, often)
	dialect := func(id int32) int32 {
		_, d := of(id)
		return w.dialects[d].number
	}
	first := int32(0)
	size := 0
	next := make([]int32, len(w.dialects)) // where the next id of each dialect goes
	for n := 1; n < 9 && len(ids) > 0; n++ {
		size = 1<<(7*n) - size
		group := ids[:min(size, len(ids))]
		ids = ids[len(group):]
		clear(next)
		for _, id := range group {
			next[dialect(id)]++
		}
		at := next[first]
		next[first] = 0
		last := first
		for d, num := range next {
			if d := int32(d); d != first && num > 0 {
				next[d], last = at, d
				at += num
			}
		}
		if last != first {
			for _, id := range slices.Clone(group) {
				d := dialect(id)
				group[next[d]] = id
				next[d]++
			}
		}
		first = last
	}
}

// stringID returns the number of a string in the file.
func (w *writer) stringID(s string) uint64 {
	id, ok := w.stringIDs[s]
	if !ok {
		id = len(w.strings)
		w.stringIDs[s] = id
		w.strings = append(w.strings, s)
	}
	return uint64(id)
}

// file writes the sections.
func (w *writer) file(dst []byte, producer string) []byte {
	start := len(dst)
	dialects := w.dialectSection()
	data, offsets := w.attrTypeSections()
	irData := w.irSection()
	resources, resourceOffsets, align := w.resourceSections()

	dst = slices.Grow(dst, len(dialects)+len(data)+len(offsets)+len(irData)+len(resources)+len(resourceOffsets)+len(w.propData)+32*len(w.strings)+128)
	dst = append(dst, magic...)
	dst = appendUint(dst, uint64(w.version))
	dst = append(append(dst, producer...), 0)
	dst = appendSection(dst, secDialects, dialects)
	dst = appendSection(dst, secAttrTypeOffsets, offsets)
	dst = appendSection(dst, secAttrTypes, data)
	dst = appendSection(dst, secIR, irData)
	dst = appendSection(dst, secResourceOffsets, resourceOffsets)
	dst = append(dst, secResources)
	dst = appendUint(dst, uint64(len(resources)))
	if at := len(dst) - start; align > 1 && at&(align-1) != 0 {
		dst[at+start-1-uintSize(uint64(len(resources)))] |= 0x80
		dst = appendUint(dst, uint64(align))
		for (len(dst)-start)&(align-1) != 0 {
			dst = append(dst, pad)
		}
	}
	dst = append(dst, resources...)

	size := uintSize(uint64(len(w.strings)))
	for _, s := range w.strings {
		size += len(s) + 1 + uintSize(uint64(len(s)+1))
	}
	dst = appendUint(append(dst, secStrings), uint64(size))
	dst = appendUint(dst, uint64(len(w.strings)))
	for i := range w.strings {
		dst = appendUint(dst, uint64(len(w.strings[len(w.strings)-1-i])+1))
	}
	for _, s := range w.strings {
		dst = append(append(dst, s...), 0)
	}
	if w.version >= 5 {
		count := uint64(len(w.props))
		dst = appendUint(append(dst, secProperties), uint64(uintSize(count)+len(w.propData)))
		dst = append(appendUint(dst, count), w.propData...)
	}
	return dst
}

func uintSize(v uint64) int {
	n := 1
	for ; n < 9 && v>>(7*n) != 0; n++ {
	}
	return n
}

func appendSection(dst []byte, id byte, data []byte) []byte {
	return append(appendUint(append(dst, id), uint64(len(data))), data...)
}

func (w *writer) dialectSection() []byte {
	b := appendUint(nil, uint64(len(w.dialectOrder)))
	for _, id := range w.dialectOrder {
		name := w.stringID(w.dialects[id].name)
		if w.version == 0 {
			b = appendUint(b, name)
		} else {
			b = appendFlagged(b, name, false)
		}
	}
	if w.version >= 4 {
		b = appendUint(b, uint64(len(w.kindOrder)))
	}
	return w.groups(b, w.kindOrder, func(id int32) int32 { return w.kinds[id].dialect }, func(b []byte, id int32) []byte {
		k := &w.kinds[id]
		if w.version >= 5 {
			return appendFlagged(b, w.stringID(k.name), k.def.Registered())
		}
		return appendUint(b, w.stringID(k.name))
	})
}

// groups appends ids in one group per dialect: its number, the number of ids, the ids.
func (w *writer) groups(b []byte, ids []int32, dialect func(int32) int32, one func([]byte, int32) []byte) []byte {
	for i := 0; i < len(ids); {
		d := dialect(ids[i])
		n := i + 1
		for n < len(ids) && dialect(ids[n]) == d {
			n++
		}
		b = appendUint(appendUint(b, uint64(w.dialects[d].number)), uint64(n-i))
		for _, id := range ids[i:n] {
			b = one(b, id)
		}
		i = n
	}
	return b
}

// attrTypeSections returns the attributes and types and the section with their lengths.
func (w *writer) attrTypeSections() (data, offsets []byte) {
	offsets = appendUint(appendUint(nil, uint64(len(w.attrOrder))), uint64(len(w.typeOrder)))
	e := &encoder{w: w}
	entry := func(b []byte, it *item) []byte {
		before := len(e.buf)
		if t, ok := it.x.(ir.Type); ok {
			e.typ(t)
		} else {
			e.attribute(it)
		}
		return appendFlagged(b, uint64(len(e.buf)-before), it.coded)
	}
	offsets = w.groups(offsets, w.attrOrder, func(id int32) int32 { return w.attrs[id].dialect }, func(b []byte, id int32) []byte { return entry(b, &w.attrs[id]) })
	offsets = w.groups(offsets, w.typeOrder, func(id int32) int32 { return w.types[id].dialect }, func(b []byte, id int32) []byte { return entry(b, &w.types[id]) })
	return e.buf, offsets
}

// irSection returns the ops.
func (w *writer) irSection() []byte {
	w.props = map[string]int{}
	b := make([]byte, 0, 12*len(w.ops)+64)
	b = appendFlagged(b, 1, false)
	return w.op(b, 0, nil)
}

// op appends op i in a region with the given blocks.
func (w *writer) op(b []byte, i int32, blocks []*ir.Block) []byte {
	it := &w.ops[i]
	op := it.op
	b = appendUint(b, uint64(w.kinds[it.kind].number))
	at := len(b)
	b = append(b, 0)
	mask := byte(0)
	b = appendUint(b, uint64(w.attrs[it.loc].number))
	if it.dict != absent {
		mask |= hasAttrs
		b = appendUint(b, uint64(w.attrs[it.dict].number))
	}
	if it.props != absent {
		mask |= hasProperties
		b = appendUint(b, w.property(it))
	}
	if n := op.NumResults(); n > 0 {
		mask |= hasResults
		b = appendUint(b, uint64(n))
		for _, id := range w.ids[it.types : int(it.types)+n] {
			b = appendUint(b, uint64(w.types[id].number))
		}
	}
	if operands := op.NumOperands(); operands > 0 {
		mask |= hasOperands
		b = appendUint(b, uint64(operands))
		for k := range op.NumOperands() {
			b = appendUint(b, uint64(w.values[op.Operand(k).ID()].number))
		}
	}
	if succ := op.Successors(); len(succ) > 0 {
		mask |= hasSuccessors
		b = appendUint(b, uint64(len(succ)))
		for _, s := range succ {
			b = appendUint(b, uint64(slices.Index(blocks, s)))
		}
	}
	if w.version >= 3 {
		n := len(b)
		if b = w.useOrders(b, op.NumResults(), op.Result); len(b) > n {
			mask |= hasUseLists
		}
	}
	if regions := op.Regions(); len(regions) > 0 {
		mask |= hasRegions
		b = appendFlagged(b, uint64(len(regions)), it.isolated)
		start := len(b)
		next, block := i+1, it.blocks
		for _, r := range regions {
			b, next = w.region(b, r, next, block)
			block += int32(len(r.Blocks()))
		}
		if it.isolated && w.version >= 2 {
			head := appendUint([]byte{secIR}, uint64(len(b)-start))
			b = slices.Insert(b, start, head...)
		}
	}
	b[at] = mask
	return b
}

// region appends a region whose first op is next and whose first block is block. It returns the op after the region.
func (w *writer) region(b []byte, r *ir.Region, next, block int32) ([]byte, int32) {
	blocks := r.Blocks()
	b = appendUint(b, uint64(len(blocks)))
	if len(blocks) == 0 {
		return b, next
	}
	values := 0
	for _, bl := range blocks {
		values += len(bl.Args())
		for o := bl.First(); o != nil; o = o.Next() {
			values += o.NumResults()
		}
	}
	b = appendUint(b, uint64(values))
	for i, bl := range blocks {
		n := 0
		for o := bl.First(); o != nil; o = o.Next() {
			n++
		}
		b = appendFlagged(b, uint64(n), len(bl.Args()) > 0)
		if len(bl.Args()) > 0 {
			b = w.args(b, bl, w.blocks[int(block)+i])
		}
		for o := bl.First(); o != nil; o = o.Next() {
			b = w.op(b, next, blocks)
			next = w.ops[next].end
		}
	}
	return b, next
}

// args appends the arguments of a block and their use orders.
func (w *writer) args(b []byte, bl *ir.Block, bi blockItem) []byte {
	b = appendUint(b, uint64(len(bl.Args())))
	for i, a := range bl.Args() {
		loc, typ := &w.attrs[w.ids[int(bi.args)+2*i]], uint64(w.types[w.ids[int(bi.args)+2*i+1]].number)
		switch known := !w.strip && a.Loc().Kind() != ir.LocUnknown; {
		case w.version < 4:
			b = appendUint(appendUint(b, typ), uint64(loc.number))
		case known:
			b = appendUint(appendFlagged(b, typ, true), uint64(loc.number))
		default:
			b = appendFlagged(b, typ, false)
		}
	}
	if w.version >= 3 {
		at := len(b)
		b = append(b, 0)
		if b = w.useOrders(b, len(bl.Args()), bl.Arg); len(b) > at+1 {
			b[at] = hasUseLists
		}
	}
	return b
}

// property returns the number of an op's properties.
func (w *writer) property(it *opItem) uint64 {
	k := &w.kinds[it.kind]
	var buf [64]byte
	b := buf[:0]
	ids := w.ids[it.props : int(it.props)+w.numProps(k)]
	if k.props == nil {
		b = appendUint(b, uint64(w.attrs[ids[0]].number))
	} else {
		late := w.late
		for i, id := range ids {
			late = late || k.props.attrs[i].late && id != absent
		}
		for i, id := range ids {
			switch {
			case !k.props.attrs[i].optional:
				b = appendUint(b, uint64(w.attrs[id].number))
			case k.props.attrs[i].late && !late:
			case id == absent:
				b = appendUint(b, 0)
			default:
				b = appendFlagged(b, uint64(w.attrs[id].number), true)
			}
		}
		for _, s := range k.props.segments {
			a, ok := it.op.Attr(s.name).(*ir.DenseArrayAttr)
			if !ok || len(a.Values()) != s.num {
				w.fail(it.op, "%s: expected %d numbers in %s", it.op.Name(), s.num, s.name)
			}
			b = appendSizes(b, a.Values())
		}
	}
	n, ok := w.props[string(b)]
	if !ok {
		n = len(w.props)
		w.props[string(b)] = n
		w.propData = append(appendUint(w.propData, uint64(len(b))), b...)
	}
	return uint64(n)
}

// useOrders appends the use orders of n values if they differ from the order that a reader creates: the last use in the
// program first.
func (w *writer) useOrders(b []byte, n int, value func(int) *ir.Value) []byte {
	type order struct {
		index int
		list  []int
	}
	var orders []order
	for i := range n {
		if v := value(i); w.values[v.ID()].reorders && !v.HasOneUse() {
			if list := w.useOrder(v); list != nil {
				orders = append(orders, order{i, list})
			}
		}
	}
	if orders == nil {
		return b
	}
	if n != 1 {
		// MLIR writes them in the order of a hash table with at least 64 slots.
		places := 64
		for 4*len(orders) >= 3*places {
			places *= 2
		}
		sort.SliceStable(orders, func(i, j int) bool {
			return orders[i].index*37&(places-1) < orders[j].index*37&(places-1)
		})
		b = appendUint(b, uint64(len(orders)))
	}
	for _, o := range orders {
		if n != 1 {
			b = appendUint(b, uint64(o.index))
		}
		moved := 0
		for k, i := range o.list {
			if k != i {
				moved++
			}
		}
		if moved < len(o.list)/2 {
			b = appendFlagged(b, uint64(2*moved), true)
			for k, i := range o.list {
				if k != i {
					b = appendUint(appendUint(b, uint64(i)), uint64(k))
				}
			}
			continue
		}
		b = appendFlagged(b, uint64(len(o.list)), false)
		for _, i := range o.list {
			b = appendUint(b, uint64(i))
		}
	}
	return b
}

// useOrder returns the positions of the uses of v, starting with the last use in the program. Positions count from the
// use that was added last. useOrder returns nil if the uses are in program order.
func (w *writer) useOrder(v *ir.Value) []int {
	if w.opNumbers == nil {
		w.opNumbers = make(map[*ir.Op]int, len(w.ops))
		for i := range w.ops {
			w.opNumbers[w.ops[i].op] = i
		}
	}
	type use struct{ at, op, operand int }
	var uses []use
	for u := range v.Uses() {
		uses = append(uses, use{op: w.opNumbers[u.Owner()], operand: u.Index()})
	}
	for i := range uses {
		uses[i].at = len(uses) - 1 - i
	}
	slices.SortFunc(uses, func(a, b use) int {
		if a.op != b.op {
			return b.op - a.op
		}
		return b.operand - a.operand
	})
	list := make([]int, len(uses))
	moved := false
	for k, u := range uses {
		list[k] = u.at
		moved = moved || u.at != k
	}
	if !moved {
		return nil
	}
	return list
}
