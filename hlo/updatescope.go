package hlo

import (
	"container/heap"
	"maps"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// updated is the part of an exportScope that updates a module. In it an old instruction is one of the module that was
// imported. A plain instruction is an old instruction without ops: a copy, a tuple, an end of an asynchronous pair.
type updated struct {
	up        *update
	scope     *linkedScope // nil for a computation that comes from none
	whole     map[*ir.Op]*instance
	ids       map[uint32]*ir.Value  // values of the block by the ID of the old value; nil for an ID of several
	copies    map[copyKey][]copied  // the copies of old instructions
	where     map[*ir.Value]element // values that are parts of a tuple
	parts     map[elementKey]*instr // parts that were extracted
	from      map[*instr]*instr     // the old instruction that an instruction copies or replaces
	stands    map[*instr][]*instr   // the instructions that copy or replace an old one
	named     map[string]bool       // names of the computation
	keys      map[*instr]int        // the place of each instruction in the old computation
	at        int                   // the place of the current op
	group     *group                // the instruction that the current op comes from; nil for a new op
	waits     map[*instr][]*instr   // old instructions that an instruction waits for, besides its control predecessors
	tokens    []*instr              // old instructions that the next instruction waits for
	heirs     []heirs
	layout    map[*instr][]*instr // copies to other layouts
	rootParts map[uint32]*instr   // the operands of the old root by the IDs of their values
	lasting   []*instr            // plain instructions that stay without a use
}

// instance is one copy of all ops of an instruction.
type instance struct {
	group   *group
	ops     []*ir.Op
	found   int
	last    *ir.Op // in the order of the block
	checked bool
	ok      bool
	slots   [][]*ir.Value  // the values of the instruction's operands
	values  []*ir.Value    // of the instruction
	comps   []*computation // that replace those that it calls; nil if they are unchanged
}

// copyKey finds the copy of an old instruction with a given first value.
type copyKey struct {
	old   *instr
	first *ir.Value
}

// copied is the copy of an old instruction with its values.
type copied struct {
	in     *instr
	values []*ir.Value
}

// element is a part of the result of an instruction.
type element struct {
	in      *instr
	path    []int64
	old     *instr // the old instruction with the part, nil if there is none
	oldPath []int64
}

type elementKey struct {
	in    *instr
	index int64
}

// heirs are the instructions of ops that come from an old instruction and replace it.
type heirs struct {
	group *group
	list  []*instr
}

func (up *update) newScope() *updated {
	return &updated{up: up, copies: map[copyKey][]copied{}, where: map[*ir.Value]element{}, parts: map[elementKey]*instr{}, from: map[*instr]*instr{},
		stands: map[*instr][]*instr{}, named: map[string]bool{}, keys: map[*instr]int{}, waits: map[*instr][]*instr{}, layout: map[*instr][]*instr{}}
}

// attach says that the computation of s comes from old.
func (s *exportScope) attach(old *linkedScope) {
	if s.new != nil {
		s.new.scope = old
	}
}

// regionOf returns the scope that region i of op comes from, and its computation if the region is unchanged.
func (up *update) regionOf(op *ir.Op, r *ir.Region) (*linkedScope, *computation) {
	if up == nil || op == nil {
		return nil, nil
	}
	old, i := up.link.op(op.Origin()), slices.Index(op.Regions(), r)
	if old == nil || old.def != op.Def() || len(old.regions) != len(op.Regions()) || i < 0 || len(r.Blocks()) != 1 {
		return nil, nil
	}
	scope := old.regions[i]
	if sum := up.block(scope, r.Entry()); sum.same && len(sum.outside) == 0 {
		return scope, scope.comp
	}
	return scope, nil
}

// plain reports whether in has no ops in scope and is not a parameter.
func (scope *linkedScope) plain(in *instr) bool {
	return in.op != opParameter && scope.group(in) == nil
}

// oldParams copies the old parameters if they have the given values, and reports whether they do.
func (s *exportScope) oldParams(args []*ir.Value) bool {
	scope := s.new.scope
	if scope == nil {
		return false
	}
	origins := scope.origins(s.new.up, args)
	same := len(args) == len(scope.args)
	for i, j := range origins {
		same = same && i == j
	}
	if same {
		for _, p := range scope.comp.params {
			n := s.copyOf(p, nil, args[:p.shape.leaves()])
			s.c.params = append(s.c.params, n)
			s.setValues(n, p, args[:p.shape.leaves()])
			args = args[p.shape.leaves():]
		}
		return true
	}
	var list []element
	for _, p := range scope.comp.params {
		for _, path := range leafPaths(p.shape) {
			list = append(list, element{old: p, path: path})
		}
	}
	for i, v := range args {
		var in *instr
		if j := origins[i]; j >= 0 {
			p := list[j]
			sh := p.old.shape
			for _, k := range p.path {
				sh = sh.elems[k]
			}
			if len(p.path) == 0 {
				in = s.copyOf(p.old, nil, []*ir.Value{v})
			} else {
				in = s.param(v)
				in.shape = sh
				s.new.keys[in] = int(p.old.order)
			}
		} else {
			in = s.param(v)
			s.new.keys[in] = -1
		}
		if in.param = int64(i); len(s.c.params) == i {
			s.c.params = append(s.c.params, in)
		}
		s.values[v] = in
	}
	return true
}

// append adds in at the place of the current op.
func (s *exportScope) append(in *instr) {
	s.c.instrs = append(s.c.instrs, in)
	if s.new == nil {
		return
	}
	s.new.keys[in] = s.new.at
	if len(s.new.tokens) > 0 {
		s.new.waits[in], s.new.tokens = s.new.tokens, nil
	}
}

// copyOf adds a copy of an old instruction, with the given operands and values.
func (s *exportScope) copyOf(old *instr, operands []*instr, values []*ir.Value) *instr {
	u := s.new
	n := *old
	n.operands = operands
	n.attrs = slices.DeleteFunc(slices.Clone(old.attrs), func(a attr) bool { return a.spec == cControl })
	if u.named[n.name] {
		n.name = s.ex.unique(old.op.name)
	}
	u.named[n.name] = true
	s.append(&n)
	u.link(&n, old)
	if u.scope != nil && int(old.order) < len(u.scope.comp.instrs) && u.scope.comp.instrs[old.order] == old {
		u.keys[&n] = int(old.order)
	}
	u.remember(old, &n, values)
	return &n
}

// link says that in copies or replaces old.
func (u *updated) link(in, old *instr) {
	if u.from[in] == nil {
		u.from[in] = old
	}
	u.stands[old] = append(u.stands[old], in)
}

// remember says that in, which copies old, has the given values.
func (u *updated) remember(old, in *instr, values []*ir.Value) {
	k := copyKey{old, first(values)}
	u.copies[k] = append(u.copies[k], copied{in, values})
}

// copyWith returns the copy of old with the given values, nil if there is none.
func (u *updated) copyWith(old *instr, values []*ir.Value) *instr {
	for _, c := range u.copies[copyKey{old, first(values)}] {
		if slices.Equal(c.values, values) {
			return c.in
		}
	}
	return nil
}

func first(values []*ir.Value) *ir.Value {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

// setValues says that in, which comes from old, has the given values.
func (s *exportScope) setValues(in, old *instr, values []*ir.Value) {
	if !in.shape.isTuple() {
		if len(values) == 1 && values[0] != nil && s.values[values[0]] == nil {
			s.values[values[0]] = in
		}
		return
	}
	for i, path := range leafPaths(in.shape) {
		if i == len(values) {
			break
		}
		if v := values[i]; v != nil && s.values[v] == nil {
			if _, ok := s.new.where[v]; !ok {
				s.new.where[v] = element{in, path, old, path}
			}
		}
	}
}

// setResults says that the results of op are the parts of in. from is the part of the old instruction that each result
// comes from, -1 for none; nil if op comes from no such instruction.
func (s *exportScope) setResults(results []*ir.Value, in *instr, old *instr, from []int) {
	var oldPaths [][]int64
	if old != nil {
		oldPaths = leafPaths(old.shape)
	}
	for i, path := range leafPaths(in.shape) {
		if i == len(results) {
			break
		}
		e := element{in: in, path: path}
		if i < len(from) && from[i] >= 0 && from[i] < len(oldPaths) {
			e.old, e.oldPath = old, oldPaths[from[i]]
		}
		if len(path) == 0 {
			s.values[results[i]] = in
		} else {
			s.new.where[results[i]] = e
		}
	}
}

// extract returns the part of a result.
func (s *exportScope) extract(e element, v *ir.Value) *instr {
	cur, old := e.in, e.old
	for i, index := range e.path {
		k := elementKey{cur, index}
		var gte *instr
		if old != nil && i < len(e.oldPath) {
			for _, x := range s.new.up.usersIn(old) {
				if x.op == opGTE && attrOf[int64](x, "index") == e.oldPath[i] {
					gte = x
					break
				}
			}
		}
		old = gte
		n := s.new.parts[k]
		if n == nil {
			if gte != nil {
				var values []*ir.Value
				if i == len(e.path)-1 {
					values = []*ir.Value{v}
				}
				n = s.copyOf(gte, []*instr{cur}, values)
				n.shape = cur.shape.elems[index]
				if e.oldPath[i] != index {
					n.attrs = slices.DeleteFunc(n.attrs, func(a attr) bool { return a.spec == opGTE.attrs[0] })
					s.ex.set(n, opGTE.attrs[0], index)
				}
			} else {
				n = s.element(cur, index)
			}
			s.new.parts[k] = n
		}
		cur = n
	}
	return cur
}

// usersIn returns the users of an old instruction.
func (up *update) usersIn(in *instr) []*instr {
	if c := up.homeOf(in); c != nil {
		return up.usersOf(c, in)
	}
	return nil
}

// homeOf returns the computation of an old instruction.
func (up *update) homeOf(in *instr) *computation {
	if up.homes == nil {
		n := 0
		for _, c := range up.link.hlo.comps {
			n += len(c.instrs)
		}
		up.homes = make(map[*instr]*computation, n)
		for _, c := range up.link.hlo.comps {
			for _, x := range c.instrs {
				up.homes[x] = c
			}
		}
	}
	return up.homes[in]
}

// findInstances finds the instructions whose ops are all in b.
func (s *exportScope) findInstances(b *ir.Block) {
	u := s.new
	n := 0
	for range b.Ops() {
		n++
	}
	u.whole, u.ids = make(map[*ir.Op]*instance, n), make(map[uint32]*ir.Value, n)
	u.copies, u.from, u.stands = roomFor(u.copies, n), roomFor(u.from, n), roomFor(u.stands, n)
	u.named, u.keys, s.values = roomFor(u.named, n), roomFor(u.keys, n), roomFor(s.values, n)
	instances, ops := make([]instance, 0, n), make([]*ir.Op, 0, n)
	have := func(id uint32, v *ir.Value) {
		if _, ok := u.ids[id]; ok {
			v = nil
		}
		u.ids[id] = v
	}
	for _, v := range b.Args() {
		if id, ok := u.up.ref(v); ok {
			have(id, v)
		}
	}
	seen := make(map[*linkedOp]int, n)
	lists := make(map[*group][]*instance, n)
	for op := range b.Ops() {
		old := u.up.link.op(op.Origin())
		if old == nil || old.group == nil {
			continue
		}
		for _, v := range op.ResultList() {
			if id, ok := u.up.ref(v); ok {
				have(id, v)
			}
		}
		if !sameOp(old, op) {
			continue
		}
		g, k := old.group, seen[old]
		seen[old]++
		list := lists[g]
		if len(list) == k {
			from := len(ops)
			ops = append(ops, make([]*ir.Op, len(g.ops))...)
			instances = append(instances, instance{group: g, ops: ops[from:len(ops):len(ops)]})
			list = append(list, &instances[len(instances)-1])
			lists[g] = list
		} else if len(list) < k {
			continue
		}
		x := list[k]
		x.ops[old.place] = op
		x.found++
		x.last = op
		u.whole[op] = x
	}
}

// roomFor returns m with room for n more entries: growing step by step would move the entries several times.
func roomFor[K comparable, V any](m map[K]V, n int) map[K]V {
	out := make(map[K]V, len(m)+n)
	maps.Copy(out, m)
	return out
}

// check reports whether the instruction of x can stay as it is: the ops use equal values where they did, and no value
// that only the instruction has is needed before it.
func (s *exportScope) check(x *instance) bool {
	if x.checked {
		return x.ok
	}
	x.checked = true
	g, u := x.group, s.new
	if x.found != len(g.ops) {
		return false
	}
	var bound bindings
	for i, old := range g.ops {
		op := x.ops[i]
		for j, ref := range old.operands {
			if _, ok := bound.set(ref, op.Operand(j)); !ok {
				return false
			}
		}
		same := u.up.sameCallees(op)
		for j, r := range old.regions {
			if len(op.Region(j).Blocks()) != 1 {
				return false
			}
			sum := u.up.block(r, op.Region(j).Entry())
			same = same && sum.same
			for _, y := range sum.outside {
				if _, ok := bound.set(y.old, y.v); !ok {
					return false
				}
			}
		}
		if !same && !s.rebuildable(x) {
			return false
		}
		for j, v := range op.ResultList() {
			bound.set(old.result+uint32(j), v)
		}
		if len(g.ops) == 1 || op.Has(ir.Pure) {
			continue
		}
		for _, v := range op.ResultList() {
			for use := range v.Uses() {
				o := use.Owner()
				for o != nil && o.Block() != op.Block() {
					o = o.Parent()
				}
				if o != nil && u.whole[o] != x && o.IsBefore(x.last) {
					return false
				}
			}
		}
	}
	value := func(ref uint32) (*ir.Value, bool) {
		if v := bound.get(ref); v != nil {
			return v, true
		}
		v := u.ids[ref]
		if v == nil || v.DefiningOp() != nil && !v.DefiningOp().IsBefore(x.last) {
			return nil, false
		}
		return v, true
	}
	for _, o := range g.in.operands {
		var list []*ir.Value
		for _, old := range g.scope.values[o.order].flat() {
			var v *ir.Value
			if old != nil {
				var ok bool
				if v, ok = value(uint32(old.ID())); !ok {
					return false
				}
			}
			list = append(list, v)
		}
		x.slots = append(x.slots, list)
	}
	for _, old := range g.scope.values[g.in.order].flat() {
		var v *ir.Value
		if old != nil {
			v, _ = value(uint32(old.ID()))
		}
		x.values = append(x.values, v)
	}
	x.ok = x.comps == nil || s.fits(x)
	return x.ok
}

// rebuildable makes new computations for the instruction of x, whose ops changed inside. It reports whether the
// instruction can stay with them.
func (s *exportScope) rebuildable(x *instance) bool {
	g := x.group
	if len(g.ops) != 1 || g.in.op == opWhile || g.in.op == opConditional || g.in.op == opFusion || g.in.isAsync() || len(g.in.callees()) == 0 {
		return false
	}
	op := x.ops[0]
	old := g.ops[0]
	outer := s.op
	defer func() { s.op = outer }()
	s.op = op
	switch {
	case len(old.regions) > 0:
		for i := range old.regions {
			if len(captures(op.Regions()[i:i+1])) > 0 {
				return false
			}
		}
		for _, r := range op.Regions() {
			x.comps = append(x.comps, s.region(r))
		}
	default:
		x.comps = s.callees(op)
	}
	return len(x.comps) == len(g.in.callees())
}

// fits reports whether the new computations of x have parameters and results of the types of the old ones.
func (s *exportScope) fits(x *instance) bool {
	for i, c := range x.group.in.callees() {
		n := x.comps[i]
		if len(n.params) != len(c.params) || !compatible(n.root.shape, c.root.shape) || x.group.in.op == opCall && !sameShape(n.root.shape, c.root.shape) {
			return false
		}
		for j, p := range c.params {
			if !sameShape(n.params[j].shape, p.shape) {
				return false
			}
		}
	}
	return true
}

// keep adds a copy of the instruction of x.
func (s *exportScope) keep(x *instance) {
	u, g := s.new, x.group
	s.op = nil
	s.place(g)
	for _, p := range g.in.predecessors() {
		s.pin(g.scope, p)
	}
	operands := make([]*instr, len(g.in.operands))
	exact := !g.in.op.blind || s.ex.out.scheduled
	for i, o := range g.in.operands {
		operands[i] = s.resolve(g.scope, o, x.slots[i], exact)
	}
	n := s.copyOf(g.in, operands, x.values)
	if x.comps != nil {
		comps := x.comps
		for i, a := range n.attrs {
			switch v := a.value.(type) {
			case *computation:
				n.attrs[i].value, comps = comps[0], comps[1:]
			case []*computation:
				n.attrs[i].value, comps = comps[:len(v):len(v)], comps[len(v):]
			}
		}
	}
	if !g.in.startsPair() {
		s.setValues(n, g.in, x.values)
		return
	}
	// The ends of a pair have the values.
	bound := map[uint32]*ir.Value{}
	for i, old := range g.ops {
		for j, v := range x.ops[i].ResultList() {
			bound[old.result+uint32(j)] = v
		}
	}
	for i, o := range g.in.operands {
		for j, old := range g.scope.values[o.order].flat() {
			if old != nil {
				bound[uint32(old.ID())] = x.slots[i][j]
			}
		}
	}
	var ends func(start, n *instr)
	ends = func(start, n *instr) {
		for _, end := range u.up.usersOf(g.scope.comp, start) {
			if !end.endsPair() || end.operands[0] != start || len(end.operands) != 1 {
				continue
			}
			var values []*ir.Value
			for _, old := range g.scope.values[end.order].flat() {
				if old == nil {
					values = append(values, nil)
				} else {
					values = append(values, bound[uint32(old.ID())])
				}
			}
			m := s.copyOf(end, []*instr{n}, values)
			if end.op == opAsyncUpdate {
				ends(end, m)
			} else {
				s.setValues(m, end, values)
			}
		}
	}
	ends(g.in, n)
}

// place says that the next instructions come from g.
func (s *exportScope) place(g *group) {
	s.new.group = g
	if g != nil && g.scope == s.new.scope {
		s.new.at = int(g.in.order)
	}
}

// pin adds a copy of a plain instruction that another one waits for, if its values are still there.
func (s *exportScope) pin(scope *linkedScope, in *instr) {
	if !scope.plain(in) || len(s.new.stands[in]) > 0 || in.endsPair() {
		return
	}
	var values []*ir.Value
	for _, old := range scope.values[in.order].flat() {
		if old == nil {
			return
		}
		v := s.new.ids[uint32(old.ID())]
		if v == nil || s.values[v] == nil && s.new.where[v].in == nil {
			return
		}
		values = append(values, v)
	}
	s.resolve(scope, in, values, true)
}

// resolve returns an instruction with the given values in place of an old instruction of scope: a copy of it, if it is
// a plain one. If it is exact, the result has the old layout and memory space.
func (s *exportScope) resolve(scope *linkedScope, in *instr, values []*ir.Value, exact bool) *instr {
	u := s.new
	if n := u.copyWith(in, values); n != nil {
		return n
	}
	if !scope.plain(in) {
		return s.fit(in.shape, values, exact)
	}
	switch in.op.name {
	case "tuple":
		list := make([]*instr, len(in.operands))
		rest := values
		for i, o := range in.operands {
			n := o.shape.leaves()
			list[i] = s.resolve(scope, o, rest[:n:n], true)
			rest = rest[n:]
		}
		return s.copyOf(in, list, values)
	case "get-tuple-element":
		if from := in.operands[0]; from.op == opTuple {
			return s.resolve(scope, from.operands[attrOf[int64](in, "index")], values, exact)
		}
	case "copy", "domain", "bitcast", "opt-barrier":
		if sameShape(in.shape, in.operands[0].shape) || in.op.name == "copy" {
			o := s.resolve(scope, in.operands[0], values, in.op.name != "copy")
			return s.copyOf(in, []*instr{o}, values)
		}
	case "copy-done":
		start := in.operands[0]
		if start.op.name == "copy-start" {
			o := s.resolve(scope, start.operands[0], values, true)
			return s.copyOf(in, []*instr{s.copyOf(start, []*instr{o}, nil)}, values)
		}
	case "add-dependency":
		o := s.resolve(scope, in.operands[0], values, exact)
		for _, t := range u.stands[in.operands[1]] {
			if t.shape == tokenShape || t.shape.elem == tokenType {
				return s.copyOf(in, []*instr{o, t}, values)
			}
		}
		u.tokens = append(u.tokens, in.operands[1])
		return o
	}
	n := s.fit(in.shape, values, exact)
	if n.shape.isTuple() {
		u.remember(in, n, values)
	}
	return n
}

// fit returns an instruction with the given values. If it is exact, it has the given shape, layout and memory space.
func (s *exportScope) fit(sh *shape, values []*ir.Value, exact bool) *instr {
	if sh.isTuple() {
		var list []*instr
		for _, e := range sh.elems {
			n := e.leaves()
			list = append(list, s.fit(e, values[:n:n], true))
			values = values[n:]
		}
		return s.tuple(list)
	}
	n := s.value(values[0])
	if exact && !sameShape(n.shape, sh) && compatible(n.shape, sh) {
		n = s.relayout(n, sh, values[0])
	}
	return n
}

// relayout copies in, which has the value v, to the layout and the memory space of sh.
func (s *exportScope) relayout(in *instr, sh *shape, v *ir.Value) *instr {
	u := s.new
	for _, n := range u.layout[in] {
		if sameShape(n.shape, sh) {
			return n
		}
	}
	var n *instr
	if old := u.from[in]; old != nil && u.scope != nil && u.up.homeOf(old) == u.scope.comp && u.copyWith(old, []*ir.Value{v}) == in {
		// The old module may have such a copy.
		for _, x := range u.up.usersIn(old) {
			if x.op.name == "copy-start" {
				for _, y := range u.up.usersIn(x) {
					if y.op.name == "copy-done" {
						x = y
						break
					}
				}
			}
			if (x.op.name == "copy" || x.op.name == "copy-done") && sameShape(x.shape, sh) {
				n = s.resolve(u.scope, x, []*ir.Value{v}, true)
				break
			}
		}
	}
	if n == nil {
		n = s.add(opcodes["copy"], sh, []*instr{in})
	}
	u.layout[in] = append(u.layout[in], n)
	return n
}

// produce returns an instruction for a value that no instruction has yet, nil if there is none.
func (s *exportScope) produce(v *ir.Value) *instr {
	u := s.new
	if e, ok := u.where[v]; ok {
		n := s.extract(e, v)
		s.values[v] = n
		return n
	}
	// The value is inside a fusion that stays, or the op is dead or later: compute the value again.
	if d := v.DefiningOp(); d != nil && d.Has(ir.Pure) && u.whole != nil && d.Block() == s.body {
		outer, group := s.op, u.group
		s.op, u.group = d, nil
		s.translate(d)
		s.op, u.group = outer, group
		return s.values[v]
	}
	return nil
}

// relayoutTo returns in, which has the value v, in the layout of sh.
func (s *exportScope) relayoutTo(in *instr, sh *shape, v *ir.Value) *instr {
	if sameShape(in.shape, sh) || !compatible(in.shape, sh) {
		return in
	}
	return s.relayout(in, sh, v)
}

// alignFromEnd returns the part of old that each part of list probably is: the parts of equal types, from the last to
// the first, because passes add values in front. Only names may depend on it.
func alignFromEnd(old, list []*shape) []int {
	from := make([]int, len(list))
	j := len(old) - 1
	for i, sh := range slices.Backward(list) {
		from[i] = -1
		if j >= 0 && compatible(old[j], sh) {
			from[i] = j
			j--
		}
	}
	return from
}

// plainOperand returns the copy of a plain instruction that the old instruction of the current op used instead of in,
// which has the value v, or in if there is none.
func (s *exportScope) plainOperand(in *instr, v *ir.Value) *instr {
	u := s.new
	old := u.from[in]
	if old == nil || u.group == nil || len(u.group.in.operands) > 64 {
		return in
	}
	scope := u.group.scope
	for _, o := range u.group.in.operands {
		x := o
		for scope.plain(x) && !x.shape.isTuple() {
			if n := x.op.name; n == "copy-done" && x.operands[0].op.name == "copy-start" {
				x = x.operands[0].operands[0]
			} else if n == "copy" || n == "domain" || n == "add-dependency" {
				x = x.operands[0]
			} else {
				break
			}
		}
		if x == old && x != o {
			return s.resolve(scope, o, []*ir.Value{v}, true)
		}
	}
	return in
}

// updateBlock translates the ops of a block.
func (s *exportScope) updateBlock(b *ir.Block) {
	u := s.new
	s.findInstances(b)
	logs := map[*linkedOp]bool{}
	for op := range b.Ops() {
		if op.Next() == nil && op.Has(ir.Terminator) {
			break
		}
		if x := u.whole[op]; x != nil && s.check(x) {
			if op == x.last && (x.group.scope == u.scope || slices.ContainsFunc(x.ops, s.ex.isLive)) {
				s.keep(x)
			}
			continue
		}
		if !s.ex.isLive(op) || s.computed(op) {
			continue
		}
		if s.keepsLog(op) {
			logs[u.up.link.op(op.Origin())] = true
			continue
		}
		s.op = op
		var g *group
		if old := u.up.link.op(op.Origin()); old != nil {
			g = old.group
		}
		s.place(g)
		first := len(s.c.instrs)
		s.translate(op)
		if g != nil {
			list := slices.Clone(s.c.instrs[first:])
			for _, n := range list {
				if n.op == g.in.op && n.op.blind && compatible(n.shape, g.in.shape) {
					n.shape = g.in.shape
				}
			}
			u.heirs = append(u.heirs, heirs{g, list})
		}
	}
	u.group = nil
	s.droppedLogs(logs)
}

// computed reports whether all results of op have instructions, because an op before it needed them.
func (s *exportScope) computed(op *ir.Op) bool {
	if op.NumResults() == 0 {
		return false
	}
	for _, v := range op.ResultList() {
		if s.values[v] == nil {
			if _, ok := s.new.where[v]; !ok {
				return false
			}
		}
	}
	return true
}

// updatedRoot makes the results the root. It keeps the structure and the layouts of the old root if the results have
// the old types.
func (s *exportScope) updatedRoot(results []*ir.Value) {
	u := s.new
	scope := u.scope
	if scope == nil {
		s.plainRoot(results)
		return
	}
	s.op = nil
	u.at, u.group = len(scope.comp.instrs), nil
	old := scope.comp.root
	shapes := leafShapes(old.shape)
	same := len(shapes) == len(results)
	for i, v := range results {
		same = same && compatible(shapes[i], s.ex.shapeOf(nil, v.Type()))
	}
	if same {
		s.c.root = s.resolve(scope, old, results, true)
		return
	}
	list := make([]*instr, len(results))
	for i, v := range results {
		list[i] = s.rootPart(scope, old, v)
	}
	if len(list) == 1 && !old.shape.isTuple() {
		s.c.root = list[0]
		return
	}
	s.c.root = s.tuple(list)
	if old.op == opTuple {
		s.inherit(s.c.root, old)
	}
}

// rootPart returns an instruction for v as a part of the root, in the layout that it had there.
func (s *exportScope) rootPart(scope *linkedScope, old *instr, v *ir.Value) *instr {
	id, ok := s.new.up.ref(v)
	if !ok || old.op != opTuple || !scope.plain(old) {
		return s.value(v)
	}
	if s.new.rootParts == nil {
		s.new.rootParts = map[uint32]*instr{}
		for _, o := range old.operands {
			if x := scope.values[o.order]; !x.tuple && x.v != nil {
				s.new.rootParts[uint32(x.v.ID())] = o
			}
		}
	}
	if o := s.new.rootParts[id]; o != nil && compatible(o.shape, s.ex.shapeOf(nil, v.Type())) {
		return s.resolve(scope, o, []*ir.Value{v}, true)
	}
	return s.value(v)
}

// inherit gives in, which replaces old, the name and the metadata of old, and facts that have no effect.
func (s *exportScope) inherit(in, old *instr) {
	u := s.new
	if u.from[in] != nil && u.from[in] != old {
		return
	}
	u.link(in, old)
	s.takeName(in, old)
	if u.scope != nil && u.up.homeOf(old) == u.scope.comp {
		u.keys[in] = int(old.order)
	}
	for _, a := range old.attrs {
		switch a.spec {
		case aChannel:
			if a.value == int64(0) && in.get(aChannel) == nil { // StableHLO has 0 for no channel, too
				s.ex.set(in, a.spec, a.value)
			}
		case cMetadata, cStatistics, cReplication:
			s.ex.set(in, a.spec, a.value)
		case cOrigin: // it has the structure of the type
			if compatible(in.shape, old.shape) {
				s.ex.set(in, a.spec, a.value)
			}
		}
	}
}

// takeName gives in the name of old, unless another instruction has it.
func (s *exportScope) takeName(in, old *instr) {
	if !s.new.named[old.name] {
		s.new.named[old.name] = true
		in.name = old.name
	}
}

// finishUpdate gives the instructions names, orders them, and adds control predecessors.
func (s *exportScope) finishUpdate() {
	u := s.new
	for _, h := range u.heirs {
		s.settle(h)
	}
	s.keepUnused()
	s.dropUnused()
	s.orderEdges()
	used := map[string]bool{}
	for _, in := range s.c.instrs {
		if used[in.name] {
			in.name = s.ex.unique(in.op.name)
		}
		used[in.name] = true
	}
	s.sort()
	if u.scope != nil {
		old := u.scope.comp
		s.c.name, s.c.thread, s.c.rest = old.name, old.thread, old.rest
		u.up.replaced[s.c] = old
	}
}

// settle finds the instruction that replaces the old one: the last one with its opcode, or else the last one that does
// more than to extract a part.
func (s *exportScope) settle(h heirs) {
	old := h.group.in
	var same, other *instr
	for _, in := range h.list {
		switch {
		case in.op == old.op && s.new.from[in] == nil:
			same = in
		case in.op != opTuple && in.op != opGTE && in.op != opConstant && s.new.from[in] == nil:
			other = in
		}
	}
	switch {
	case same != nil:
		s.inherit(same, old)
	case other != nil && len(s.new.stands[old]) == 0:
		s.new.link(other, old)
		if other.op == opCustomCall { // a hook
			s.takeName(other, old)
		}
		for _, a := range old.attrs {
			if a.spec == cStatistics {
				s.ex.set(other, a.spec, a.value)
			}
		}
	}
	if !old.startsPair() || same == nil {
		return
	}
	for _, end := range s.new.up.usersIn(old) { // the end has no op of its own
		if end.endsPair() && end.operands[0] == old {
			for _, in := range h.list {
				if in.op == end.op && s.new.from[in] == nil {
					s.inherit(in, end)
					break
				}
			}
		}
	}
}

// keepUnused copies the plain instructions that had no use before either.
func (s *exportScope) keepUnused() {
	u := s.new
	if u.scope == nil {
		return
	}
	old := u.scope.comp
	used := map[*instr]bool{old.root: true}
	for _, in := range slices.Backward(old.instrs) {
		if used[in] || !u.scope.plain(in) {
			for _, o := range in.operands {
				used[o] = true
			}
		}
	}
	u.at = len(old.instrs)
	for _, in := range old.instrs {
		if used[in] || !u.scope.plain(in) || len(u.stands[in]) > 0 || in.endsPair() || in.startsPair() {
			continue
		}
		var operands []*instr
		for _, o := range in.operands {
			if list := u.stands[o]; len(list) == 1 && sameShape(list[0].shape, o.shape) {
				operands = append(operands, list[0])
			}
		}
		if len(operands) == len(in.operands) {
			u.lasting = append(u.lasting, s.copyOf(in, operands, nil))
		}
	}
}

// dropUnused drops copies, tuples and extracted parts without a use.
func (s *exportScope) dropUnused() {
	u := s.new
	used := map[*instr]bool{s.c.root: true}
	for _, in := range u.lasting {
		used[in] = true
	}
	keep := make([]bool, len(s.c.instrs))
	for i, in := range slices.Backward(s.c.instrs) {
		switch in.op.name {
		case "tuple", "get-tuple-element", "copy", "add-dependency", "domain", "copy-done", "copy-start", "bitcast":
			keep[i] = used[in] || in.op.name == "bitcast" && !sameShape(in.shape, in.operands[0].shape)
		default:
			keep[i] = true
		}
		if keep[i] {
			for _, o := range in.operands {
				used[o] = true
			}
		}
	}
	list := s.c.instrs[:0]
	for i, in := range s.c.instrs {
		if keep[i] {
			list = append(list, in)
			continue
		}
		if old := u.from[in]; old != nil {
			u.stands[old] = slices.DeleteFunc(u.stands[old], func(x *instr) bool { return x == in })
		}
	}
	s.c.instrs = list
}

// orderEdges adds control predecessors: those of the old instructions. The edges of an instruction that is gone join
// its predecessors to its successors.
func (s *exportScope) orderEdges() {
	u := s.new
	if !u.up.link.order {
		return
	}
	number := make(map[*instr]int, len(s.c.instrs))
	for i, in := range s.c.instrs {
		number[in] = i
	}
	for i, in := range s.c.instrs {
		old := u.from[in]
		if old == nil && len(u.waits[in]) == 0 {
			continue
		}
		var list []*instr
		seen := map[*instr]bool{}
		var precede func(x *instr)
		precede = func(x *instr) {
			if seen[x] {
				return
			}
			seen[x] = true
			early := slices.ContainsFunc(u.stands[x], func(n *instr) bool { return number[n] < i })
			for _, n := range u.stands[x] {
				if number[n] > i && early { // in another trip of an unrolled loop
					continue
				}
				if n != in && !slices.Contains(list, n) && !slices.Contains(in.operands, n) && (number[n] < i || !dependsOn(n, in)) {
					list = append(list, n)
				}
			}
			if len(u.stands[x]) > 0 {
				return
			}
			for _, p := range x.predecessors() {
				precede(p)
			}
			if u.up.isPlain(x) {
				for _, o := range x.operands {
					precede(o)
				}
			}
		}
		var wait func(x *instr)
		wait = func(x *instr) {
			for _, p := range x.predecessors() {
				precede(p)
			}
			for _, o := range x.operands {
				if u.up.isPlain(o) && len(u.stands[o]) == 0 {
					wait(o)
				}
			}
		}
		if old != nil {
			wait(old)
		}
		for _, x := range u.waits[in] {
			precede(x)
		}
		if len(list) > 0 {
			s.ex.set(in, cControl, list)
		}
	}
}

// isPlain reports whether an old instruction only passes on its operands.
func (up *update) isPlain(in *instr) bool {
	switch in.op.name {
	case "tuple", "get-tuple-element", "copy", "domain", "add-dependency", "copy-start":
		return true
	}
	return in.endsPair()
}

// dependsOn reports whether a needs b.
func dependsOn(a, b *instr) bool {
	seen := map[*instr]bool{}
	list := []*instr{a}
	for len(list) > 0 {
		in := list[len(list)-1]
		list = list[:len(list)-1]
		if in == b {
			return true
		}
		if !seen[in] {
			seen[in] = true
			list = append(append(list, in.operands...), in.predecessors()...)
		}
	}
	return false
}

// sort orders the instructions: operands, control predecessors and earlier effects first, then the order of the old
// computation.
func (s *exportScope) sort() {
	if !s.sortBy(true) {
		s.sortBy(false)
	}
}

// sortBy is sort. If effects is set, instructions with effects keep their order. It reports whether an order exists.
func (s *exportScope) sortBy(effects bool) bool {
	index := make(map[*instr]int, len(s.c.instrs))
	for i, in := range s.c.instrs {
		index[in] = i
	}
	waiting := make([]int, len(s.c.instrs))
	users := make([][]int, len(s.c.instrs))
	wait := func(i, j int) {
		waiting[i]++
		users[j] = append(users[j], i)
	}
	last := -1 // with an effect
	for i, in := range s.c.instrs {
		for _, list := range [][]*instr{in.operands, in.predecessors()} {
			for _, o := range list {
				if j, ok := index[o]; ok {
					wait(i, j)
				}
			}
		}
		if effects && in.hasEffects() {
			if last >= 0 {
				wait(i, last)
			}
			last = i
		}
	}
	q := &readyQueue{}
	for i, in := range s.c.instrs {
		if waiting[i] == 0 {
			q.items = append(q.items, ready{s.new.keys[in], i})
		}
	}
	heap.Init(q)
	sorted := make([]*instr, 0, len(s.c.instrs))
	for len(q.items) > 0 {
		i := heap.Pop(q).(ready).index
		sorted = append(sorted, s.c.instrs[i])
		for _, j := range users[i] {
			if waiting[j]--; waiting[j] == 0 {
				heap.Push(q, ready{s.new.keys[s.c.instrs[j]], j})
			}
		}
	}
	if len(sorted) < len(s.c.instrs) {
		return false
	}
	s.c.instrs = sorted
	return true
}

// hasEffects reports whether in may contain a hook or communicate: the order of such instructions is the program order
// of the effects.
func (in *instr) hasEffects() bool {
	switch in.op {
	case opCustomCall, opWhile, opConditional, opCall, opSend, opRecv, opAsyncStart:
		return true
	}
	return in.op.name == "infeed" || in.op.name == "outfeed"
}

// ready is an instruction whose operands are placed.
type ready struct{ key, index int }

type readyQueue struct{ items []ready }

func (q *readyQueue) Len() int { return len(q.items) }
func (q *readyQueue) Less(i, j int) bool {
	a, b := q.items[i], q.items[j]
	return a.key < b.key || a.key == b.key && a.index < b.index
}
func (q *readyQueue) Swap(i, j int) { q.items[i], q.items[j] = q.items[j], q.items[i] }
func (q *readyQueue) Push(x any)    { q.items = append(q.items, x.(ready)) }
func (q *readyQueue) Pop() any {
	x := q.items[len(q.items)-1]
	q.items = q.items[:len(q.items)-1]
	return x
}

// startsPair reports whether in passes its value to an update or an end alone.
func (in *instr) startsPair() bool {
	return in.op == opAsyncUpdate || in.op == opSend || in.op == opRecv || strings.HasSuffix(in.op.name, "-start")
}

// endsPair reports whether in needs a start or an update as its operand.
func (in *instr) endsPair() bool {
	return in.op == opAsyncUpdate || strings.HasSuffix(in.op.name, "-done")
}
