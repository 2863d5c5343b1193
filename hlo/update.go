package hlo

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
)

// Update translates m to HLO. m was imported from HLO and may have changed since. Update needs no second import: each
// op knows the instruction that it comes from.
//
// An instruction stays as it is, with its name, layout, metadata and everything else that StableHLO cannot express, if
// m has all ops of its translation, unchanged. Its operands may be other values, of the same types. If they have other
// layouts or memory spaces, Update copies them to the old ones, unless the instruction ignores layouts. Update
// translates all other ops as Export does. They get the name and the metadata of the instruction that they come from.
// Instructions without ops of their own, such as copies, tuples and get-tuple-elements, follow the instructions that
// use them. The module keeps its schedule, aliases, donors, tables and attributes. Without changes Update returns the
// module that was imported. It translates a module that was not imported from HLO as Export does.
func Update(m *ir.Module) (out *Module, err error) {
	defer catch(&err)
	l := linkOf(m)
	if l == nil {
		return Export(m)
	}
	if m, err = expandForUpdate(m); err != nil {
		return nil, err
	}
	copied := *l.hlo
	copied.comps = nil
	ex := newExporter(m, &copied)
	ex.up = &update{ex: ex, link: l, funcs: make(map[string]bool, len(l.funcs)), blocks: map[*ir.Block]*summary{}, users: map[*computation]*userTable{},
		replaced: map[*computation]*computation{}, dropped: map[int]bool{},
		bound: make([]slot[*ir.Value], l.numIDs), ids: table[*ir.Value]{slots: make([]slot[*ir.Value], l.numIDs)}}
	same := true
	for _, f := range fn.Funcs(m) {
		same = ex.up.function(f.Symbol()) && same
	}
	sameAttrs := ir.EqualAttrLists(m.Op().Attrs(), l.attrs)
	if same && sameAttrs && len(fn.Funcs(m)) == len(l.funcs) {
		return l.hlo, nil
	}
	ex.up.takeNames()
	if !sameAttrs {
		ex.attributes()
	}
	ex.up.filled = make([]*instance, len(l.ops))
	ex.up.module()
	ex.up.dropLogs()
	shared := make(map[*computation]bool, len(l.hlo.comps)) // old computations are immutable
	for _, c := range l.hlo.comps {
		shared[c] = true
	}
	ex.separateStarts(shared)
	for _, c := range copied.comps {
		if !shared[c] {
			c.number()
		}
	}
	return &copied, nil
}

// update compares a module with the translation of the HLO that it was imported from.
type update struct {
	ex       *exporter
	link     *link
	funcs    map[string]bool // whether they are unchanged
	blocks   map[*ir.Block]*summary
	homes    map[*instr]*computation       // of the old instructions; nil until an op is in another computation
	users    map[*computation]*userTable   // of the instructions of an old computation
	replaced map[*computation]*computation // old computations, by the new ones that replace them
	dropped  map[int]bool                  // the requests of debug_attributes that are gone
	elements map[*instr]map[int64]*instr   // the get-tuple-elements of old instructions, by index
	repeats  map[*computation]bool         // old computations in which a name occurs twice, as only a proto allows

	ids       table[*ir.Value] // values of a block by the ID of the old value; nil for an ID of several
	filled    []*instance      // the last instance with each old op, by its origin, while a block's instances are found
	ops       slab[*ir.Op]     // memory for instances
	instances slab[instance]
	flat      []*ir.Value       // memory for a list
	bound     []slot[*ir.Value] // the values of bindings
	open      []*bindings       // from the outermost to the innermost
}

// function reports whether the function called name is unchanged, with the functions that it calls. The functions that
// unchanged ops call are those of the old module, in which no function calls itself.
func (up *update) function(name string) bool {
	if same, ok := up.funcs[name]; ok {
		return same
	}
	old := up.link.funcs[name]
	f, ok := up.ex.lookup(name)
	same := ok && old != nil && !f.External() && ir.EqualAttrLists(old.attrs, f.Op.Attrs())
	if same {
		sum := up.compare(old.regions[0], f.Body())
		same = sum.same && len(sum.outside) == 0
	}
	up.funcs[name] = same
	return same
}

// summary says whether a block equals the block that it comes from, if the values from outside of the old block are
// replaced by other values.
type summary struct {
	same    bool
	outside []binding
}

// binding says that the value v takes the place of the old value with the ID old.
type binding struct {
	old uint32
	v   *ir.Value
}

