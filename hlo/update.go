package hlo

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
)

// Update translates m to HLO. m was imported from old and has changed since. Every instruction of old whose
// translation is still in m stays as it is, with its name, layout, metadata and everything else that StableHLO cannot
// express. Update translates the other ops as Export does and drops instructions whose translation is gone. The module
// keeps its schedule, aliases, donors, tables and attributes. A fusion or an asynchronous pair whose translation
// changed in part is replaced by its instructions. The layouts of new instructions are the default ones.
//
// Update imports old again and compares the result with m. It keeps an instruction only if its ops are equal and use
// equal values.
func Update(old *Module, m *ir.Module) (*Module, error) {
	return UpdateWith(old, m, func(_, m *ir.Module) (*ir.Module, error) { return m, nil })
}

// UpdateWith is Update for a module that prepare changes first. prepare gets the fresh import of old, which it must not
// change, and m, and returns the module to translate.
func UpdateWith(old *Module, m *ir.Module, prepare func(before, m *ir.Module) (*ir.Module, error)) (out *Module, err error) {
	defer catch(&err)
	up := &update{im: newImporter(old, m.Context(), m.Registry(), m.Source()), scopes: map[*ir.Block]*importScope{}, owners: map[*ir.Op]owner{},
		newValues: map[*ir.Value]*ir.Value{}, oldValues: map[*ir.Value]*ir.Value{}, newOps: map[*ir.Op]*ir.Op{}, origins: map[*ir.Op]*ir.Op{},
		groups: map[owner][]*ir.Op{}, whole: map[*ir.Block]bool{}, funcs: map[string]int{}}
	up.im.onBlock = func(s *importScope, b *ir.Block) { up.scopes[b] = s }
	up.im.onOp = func(s *importScope, op *ir.Op) {
		for s.outer != nil {
			s = s.outer
		}
		o := owner{s, s.current}
		up.owners[op] = o
		up.groups[o] = append(up.groups[o], op)
	}
	up.im.module()
	if m, err = prepare(up.im.m, m); err != nil {
		return nil, err
	}
	if m, err = withoutCHLO(m); err != nil {
		return nil, err
	}
	up.new = m
	same := true
	for _, f := range fn.Funcs(m) {
		same = up.function(f.Symbol()) && same
	}
	if same && len(fn.Funcs(m)) == len(fn.Funcs(up.im.m)) && ir.EqualAttrLists(m.Op().Attrs(), up.im.m.Op().Attrs()) {
		return old, nil
	}
	copied := *old
	copied.comps = nil
	ex := newExporter(m, &copied)
	ex.up, ex.replaced = up, map[*computation]*computation{}
	ex.taken = map[string]bool{}
	for _, c := range old.comps {
		ex.taken[c.name] = true
		for _, in := range c.instrs {
			ex.taken[in.name] = true
		}
	}
	ex.update(old)
	for _, c := range copied.comps {
		if !slices.Contains(old.comps, c) { // old computations are shared and immutable
			c.number()
		}
	}
	return &copied, nil
}

// update holds facts about the two modules of Update: old, a fresh import of the HLO, and new, the module to translate.
type update struct {
	im     *importer
	new    *ir.Module
	scopes map[*ir.Block]*importScope // by block of the old module
	owners map[*ir.Op]owner           // the instruction that each old op translates
	groups map[owner][]*ir.Op         // the ops of each instruction

	newValues map[*ir.Value]*ir.Value // by old value
	oldValues map[*ir.Value]*ir.Value // by new value
	newOps    map[*ir.Op]*ir.Op       // equal new ops, by old op
	origins   map[*ir.Op]*ir.Op       // by new op: the equal old op, or the op that it replaces
	whole     map[*ir.Block]bool      // old blocks that are unchanged
	funcs     map[string]int          // functions: 2 unchanged, 3 changed or being compared
}

// owner is an instruction of one scope: a computation may be translated several times.
type owner struct {
	scope *importScope
	in    *instr
}

// function compares the functions called name and reports whether they are equal.
func (up *update) function(name string) bool {
	if state := up.funcs[name]; state != 0 {
		return state == 2
	}
	up.funcs[name] = 3
	a, ok := fn.Lookup(up.im.m, name)
	b, found := fn.Lookup(up.new, name)
	if ok && found && !a.External() && !b.External() && up.block(a.Body(), b.Body()) && ir.EqualAttrLists(a.Op.Attrs(), b.Op.Attrs()) {
		up.funcs[name] = 2
	}
	return up.funcs[name] == 2
}