// bindings maps old values to new ones. An entry of update.bound belongs to the bindings that set it first; inner
// bindings have their values of the same ID in a map.
type bindings struct {
	up     *update
	number uint32 // of the bindings
	rest   map[uint32]*ir.Value
}

// bind opens new bindings inside those that are open.
func (up *update) bind() *bindings {
	up.ex.scopes++
	b := &bindings{up: up, number: up.ex.scopes}
	up.open = append(up.open, b)
	return b
}

// unbind closes the innermost bindings.
func (up *update) unbind() { up.open = up.open[:len(up.open)-1] }

// get returns the value that takes the place of old, nil if there is none yet.
func (b *bindings) get(old uint32) *ir.Value {
	if s := &b.up.bound[old]; s.scope == b.number {
		return s.v
	}
	return b.rest[old]
}

// set says that v takes the place of old. It reports whether no other value does.
func (b *bindings) set(old uint32, v *ir.Value) (added, ok bool) {
	if have := b.get(old); have != nil {
		return false, have == v
	}
	if s := &b.up.bound[old]; !slices.ContainsFunc(b.up.open, func(o *bindings) bool { return o.number == s.scope }) {
		*s = slot[*ir.Value]{b.number, v}
	} else {
		store(&b.rest, old, v)
	}
	return true, true
}

// sameOp reports whether op equals old except for operands, regions and callees.
func sameOp(old *linkedOp, op *ir.Op) bool {
	if old.def != op.Def() || len(old.operands) != op.NumOperands() || len(old.types) != op.NumResults() || len(old.regions) != len(op.Regions()) {
		return false
	}
	for i, t := range old.types {
		if op.Result(i).Type() != t {
			return false
		}
	}
	return ir.EqualAttrLists(old.attrs, op.Attrs())
}

// block returns the comparison of b, a block of a region, with the block that it comes from. It compares them once.
func (up *update) block(old *linkedScope, b *ir.Block) *summary {
	sum, ok := up.blocks[b]
	if !ok {
		sum = up.compare(old, b)
		up.blocks[b] = sum
	}
	return sum
}

// compare compares b with the block that it comes from, op by op.
func (up *update) compare(old *linkedScope, b *ir.Block) *summary {
	sum := &summary{}
	if len(b.Args()) != len(old.args) {
		return sum
	}
	bound := up.bind()
	defer up.unbind()
	use := func(ref uint32, v *ir.Value) bool {
		added, ok := bound.set(ref, v)
		if added {
			sum.outside = append(sum.outside, binding{ref, v})
		}
		return ok
	}
	for i, v := range b.Args() {
		if old.types[i] != v.Type() {
			return sum
		}
		bound.set(old.args[i], v)
	}
	n, last := 0, b.Last()
	for op := range b.Ops() {
		if op == last {
			break
		}
		if n == len(old.ops) || !sameOp(old.ops[n], op) || !up.sameCallees(op) {
			return sum
		}
		o := old.ops[n]
		n++
		for i, ref := range o.operands {
			if !use(ref, op.Operand(i)) {
				return sum
			}
		}
		for i, r := range o.regions {
			if len(op.Region(i).Blocks()) != 1 {
				return sum
			}
			inner := up.block(r, op.Region(i).Entry())
			if !inner.same {
				return sum
			}
			for _, x := range inner.outside {
				if !use(x.old, x.v) {
					return sum
				}
			}
		}
		for i := range op.NumResults() {
			bound.set(o.result+uint32(i), op.Result(i))
		}
	}
	if n != len(old.ops) || last == nil || last.NumOperands() != len(old.results) {
		return sum
	}
	for i, ref := range old.results {
		if !use(ref, last.Operand(i)) {
			return sum
		}
	}
	sum.same = true
	return sum
}

// sameCallees reports whether the functions that attributes of op name are unchanged.
func (up *update) sameCallees(op *ir.Op) bool {
	same := true
	var visit func(a ir.Attr)
	visit = func(a ir.Attr) {
		switch a := a.(type) {
		case *ir.SymbolRefAttr:
			same = same && up.function(a.Root())
		case *ir.ArrayAttr:
			for _, e := range a.Elems() {
				visit(e)
			}
		}
	}
	for _, a := range op.Attrs() {
		visit(a.Attr)
	}
	return same
}

// origin returns the ID of the old value that v comes from, plus one, 0 for a new value. It is exact for an argument
// and for a result of an unchanged op. For a result of another op it is a guess, on which nothing but names, layouts
// and unused values may depend.
func (up *update) origin(v *ir.Value) uint32 {
	op := v.DefiningOp()
	if op == nil {
		return v.Origin()
	}
	old := up.link.op(op.Origin())
	if old == nil || len(old.types) != op.NumResults() || old.types[v.Index()] != v.Type() {
		return 0
	}
	return old.result + uint32(v.Index()) + 1
}

// origins returns the position of the argument of s that each of the given arguments comes from, -1 for a new one.
func (s *linkedScope) origins(up *update, args []*ir.Value) []int {
	index := make(map[uint32]int, len(s.args))
	for i, id := range s.args {
		index[id+1] = i
	}
	list := make([]int, len(args))
	for i, v := range args {
		list[i] = -1
		if j, ok := index[up.origin(v)]; ok && s.types[j] == v.Type() {
			list[i] = j
		}
	}
	return list
}

// takeNames notes the names of the old module.
func (up *update) takeNames() {
	n := len(up.link.ops)
	names := &nameTable{limit: 4*n + 64, others: map[string]*nameEntry{}, entries: make([]numberedName, 0, n)}
	for _, c := range up.link.hlo.comps {
		if e, n := names.find(c.name); e == nil {
			names.add(c.name, n, nameEntry{in: &instr{name: c.name}})
		}
		for _, in := range c.instrs {
			e, n := names.find(in.name)
			if e == nil {
				names.add(in.name, n, nameEntry{in: in})
				continue
			}
			if c.has(e.in) {
				store(&up.repeats, c, true)
			}
			e.in = in
		}
	}
	up.ex.taken = names
}

// userTable has the users of the instructions of a computation.
type userTable struct {
	first []int32 // of the users of the instruction of each order
	list  []*instr
}

// usersOf returns the users of an old instruction of c.
func (up *update) usersOf(c *computation, in *instr) []*instr {
	t := up.users[c]
	if t == nil {
		t = newUserTable(c)
		up.users[c] = t
	}
	return t.of(in)
}

// newUserTable returns the users of the instructions of c, in the order of c.
func newUserTable(c *computation) *userTable {
	t := &userTable{first: make([]int32, len(c.instrs)+1)}
	operands := func(yield func(user, o *instr)) {
		last := make([]int32, len(c.instrs)) // the order of the last user, plus one
		for _, in := range c.instrs {
			for _, o := range in.operands {
				if last[o.order] != in.order+1 {
					last[o.order] = in.order + 1
					yield(in, o)
				}
			}
		}
	}
	operands(func(_, o *instr) { t.first[o.order+1]++ })
	for i := range c.instrs {
		t.first[i+1] += t.first[i]
	}
	t.list = make([]*instr, t.first[len(c.instrs)])
	next := slices.Clone(t.first)
	operands(func(user, o *instr) {
		t.list[next[o.order]] = user
		next[o.order]++
	})
	return t
}

// of returns the users of in. An instruction that uses in several times is in the list once.
func (t *userTable) of(in *instr) []*instr { return t.list[t.first[in.order]:t.first[in.order+1]] }

// leafPaths returns the index of each part of s.
func leafPaths(s *shape) [][]int64 {
	var list [][]int64
	var walk func(s *shape, path []int64)
	walk = func(s *shape, path []int64) {
		if !s.isTuple() {
			list = append(list, path)
			return
		}
		for i, e := range s.elems {
			walk(e, append(slices.Clip(path), int64(i)))
		}
	}
	walk(s, nil)
	return list
}

// leafShapes returns the types of the parts of s.
func leafShapes(s *shape) []*shape {
	if !s.isTuple() {
		return []*shape{s}
	}
	var list []*shape
	for _, e := range s.elems {
		list = append(list, leafShapes(e)...)
	}
	return list
}