// align pairs the values of two lists that have equal types, from the last to the first: passes add values in front.
func (up *update) align(old, new []*ir.Value) {
	j := len(new) - 1
	for _, a := range slices.Backward(old) {
		for i := j; i >= 0; i-- {
			b := new[i]
			if up.newValues[a] == nil && up.oldValues[b] == nil && a.Type() == b.Type() {
				up.newValues[a], up.oldValues[b] = b, a
				j = i - 1
				break
			}
		}
	}
}

// opKey finds candidates for an op: ops of one kind at one position, or of one kind with one first operand.
type opKey struct {
	def     *ir.Def
	pos     diag.Pos
	operand *ir.Value
}

// block pairs the ops of an old and a new block and reports whether the blocks are equal.
func (up *update) block(a, b *ir.Block) bool {
	up.align(a.Args(), b.Args())
	same := len(a.Args()) == len(b.Args())
	for i, v := range a.Args() {
		same = same && up.newValues[v] == b.Arg(i)
	}
	found := map[opKey][]*ir.Op{}
	used := map[*ir.Op]bool{}
	add := func(k opKey, op *ir.Op) { found[k] = append(found[k], op) }
	for op := range a.Ops() {
		add(opKey{op.Def(), op.Pos(), nil}, op)
		add(opKey{nil, op.Pos(), nil}, op)
		if op.NumOperands() > 0 {
			add(opKey{op.Def(), 0, op.Operand(0)}, op)
		}
	}
	// A pass gives new ops the position of the op that they belong to.
	waiting := map[opKey]int{}
	for op := range b.Ops() {
		waiting[opKey{op.Def(), op.Pos(), nil}]++
	}
	next := a.First()
	for op := range b.Ops() {
		waiting[opKey{op.Def(), op.Pos(), nil}]--
		var equal, origin *ir.Op
		keys := []opKey{{op.Def(), op.Pos(), nil}}
		if op.NumOperands() > 0 {
			keys = append(keys, opKey{op.Def(), 0, up.oldValues[op.Operand(0)]})
		}
		for _, k := range keys {
			list := slices.DeleteFunc(found[k], func(op *ir.Op) bool { return used[op] })
			found[k] = list
			for _, old := range list[:min(len(list), 16)] {
				if equal == nil && up.sameOperands(old, op) {
					equal = old
				}
			}
		}
		if equal == nil {
			for _, k := range []opKey{keys[0], {nil, op.Pos(), nil}} {
				list := slices.DeleteFunc(found[k], func(op *ir.Op) bool { return used[op] })
				found[k] = list
				if origin == nil && len(list) > 0 && (list[0].Def() == op.Def() || waiting[opKey{list[0].Def(), op.Pos(), nil}] == 0) {
					origin = list[0]
				}
			}
		} else if !up.sameRegions(equal, op) || !up.sameCallees(op) {
			equal, origin = nil, equal
		}
		if old := equal; old != nil || origin != nil {
			if old == nil {
				old = origin
			} else {
				up.newOps[old] = op
			}
			used[old] = true
			up.origins[op] = old
			if equal == nil && old.Def() == op.Def() && up.newOps[old] == nil {
				up.sameRegions(old, op)
			}
			up.align(old.ResultList(), op.ResultList())
		}
		same = same && equal != nil && equal == next
		if next != nil {
			next = next.Next()
		}
	}
	up.whole[a] = same && next == nil
	return up.whole[a]
}

// sameOperands reports whether two ops are equal except for their regions.
func (up *update) sameOperands(old, op *ir.Op) bool {
	if old.NumOperands() != op.NumOperands() || old.NumResults() != op.NumResults() || len(old.Regions()) != len(op.Regions()) {
		return false
	}
	for i, v := range op.Operands() {
		if up.oldValues[v] != old.Operand(i) {
			return false
		}
	}
	for i, r := range op.Results() {
		if r.Type() != old.Result(i).Type() {
			return false
		}
	}
	return ir.EqualAttrLists(old.Attrs(), op.Attrs())
}