// module translates the functions and puts the new computations in the places of the old ones.
func (up *update) module() {
	ex, old := up.ex, up.link.hlo
	main, ok := ex.lookup("main")
	if !ok {
		ex.fail(ex.m.Op(), "a module without a function main has no entry computation")
	}
	ex.out.entry = ex.function(main)
	entry := ex.out.entry
	if entry != old.entry {
		up.entry(main)
	}
	// Old computations that nothing called stay; the others stay if a new one calls them.
	called := make(map[*computation]bool, len(old.comps))
	for _, c := range old.comps {
		for _, callee := range c.callees() {
			called[callee] = true
		}
	}
	roots := []*computation{entry}
	for _, c := range old.comps {
		if c != old.entry && !called[c] {
			roots = append(roots, c)
		}
	}
	reached := make(map[*computation]bool, len(old.comps))
	for _, c := range postOrder(roots, (*computation).callees, func(*computation) {}) {
		reached[c] = true
	}
	fresh := slices.DeleteFunc(ex.out.comps, func(c *computation) bool { return !reached[c] })
	ex.out.comps = nil
	names := make(map[string]bool, len(old.comps))
	for _, c := range old.comps {
		names[c.name] = reached[c]
	}
	instead := map[*computation][]*computation{}
	for _, c := range fresh {
		instead[up.replaced[c]] = append(instead[up.replaced[c]], c)
	}
	for _, c := range append(slices.Clip(old.comps), nil) {
		if reached[c] {
			ex.out.comps = append(ex.out.comps, c)
		}
		for _, n := range instead[c] {
			if names[n.name] {
				n.name = ex.unique(n.name)
			}
			names[n.name] = true
			ex.out.comps = append(ex.out.comps, n)
		}
	}
	ex.out.sortComputations()
}

// entry sets the module's facts about the parameters and the result of the new entry computation.
func (up *update) entry(main fn.FuncOp) {
	ex, old := up.ex, up.link.hlo
	entry := ex.out.entry
	// The old parameter, and the part of it, that each argument comes from.
	type part struct {
		param int
		path  []int64
	}
	flat := func(params []*instr) (list []part) {
		for i, p := range params {
			for _, path := range leafPaths(p.shape) {
				list = append(list, part{i, path})
			}
		}
		return list
	}
	was, is := flat(old.entry.params), flat(entry.params)
	firstPart := make([]int, len(entry.params)) // the index in is of the first part of each parameter, -1 for none
	for i := range firstPart {
		firstPart[i] = -1
	}
	for i, at := range slices.Backward(is) {
		firstPart[at.param] = i
	}
	aliasesOf, _ := old.byParameter()
	scope := up.link.funcs["main"].regions[0]
	outputs := leafPaths(entry.root.shape)
	origin := scope.origins(up, main.Body().Args())
	var aliases []moduleAlias
	var donors []donor
	for i, at := range is {
		d := main.ArgAttrs(i)
		if out, ok := d.Get(fn.AttrAliasingOutput).(*ir.IntegerAttr); ok && out.Value() >= 0 && out.Value() < int64(len(outputs)) {
			a := moduleAlias{valueAlias: valueAlias{outputs[out.Value()], int64(at.param), at.path}}
			if j := origin[i]; j >= 0 {
				for _, b := range aliasesOf[int64(was[j].param)] {
					if slices.Equal(b.index, was[j].path) {
						a.must = b.must
					}
				}
			}
			aliases = append(aliases, a)
		} else if b, ok := d.Get(fn.AttrBufferDonor).(*ir.IntegerAttr); ok && b.Value() != 0 {
			donors = append(donors, donor{param: int64(at.param), index: at.path})
		}
		if len(at.path) == 0 {
			ex.argumentAttrs(main, i, entry.params[at.param])
		}
	}
	slices.SortStableFunc(aliases, func(a, b moduleAlias) int { return slices.Compare(a.output, b.output) })
	ex.out.aliases, ex.out.donors = aliases, donors
	layout := &entryLayout{result: entry.root.shape}
	if old.layout != nil && sameTypes(entry.root.shape, old.entry.root.shape) {
		layout.result = old.layout.result
	}
	whole := len(entry.params) == len(old.entry.params)
	for i, p := range entry.params {
		sh := p.shape
		if j := firstPart[i]; j >= 0 && origin[j] >= 0 {
			k := was[origin[j]].param
			whole = whole && k == i
			if old.layout != nil && k < len(old.layout.params) && sameTypes(sh, old.layout.params[k]) {
				sh = old.layout.params[k]
			}
		}
		layout.params = append(layout.params, sh)
	}
	ex.out.layout = layout
	if !whole && len(old.spmdParams) > 1 {
		ex.out.spmdParams = nil
	}
	if len(old.spmdOutput) > 1 && !sameTypes(entry.root.shape, old.entry.root.shape) {
		ex.out.spmdOutput = nil
	}
}

func entryLayoutOf(c *computation) *entryLayout {
	l := &entryLayout{result: c.root.shape}
	for _, p := range c.params {
		l.params = append(l.params, p.shape)
	}
	return l
}