// sameRegions pairs the regions of two ops of one kind and reports whether the regions are equal.
func (up *update) sameRegions(old, op *ir.Op) bool {
	same := len(old.Regions()) == len(op.Regions())
	for i, r := range old.Regions() {
		if i >= len(op.Regions()) {
			break
		}
		a, b := r.Blocks(), op.Region(i).Blocks()
		same = same && len(a) == len(b)
		for j := range a {
			if j < len(b) {
				if _, done := up.whole[a[j]]; !done {
					up.block(a[j], b[j])
				}
				same = same && up.whole[a[j]]
			}
		}
	}
	return same
}

// sameCallees reports whether the functions that an attribute of op names are unchanged.
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

// kept reports whether every op of the instruction is still in the new module.
func (up *update) kept(o owner) bool {
	for _, op := range up.groups[o] {
		if up.newOps[op] == nil {
			return false
		}
	}
	return true
}

// leaves returns the new values of the parts of v; ok is false if one is gone.
func (up *update) leaves(v value) (list []*ir.Value, ok bool) {
	for _, old := range v.flat() {
		n := up.newValues[old]
		if old == nil || n == nil {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

// oldScope is the part of an exportScope that updates a computation.
type oldScope struct {
	*importScope
	kept      map[*instr]*instr // by old instruction; nil if the instruction cannot be kept
	producers map[*ir.Value][]producer
	index     map[*instr]int
	next      int             // instructions before this one were considered
	named     map[*instr]bool // instructions whose name a new one has
}

// producer is an instruction with the path of a value in its result.
type producer struct {
	in   *instr
	path []int64
}

// attach prepares s to update the computation that the block old was imported from.
func (s *exportScope) attach(old *ir.Block) {
	sc := s.ex.up.scopes[old]
	if sc == nil {
		return
	}
	o := &oldScope{importScope: sc, kept: map[*instr]*instr{}, producers: map[*ir.Value][]producer{}, index: map[*instr]int{}, named: map[*instr]bool{}}
	s.old = o
	for i, in := range sc.comp.instrs {
		o.index[in] = i
		var walk func(v value, path []int64)
		walk = func(v value, path []int64) {
			if !v.tuple {
				if v.v != nil {
					o.producers[v.v] = append(o.producers[v.v], producer{in, path})
				}
				return
			}
			for i, e := range v.elems {
				walk(e, append(slices.Clip(path), int64(i)))
			}
		}
		if !in.startsPair() { // the end of the pair has the value
			walk(sc.values[in], nil)
		}
	}
}

// attachRegion prepares s, the scope of a region of the op that outer translates. It returns the computation of the
// region if the region is unchanged.
func (s *exportScope) attachRegion(outer *exportScope, r *ir.Region) *computation {
	up := s.ex.up
	if up == nil || outer.op == nil {
		return nil
	}
	old := up.origins[outer.op]
	if old == nil || old.Def() != outer.op.Def() || len(old.Regions()) != len(outer.op.Regions()) {
		return nil
	}
	i := slices.Index(outer.op.Regions(), r)
	if i < 0 {
		return nil
	}
	b := old.Region(i).Entry()
	s.attach(b)
	if s.old != nil && up.whole[b] {
		return s.old.comp
	}
	return nil
}

// oldParams adds the parameters of the old computation if they hold the given values, and reports whether they do.
func (s *exportScope) oldParams(args []*ir.Value) bool {
	if s.old == nil {
		return false
	}
	var all []*ir.Value
	for _, p := range s.old.comp.params {
		have, ok := s.ex.up.leaves(s.old.values[p])
		if !ok {
			return false
		}
		all = append(all, have...)
	}
	if !slices.Equal(all, args) {
		return false
	}
	for _, p := range s.old.comp.params {
		n := *p
		n.attrs = s.attrsOf(p)
		s.old.kept[p] = &n
		s.c.params = append(s.c.params, &n)
		s.c.instrs = append(s.c.instrs, &n)
		if !p.shape.isTuple() {
			have, _ := s.ex.up.leaves(s.old.values[p])
			s.values[have[0]] = &n
		}
	}
	return true
}

// adoptParam copies name, shape and attributes of the old parameter for v to in, its new parameter.
func (s *exportScope) adoptParam(v *ir.Value, in *instr) {
	for _, p := range s.old.producers[s.ex.up.oldValues[v]] {
		if p.in.op == opParameter && len(p.path) == 0 {
			in.name, in.shape, in.attrs = p.in.name, p.in.shape, s.attrsOf(p.in)
			s.old.kept[p.in] = in
			return
		}
	}
}

// replaceLeaves returns a shape like sh whose parts have the types of values, and the values that are left.
func (ex *exporter) replaceLeaves(op *ir.Op, sh *shape, values []*ir.Value) (*shape, []*ir.Value) {
	if !sh.isTuple() {
		if n := ex.shapeOf(op, values[0].Type()); !compatible(n, sh) {
			sh = n
		}
		return sh, values[1:]
	}
	out := &shape{elem: tupleType}
	for _, e := range sh.elems {
		var n *shape
		n, values = ex.replaceLeaves(op, e, values)
		out.elems = append(out.elems, n)
	}
	if sameShape(out, sh) {
		out = sh
	}
	return out, values
}

// removeUnused removes instructions that were kept only for instructions that are gone.
func (s *exportScope) removeUnused() {
	uses := map[*instr]int{}
	for _, in := range s.old.comp.instrs {
		for _, o := range in.operands {
			uses[o]++
		}
		for _, o := range in.predecessors() {
			uses[o]++
		}
	}
	free := map[*instr]bool{s.c.root: true} // without uses from the beginning
	for old, n := range s.old.kept {
		if n != nil && uses[old] == 0 && old != s.old.comp.root {
			free[n] = true
		}
	}
	used := map[*instr]bool{}
	for i := len(s.c.instrs) - 1; i >= 0; i-- {
		in := s.c.instrs[i]
		bare := in.op == opTuple || in.op == opGTE || in.op.operands == 1 && sameShape(in.shape, in.operands[0].shape) && simpleOps[in.op.name] == nil
		if !used[in] && !free[in] && bare {
			s.c.instrs[i] = nil
			continue
		}
		for _, o := range in.operands {
			used[o] = true
		}
		for _, o := range in.predecessors() {
			used[o] = true
		}
	}
	s.c.instrs = slices.DeleteFunc(s.c.instrs, func(in *instr) bool { return in == nil })
}

// patch translates the op of a block that has an old scope.
func (s *exportScope) patch(op *ir.Op) {
	up, o := s.ex.up, s.old
	old := up.origins[op]
	group, owned := up.owners[old]
	owned = owned && group.scope == o.importScope
	if owned && up.newOps[old] == op && up.kept(group) {
		s.flush(o.index[group.in])
		if s.native(group.in) != nil {
			return
		}
	}
	if !s.ex.isLive(op) {
		return
	}
	if owned {
		s.flush(o.index[group.in])
	}
	first := len(s.c.instrs)
	s.op = op
	s.translate(op)
	if !owned {
		return
	}
	s.adopt(group.in, s.c.instrs[first:])
	if !group.in.startsPair() {
		return
	}
	for _, in := range o.comp.instrs { // the end has no op of its own
		if in.endsPair() && in.operands[0] == group.in {
			s.adopt(in, s.c.instrs[first:])
		}
	}
}

// flush keeps those instructions before index n that have no ops of their own and can be kept.
func (s *exportScope) flush(n int) {
	o := s.old
	for ; o.next < n; o.next++ {
		in := o.comp.instrs[o.next]
		if len(s.ex.up.groups[owner{o.importScope, in}]) == 0 && in.op != opParameter {
			s.native(in)
		}
	}
}

// adopt copies the name of old, and everything else that StableHLO cannot express, to the instruction that replaces it.
func (s *exportScope) adopt(old *instr, list []*instr) {
	if s.old.named[old] || s.old.kept[old] != nil {
		return
	}
	for _, in := range slices.Backward(list) {
		if in.op != old.op {
			continue
		}
		s.old.named[old] = true
		in.name = old.name
		if compatible(in.shape, old.shape) {
			in.shape = old.shape
			if s.old.kept[old] == nil {
				s.old.kept[old] = in
			}
		}
		for _, a := range old.attrs {
			switch a.spec {
			case aChannel:
				if a.value == int64(0) && in.get(aChannel) == nil { // StableHLO has 0 for no channel, too
					s.ex.set(in, a.spec, a.value)
				}
			case cMetadata, cStatistics, cOrigin, cReplication, cConfig, cControl:
				if a.spec == cConfig && old.op == opCustomCall {
					continue // the op has it
				}
				if a.spec == cControl {
					a.value = s.predecessors(a.value.([]*instr))
				}
				s.ex.set(in, a.spec, a.value)
			}
		}
		return
	}
}

// predecessors returns the new instructions for control predecessors. It leaves out those that are gone.
func (s *exportScope) predecessors(list []*instr) []*instr {
	var out []*instr
	for _, in := range list {
		if n := s.old.kept[in]; n != nil {
			out = append(out, n)
		}
	}
	return out
}

// native returns the copy of an old instruction in the new computation, with its operands replaced by their copies. It
// returns nil if the instruction cannot be kept.
func (s *exportScope) native(in *instr) *instr {
	o, up := s.old, s.ex.up
	if n, done := o.kept[in]; done {
		return n
	}
	o.kept[in] = nil
	group := owner{o.importScope, in}
	ops := len(up.groups[group])
	if in.op == opParameter || !up.kept(group) {
		return nil
	}
	operands := make([]*instr, len(in.operands))
	for i, x := range in.operands {
		operands[i] = s.native(x)
		// An instruction without ops of its own that extracts parts of its operand needs the operand itself.
		if operands[i] == nil && (ops > 0 || in.op == opTuple || in.op == opFusion || in.op.operands == 1 && sameShape(in.shape, x.shape)) {
			operands[i] = s.rebuild(x)
		}
		if operands[i] == nil || !compatible(operands[i].shape, x.shape) || in.endsPair() && operands[i].op != x.op {
			delete(o.kept, in) // the operand may be there later
			return nil
		}
	}
	n := *in
	n.operands = operands
	n.attrs = s.attrsOf(in)
	s.c.instrs = append(s.c.instrs, &n)
	o.kept[in] = &n
	return &n
}

// attrsOf returns the attributes of an old instruction for a new one.
func (s *exportScope) attrsOf(old *instr) []attr {
	list := slices.Clone(old.attrs)
	for i, a := range list {
		if v, ok := a.value.([]*instr); ok {
			list[i].value = s.predecessors(v)
		}
	}
	return slices.DeleteFunc(list, func(a attr) bool { return a.spec.omit != nil && a.spec.omit(a.value) })
}

// startsPair reports whether in passes its value to an update or an end alone.
func (in *instr) startsPair() bool {
	return in.op == opAsyncUpdate || in.op == opSend || in.op == opRecv || strings.HasSuffix(in.op.name, "-start")
}

// endsPair reports whether in needs a start or an update as its operand.
func (in *instr) endsPair() bool {
	return in.op == opAsyncUpdate || strings.HasSuffix(in.op.name, "-done")
}

// rebuild makes the value of an old instruction from the new values of its parts, nil if one is gone.
func (s *exportScope) rebuild(in *instr) *instr {
	v := s.old.values[in]
	list, ok := s.ex.up.leaves(v)
	for _, n := range list {
		ok = ok && (s.values[n] != nil || s.produce(n) != nil)
	}
	if !ok {
		return nil
	}
	n := s.assemble(v)
	if v.tuple && !s.old.named[in] {
		s.old.named[in] = true
		n.name = in.name
	}
	if compatible(n.shape, in.shape) {
		s.old.kept[in] = n
	}
	return n
}

// assemble returns an instruction with the new value of v.
func (s *exportScope) assemble(v value) *instr {
	if !v.tuple {
		return s.value(s.ex.up.newValues[v.v])
	}
	var list []*instr
	for _, e := range v.elems {
		list = append(list, s.assemble(e))
	}
	return s.tuple(list)
}

// produce returns an instruction for a value of an instruction that is kept, nil if there is none.
func (s *exportScope) produce(v *ir.Value) *instr {
	old := s.ex.up.oldValues[v]
	for _, p := range s.old.producers[old] {
		if len(p.path) == 0 {
			if n := s.native(p.in); n != nil {
				return n
			}
		}
	}
	for _, p := range s.old.producers[old] {
		if n := s.native(p.in); n != nil && len(p.path) > 0 {
			for _, i := range p.path {
				n = s.element(n, i)
			}
			return n
		}
	}
	// The value is inside of an instruction, such as a fusion, that is kept.
	if d := v.DefiningOp(); d != nil && d.Has(ir.Pure) && s.ex.up.newOps[s.ex.up.origins[d]] == d {
		for _, x := range d.Operands() {
			if s.values[x] == nil && s.produce(x) == nil {
				return nil // a dead op changed, and with it everything that uses it
			}
		}
		outer := s.op
		s.op = d
		s.translate(d)
		s.op = outer
		return s.values[v]
	}
	return nil
}

// pack returns one instruction for values: an old one if it has these values, or a tuple of the given shape.
func (s *exportScope) pack(old *instr, sh *shape, list []*ir.Value) *instr {
	if s.old != nil && old != nil {
		if have, ok := s.ex.up.leaves(s.old.values[old]); ok && slices.Equal(have, list) {
			if n := s.native(old); n != nil && compatible(n.shape, sh) {
				return n
			}
		}
	}
	in, _ := s.nested(sh, list)
	if s.old != nil && old != nil && old.op == opTuple && in.op == opTuple && !s.old.named[old] && s.old.kept[old] == nil {
		s.old.named[old] = true
		in.name = old.name
	}
	return in
}

// nested makes a value of shape sh from the first values of list.
func (s *exportScope) nested(sh *shape, list []*ir.Value) (*instr, []*ir.Value) {
	if !sh.isTuple() {
		return s.value(list[0]), list[1:]
	}
	var parts []*instr
	for _, e := range sh.elems {
		var in *instr
		in, list = s.nested(e, list)
		parts = append(parts, in)
	}
	return s.tuple(parts), list
}

// rename gives new elements of a tuple the names of the instructions that extracted the same values.
func (s *exportScope) rename(values []*ir.Value) {
	if s.old == nil {
		return
	}
	for _, v := range values {
		if v == nil {
			continue
		}
		n := s.values[v]
		for _, p := range s.old.producers[s.ex.up.oldValues[v]] {
			if n == nil || p.in.op != opGTE || len(p.path) > 0 || s.old.named[p.in] || s.old.kept[p.in] != nil {
				continue
			}
			s.old.named[p.in] = true
			n.name, s.old.kept[p.in] = p.in.name, n
			break
		}
	}
}

// update makes the new module.
func (ex *exporter) update(old *Module) {
	main, ok := fn.Lookup(ex.m, "main")
	if !ok {
		ex.fail(ex.m.Op(), "a module without a function main has no entry computation")
	}
	ex.out.entry = ex.function(main)
	entry := ex.out.entry
	same := compatible(entry.root.shape, old.entry.root.shape) && len(entry.params) == len(old.entry.params)
	for i, p := range entry.params {
		same = same && compatible(p.shape, old.entry.params[i].shape)
	}
	if !same {
		ex.out.aliases, ex.out.donors, ex.out.spmdParams, ex.out.spmdOutput = nil, nil, nil, nil
		if len(entry.params) == len(main.Type().Inputs()) {
			for i := range entry.params {
				ex.argument(main, i)
			}
		}
		ex.out.layout = entryLayoutOf(entry)
	}
	// Old computations that nothing called stay; the others stay if a new one calls them.
	called := map[*computation]bool{}
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
	reached := map[*computation]bool{}
	for _, c := range postOrder(roots, (*computation).callees, func(*computation) {}) {
		reached[c] = true
	}
	fresh := ex.out.comps
	ex.out.comps = nil
	names := map[string]bool{}
	for _, c := range old.comps {
		names[c.name] = reached[c]
	}
	add := func(c *computation) {
		if names[c.name] {
			c.name = ex.unique(c.name)
		}
		names[c.name] = true
		ex.out.comps = append(ex.out.comps, c)
	}
	fresh = slices.DeleteFunc(fresh, func(c *computation) bool { return !reached[c] })
	instead := map[*computation][]*computation{}
	for _, c := range fresh {
		instead[ex.replaced[c]] = append(instead[ex.replaced[c]], c)
	}
	for _, c := range append(slices.Clip(old.comps), nil) {
		if reached[c] {
			ex.out.comps = append(ex.out.comps, c)
		}
		for _, n := range instead[c] {
			add(n)
		}
	}
	ex.out.sortComputations()
}

func entryLayoutOf(c *computation) *entryLayout {
	l := &entryLayout{result: c.root.shape}
	for _, p := range c.params {
		l.params = append(l.params, p.shape)
	}
	return l
}
