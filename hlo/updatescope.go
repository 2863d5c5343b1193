package hlo

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// updated is the part of an exportScope that updates a module. In it an old instruction is one of the module that was
// imported. A plain instruction is an old instruction without ops: a copy, a tuple, an end of an asynchronous pair.
//
// Facts about an old or a new instruction are in a record, which its order finds. Maps hold only what few instructions
// have.
type updated struct {
	up        *update
	scope     *linkedScope          // nil for a computation that comes from none
	number    uint32                // of the scope, in tables
	olds      []oldRecord           // of the instructions of scope, by their order
	others    map[*instr]*oldRecord // of instructions of other computations
	fresh     []newRecord           // of the instructions of the computation, by their order
	names     map[string]bool       // names of the computation that come from old ones; nil as long as records say it
	whole     []*instance           // the instance of each op of the block that is not alone, nil for none
	single    instance              // of an op that is alone
	copies    map[copyKey][]copied  // the copies of old instructions besides the first ones
	where     map[*ir.Value]element // values that are parts of a tuple
	parts     map[elementKey]*instr // parts that were extracted
	at        int                   // the place of the current op
	group     *group                // the instruction that the current op comes from; nil for a new op
	waits     map[*instr][]*instr   // old instructions that an instruction waits for, besides its control predecessors
	tokens    []*instr              // old instructions that the next instruction waits for
	heirs     []heirs
	layout    map[*instr][]*instr // copies to other layouts
	rootParts map[uint32]*instr   // the operands of the old root by the origins of their values
	lasting   []*instr            // plain instructions that stay without a use
}

// oldRecord is what a computation under construction has for an old instruction.
type oldRecord struct {
	stands    []*instr  // the instructions that copy or replace it
	copied    copied    // the first copy
	instances *instance // the first copy of its ops
	more      bool      // updated.copies has other copies
	named     bool      // an instruction has its name
}

// newRecord is what is known about an instruction of a computation under construction.
type newRecord struct {
	from *instr // the old instruction that it copies or replaces, nil for none
	key  int32  // its place in the old computation
}

// instance is one copy of all ops of an instruction.
type instance struct {
	group       *group
	next        *instance // the next copy of the same ops
	ops         []*ir.Op
	last        *ir.Op // in the order of the block
	found       int
	checked, ok bool
	slots       []*ir.Value    // the values of the instruction's operands, one after the other
	values      []*ir.Value    // of the instruction
	comps       []*computation // that replace those that it calls; nil if they are unchanged
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

// own returns the record of an old instruction of the computation that u comes from, nil for another instruction.
func (u *updated) own(old *instr) *oldRecord {
	if u.scope == nil || !u.scope.comp.has(old) {
		return nil
	}
	if u.olds == nil {
		u.olds = make([]oldRecord, len(u.scope.comp.instrs))
	}
	return &u.olds[old.order]
}

// record returns the record of an old instruction.
func (u *updated) record(old *instr) *oldRecord {
	r := u.own(old)
	if r == nil {
		if r = u.others[old]; r == nil {
			r = &oldRecord{}
			store(&u.others, old, r)
		}
	}
	return r
}

// stands returns the instructions that copy or replace old.
func (u *updated) stands(old *instr) []*instr { return u.record(old).stands }

// from returns the old instruction that in copies or replaces, nil for none.
func (u *updated) from(in *instr) *instr { return u.fresh[in.order].from }

// claim gives an instruction the name of old. It reports whether no other instruction has the name.
func (u *updated) claim(old *instr) bool {
	r := u.own(old)
	if u.names == nil && r != nil && !u.up.repeats[u.scope.comp] {
		claimed := !r.named
		r.named = true
		return claimed
	}
	if u.names == nil {
		u.names = map[string]bool{}
		for i := range u.olds {
			if u.olds[i].named {
				u.names[u.scope.comp.instrs[i].name] = true
			}
		}
	}
	claimed := !u.names[old.name]
	u.names[old.name] = true
	return claimed
}

// attach says that the computation of s comes from old.
func (s *exportScope) attach(old *linkedScope) {
	if s.new != nil {
		s.new.scope = old
	}
}

// regionOf returns the scope that r comes from, and its computation if r is unchanged.
func (up *update) regionOf(r *ir.Region) (*linkedScope, *computation) {
	if up == nil {
		return nil, nil
	}
	op := r.Op()
	old, i := up.link.op(op.Origin()), slices.Index(op.Regions(), r)
	if old == nil || len(old.regions) != len(op.Regions()) || len(r.Blocks()) != 1 {
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
				s.new.setKey(in, int(p.old.order))
			}
		} else {
			in = s.param(v)
			s.new.setKey(in, -1)
		}
		if in.param = int64(i); len(s.c.params) == i {
			s.c.params = append(s.c.params, in)
		}
		s.setValue(v, in)
	}
	return true
}

// append adds in at the place of the current op.
func (s *exportScope) append(in *instr) {
	in.order = int32(len(s.c.instrs))
	s.c.instrs = append(s.c.instrs, in)
	u := s.new
	if u == nil {
		return
	}
	u.fresh = append(u.fresh, newRecord{key: int32(u.at)})
	if len(u.tokens) > 0 {
		store(&u.waits, in, u.tokens)
		u.tokens = nil
	}
}

// setKey sets the place of in in the old computation.
func (u *updated) setKey(in *instr, key int) { u.fresh[in.order].key = int32(key) }

// copyOf adds a copy of an old instruction, with the given operands and values.
func (s *exportScope) copyOf(old *instr, operands []*instr, values []*ir.Value) *instr {
	u := s.new
	n := s.ex.slabs.instrs.one()
	*n = *old
	n.operands = operands
	n.attrs = slices.Clip(old.attrs)
	if old.get(cControl) != nil {
		n.attrs = slices.DeleteFunc(slices.Clone(old.attrs), func(a attr) bool { return a.spec == cControl })
	}
	if !u.claim(old) {
		n.name = s.ex.unique(old.op.name)
	}
	s.append(n)
	u.link(n, old)
	if u.own(old) != nil {
		u.setKey(n, int(old.order))
	}
	u.remember(old, n, values)
	return n
}

// link says that in copies or replaces old.
func (u *updated) link(in, old *instr) {
	if r := &u.fresh[in.order]; r.from == nil {
		r.from = old
	}
	r := u.record(old)
	if r.stands == nil {
		r.stands = u.up.ex.slabs.pointers.take(1)[:0]
	}
	r.stands = append(r.stands, in)
}

// remember says that in, which copies old, has the given values.
func (u *updated) remember(old, in *instr, values []*ir.Value) {
	r := u.record(old)
	if r.copied.in == nil {
		r.copied = copied{in, values}
		return
	}
	r.more = true
	k := copyKey{old, first(values)}
	store(&u.copies, k, append(u.copies[k], copied{in, values}))
}

// copyWith returns the copy of old with the given values, nil if there is none.
func (u *updated) copyWith(old *instr, values []*ir.Value) *instr {
	r := u.record(old)
	if r.copied.in != nil && slices.Equal(r.copied.values, values) {
		return r.copied.in
	}
	if r.more {
		for _, c := range u.copies[copyKey{old, first(values)}] {
			if slices.Equal(c.values, values) {
				return c.in
			}
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
		if v := values[0]; v != nil && s.instrOf(v) == nil {
			s.setValue(v, in)
		}
		return
	}
	for i, path := range leafPaths(in.shape) {
		if v := values[i]; v != nil && s.instrOf(v) == nil {
			if _, ok := s.new.where[v]; !ok {
				store(&s.new.where, v, element{in, path, old, path})
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
	for i, path := range s.pathsOf(in.shape, results) {
		e := element{in: in, path: path}
		if i < len(from) && from[i] >= 0 {
			e.old, e.oldPath = old, oldPaths[from[i]]
		}
		if len(path) == 0 {
			s.setValue(results[i], in)
		} else {
			store(&s.new.where, results[i], e)
		}
	}
}

// bindUpdated makes the results of op the parts of in, which have the names of the parts of the old instruction that in
// replaces: that of the current op, or the end of its pair.
func (s *exportScope) bindUpdated(op *ir.Op, in *instr) {
	var old *instr
	if g := s.new.group; g != nil {
		if old = g.in; in.endsPair() {
			old = s.new.endOf(old)
		}
	}
	if old == nil || old.op != in.op {
		s.setResults(op.ResultList(), in, nil, nil)
		return
	}
	s.setResults(op.ResultList(), in, old, alignFromEnd(leafShapes(old.shape), leafShapes(in.shape)))
}

// endOf returns the end of the pair that an old instruction starts, nil if there is none.
func (u *updated) endOf(start *instr) *instr {
	for _, x := range u.usersIn(start) {
		if x.endsPair() {
			return x
		}
	}
	return nil
}

// pathsOf returns the index of the part of sh that each value is: the next part without parts, or a tuple of its type.
func (s *exportScope) pathsOf(sh *shape, values []*ir.Value) [][]int64 {
	var list [][]int64
	var walk func(sh *shape, path []int64)
	walk = func(sh *shape, path []int64) {
		if len(list) == len(values) {
			return
		}
		v := values[len(list)]
		if !sh.isTuple() || sameTypes(sh, s.ex.shapeOf(s.op, v.Type())) {
			list = append(list, path)
			return
		}
		for i, e := range sh.elems {
			walk(e, append(slices.Clip(path), int64(i)))
		}
	}
	walk(sh, nil)
	return list
}

// isTupleValue reports whether v has the type of a tuple. Import makes no such value, but a pass may.
func isTupleValue(v *ir.Value) bool {
	_, ok := v.Type().(*ir.TupleType)
	return ok
}

// extract returns the part of a result.
func (s *exportScope) extract(e element, v *ir.Value) *instr {
	cur, old := e.in, e.old
	for i, index := range e.path {
		k := elementKey{cur, index}
		var gte *instr
		if old != nil && i < len(e.oldPath) {
			gte = s.new.elementIn(old, e.oldPath[i])
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
					s.ex.set(n, opGTE.attrs[0], index)
				}
			} else {
				n = s.element(cur, index)
			}
			store(&s.new.parts, k, n)
		}
		cur = n
	}
	return cur
}

// usersIn returns the users of an old instruction.
func (u *updated) usersIn(in *instr) []*instr {
	if c := u.homeOf(in); c != nil {
		return u.up.usersOf(c, in)
	}
	return nil
}

// elementIn returns the first get-tuple-element of an old instruction with an index, nil if there is none.
func (u *updated) elementIn(in *instr, index int64) *instr {
	list, ok := u.up.elements[in]
	if !ok {
		list = map[int64]*instr{}
		for _, x := range slices.Backward(u.usersIn(in)) {
			if x.op == opGTE {
				list[attrOf[int64](x, "index")] = x
			}
		}
		store(&u.up.elements, in, list)
	}
	return list[index]
}

// homeOf returns the computation of an old instruction.
func (u *updated) homeOf(in *instr) *computation {
	up := u.up
	if u.scope != nil && u.scope.comp.has(in) {
		return u.scope.comp
	}
	if up.homes == nil {
		up.homes = map[*instr]*computation{}
		for _, c := range up.link.hlo.comps {
			for _, x := range c.instrs {
				up.homes[x] = c
			}
		}
	}
	return up.homes[in]
}

// has reports whether in is an instruction of c.
func (c *computation) has(in *instr) bool {
	return int(in.order) < len(c.instrs) && c.instrs[in.order] == in
}

// valueOf returns the value of the block that comes from the old value with the given ID, nil if there is none or more
// than one.
func (s *exportScope) valueOf(id uint32) *ir.Value {
	v, _ := s.new.up.ids.get(s.new.number, id)
	return v
}

// findInstances finds the instructions whose ops are all in b.
func (s *exportScope) findInstances(b *ir.Block) {
	u, up := s.new, s.new.up
	have := func(v *ir.Value) {
		id := up.origin(v) - 1
		if id == ^uint32(0) {
			return
		}
		if _, ok := up.ids.get(u.number, id); ok {
			v = nil
		}
		up.ids.set(u.number, id, v)
	}
	for _, v := range b.Args() {
		have(v)
	}
	var instances []*instance
	for op := range b.Ops() {
		u.whole = append(u.whole, nil)
		old := up.link.op(op.Origin())
		if old == nil || old.group == nil {
			continue
		}
		for i := range op.NumResults() {
			have(op.Result(i))
		}
		if old.group.alone() || !sameOp(old, op) {
			continue
		}
		// The op belongs to the first instance that has no such op yet.
		g := old.group
		next := &u.record(g.in).instances
		if x := up.filled[old.origin-1]; x != nil {
			next = &x.next
		}
		x := *next
		if x == nil {
			x = up.instances.one()
			x.group, x.ops = g, up.ops.take(len(g.ops))
			instances = append(instances, x)
			*next = x
		}
		up.filled[old.origin-1] = x
		x.ops[old.place] = op
		x.found++
		x.last = op
		u.whole[len(u.whole)-1] = x
	}
	for _, x := range instances {
		for _, o := range x.group.ops {
			up.filled[o.origin-1] = nil
		}
	}
}

// instanceOf returns the instance with op, which comes from an old op with results, nil if there is none.
func (s *exportScope) instanceOf(op *ir.Op) *instance {
	if x := s.instanceAlone(op); x != nil {
		return x
	}
	u := s.new
	x := u.record(u.up.link.op(op.Origin()).group.in).instances
	for x != nil && !slices.Contains(x.ops, op) {
		x = x.next
	}
	return x
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
	if g.alone() {
		x.ok = x.sameOperands() && s.setSlots(x, x.bound) && s.fitsParams(x)
		return x.ok
	}
	bound := u.up.bind()
	defer u.up.unbind()
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
		for j := range op.NumResults() {
			bound.set(old.result+uint32(j), op.Result(j))
		}
		if op.Has(ir.Pure) {
			continue
		}
		for j := range op.NumResults() {
			for use := range op.Result(j).Uses() {
				o := use.Owner()
				for o.Block() != op.Block() {
					o = o.Parent()
				}
				if !slices.Contains(x.ops, o) && o.IsBefore(x.last) {
					return false
				}
			}
		}
	}
	// A constant may have moved into the regions of the instruction, which had it as an operand.
	inside := func(v *ir.Value) bool { return v != nil && !v.Dominates(x.last) }
	x.ok = s.setSlots(x, bound.get) && !slices.ContainsFunc(x.slots, inside) && (x.comps == nil || s.fits(x)) && s.fitsParams(x)
	return x.ok
}

// fitsParams reports whether the operands of x have the types that they had, if the instruction reads their layouts: a
// bitcast or a parameter of a fusion means another value of another type, though the op that uses it accepts both.
func (s *exportScope) fitsParams(x *instance) bool {
	in := x.group.in
	if in.op.blind {
		return true
	}
	i := 0
	for _, o := range in.operands {
		for _, sh := range leafShapes(o.shape) {
			if v := x.slots[i]; v != nil && !sameTypes(sh, s.ex.shapeOf(x.last, v.Type())) {
				return false
			}
			i++
		}
	}
	return true
}

// setSlots sets the values of the instruction of x and of its operands. bound returns those that its ops use or make.
// It reports whether the block has all values of the operands before the ops.
func (s *exportScope) setSlots(x *instance, bound func(ref uint32) *ir.Value) bool {
	u, g := s.new, x.group
	value := func(ref uint32) (*ir.Value, bool) {
		if v := bound(ref); v != nil {
			return v, true
		}
		v := s.valueOf(ref)
		if v == nil || v.DefiningOp() != nil && !v.DefiningOp().IsBefore(x.last) {
			return nil, false
		}
		return v, true
	}
	list := u.up.flat[:0]
	for _, o := range g.in.operands {
		list = g.scope.values[o.order].appendTo(list)
	}
	n := len(list)
	list = g.scope.values[g.in.order].appendTo(list)
	u.up.flat = list
	values := u.up.ex.slabs.values.take(len(list))
	for i, old := range list {
		if old == nil {
			continue
		}
		v, ok := value(uint32(old.ID()))
		if !ok {
			return false
		}
		values[i] = v
	}
	x.slots, x.values = values[:n:n], values[n:]
	return true
}

// alone reports whether g is one simple op: no other op of the instruction can be missing or changed.
func (g *group) alone() bool {
	if len(g.ops) != 1 || len(g.ops[0].operands) > 8 {
		return false
	}
	for _, a := range g.in.attrs {
		switch a.value.(type) {
		case *computation, []*computation:
			return false
		}
	}
	return true
}

// instanceAlone returns the instance of op if it is alone in its group, nil if it is not or has changed. It is valid
// until the next call: blocks need no memory for such instances.
func (s *exportScope) instanceAlone(op *ir.Op) *instance {
	old := s.new.up.link.op(op.Origin())
	if old == nil || old.group == nil || !old.group.alone() || !sameOp(old, op) {
		return nil
	}
	x := &s.new.single
	*x = instance{group: old.group, ops: append(x.ops[:0], op), last: op, found: 1}
	return x
}

// sameOperands reports whether x, which is alone, uses equal values where it did.
func (x *instance) sameOperands() bool {
	old, op := x.group.ops[0], x.ops[0]
	for i, ref := range old.operands {
		if op.Operand(slices.Index(old.operands, ref)) != op.Operand(i) {
			return false
		}
	}
	return true
}

// bound returns the value of x, which is alone, in place of the old one with an ID, nil if x does not use or make it.
func (x *instance) bound(ref uint32) *ir.Value {
	old, op := x.group.ops[0], x.ops[0]
	if i := ref - old.result; i < uint32(op.NumResults()) {
		return op.Result(int(i))
	}
	if i := slices.Index(old.operands, ref); i >= 0 {
		return op.Operand(i)
	}
	return nil
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
	switch {
	case len(old.regions) > 0:
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
		if len(n.params) != len(c.params) || !sameTypes(n.root.shape, c.root.shape) || x.group.in.op == opCall && !sameShape(n.root.shape, c.root.shape) {
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
	g := x.group
	s.op = nil
	s.place(g)
	for _, p := range g.in.predecessors() {
		s.pin(g.scope, p)
	}
	operands := s.ex.slabs.pointers.take(len(g.in.operands))
	exact := !g.in.op.blind || s.ex.out.scheduled
	rest := x.slots
	for i, o := range g.in.operands {
		n := g.scope.values[o.order].leaves()
		operands[i] = s.resolveAs(g.scope, o, rest[:n:n], exact)
		rest = rest[n:]
	}
	n := s.copyOf(g.in, operands, x.values)
	if x.comps != nil {
		comps := x.comps
		n.attrs = slices.Clone(n.attrs)
		for i, a := range n.attrs {
			switch v := a.value.(type) {
			case *computation:
				n.attrs[i].value, comps = comps[0], comps[1:]
			case []*computation:
				n.attrs[i].value, comps = comps[:len(v):len(v)], comps[len(v):]
			}
		}
	}
	if g.in.startsPair() {
		s.keepEnds(x, n)
	} else {
		s.setValues(n, g.in, x.values)
	}
}

// keepEnds adds copies of the ends of the pair that the instruction of x starts and n copies. They have its values.
func (s *exportScope) keepEnds(x *instance, n *instr) {
	u, g := s.new, x.group
	bound := map[uint32]*ir.Value{}
	for i, old := range g.ops {
		for j, v := range x.ops[i].ResultList() {
			bound[old.result+uint32(j)] = v
		}
	}
	rest := x.slots
	for _, o := range g.in.operands {
		for _, old := range g.scope.values[o.order].flat() {
			if old != nil {
				bound[uint32(old.ID())] = rest[0]
			}
			rest = rest[1:]
		}
	}
	var ends func(start, n *instr)
	ends = func(start, n *instr) {
		for _, end := range u.up.usersOf(g.scope.comp, start) {
			if !end.endsPair() {
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
	if !scope.plain(in) || in.endsPair() {
		return
	}
	var values []*ir.Value
	for _, old := range scope.values[in.order].flat() {
		if old == nil {
			return
		}
		v := s.valueOf(uint32(old.ID()))
		if v == nil || s.instrOf(v) == nil && s.new.where[v].in == nil {
			return
		}
		values = append(values, v)
	}
	s.resolve(scope, in, values)
}

// resolve returns an instruction with the given values in place of an old instruction of scope, with the old layout and
// memory space: a copy of it, if it is a plain one.
func (s *exportScope) resolve(scope *linkedScope, in *instr, values []*ir.Value) *instr {
	return s.resolveAs(scope, in, values, true)
}

// resolveAs is resolve. If it is not exact, the result may have another layout and memory space.
func (s *exportScope) resolveAs(scope *linkedScope, in *instr, values []*ir.Value, exact bool) *instr {
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
			list[i] = s.resolve(scope, o, rest[:n:n])
			rest = rest[n:]
		}
		return s.copyOf(in, list, values)
	case "get-tuple-element":
		if from := in.operands[0]; from.op == opTuple {
			return s.resolveAs(scope, from.operands[attrOf[int64](in, "index")], values, exact)
		}
	case "copy", "domain", "bitcast", "opt-barrier":
		if sameShape(in.shape, in.operands[0].shape) || in.op.name == "copy" {
			o := s.resolveAs(scope, in.operands[0], values, in.op.name != "copy")
			if in.needless(in.operands[0], o) {
				return o
			}
			return s.copyOf(in, []*instr{o}, values)
		}
	case "copy-done":
		start := in.operands[0]
		if start.op.name == "copy-start" {
			o := s.resolve(scope, start.operands[0], values)
			if in.needless(start.operands[0], o) {
				return o
			}
			return s.copyOf(in, []*instr{s.copyOf(start, []*instr{o}, nil)}, values)
		}
	case "add-dependency":
		o := s.resolveAs(scope, in.operands[0], values, exact)
		for _, t := range u.stands(in.operands[1]) {
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

// needless reports whether a copy of in, which copied old to another layout, would copy n to the layout that it has.
func (in *instr) needless(old, n *instr) bool {
	return sameShape(n.shape, in.shape) && !sameShape(old.shape, in.shape)
}

// fit returns an instruction with the given values. If it is exact, it has the given shape, layout and memory space.
func (s *exportScope) fit(sh *shape, values []*ir.Value, exact bool) *instr {
	if sh.isTuple() && (len(values) != 1 || !isTupleValue(values[0])) {
		var list []*instr
		for _, e := range sh.elems {
			n := e.leaves()
			list = append(list, s.fit(e, values[:n:n], true))
			values = values[n:]
		}
		return s.tuple(list)
	}
	n := s.value(values[0])
	if exact && !sameShape(n.shape, sh) && sameTypes(n.shape, sh) {
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
	if old := u.from(in); old != nil && u.own(old) != nil && u.copyWith(old, []*ir.Value{v}) == in {
		// The old module may have such a copy.
		for _, x := range u.usersIn(old) {
			if x.op.name == "copy-start" {
				for _, y := range u.usersIn(x) {
					if y.op.name == "copy-done" {
						x = y
						break
					}
				}
			}
			if (x.op.name == "copy" || x.op.name == "copy-done") && sameShape(x.shape, sh) {
				n = s.resolve(u.scope, x, []*ir.Value{v})
				break
			}
		}
	}
	if n == nil {
		n = s.add(opcodes["copy"], sh, []*instr{in})
	}
	store(&u.layout, in, append(u.layout[in], n))
	return n
}

// produce returns an instruction for a value that no instruction has yet, nil if there is none.
func (s *exportScope) produce(v *ir.Value) *instr {
	u := s.new
	if e, ok := u.where[v]; ok {
		return s.extract(e, v)
	}
	// The value is inside a fusion that stays, or the op is dead or later: compute the value again.
	if d := v.DefiningOp(); d != nil && d.Has(ir.Pure) && d.Block() == s.body {
		outer, group := s.op, u.group
		s.op, u.group = d, nil
		s.translate(d)
		s.op, u.group = outer, group
		return s.instrOf(v)
	}
	return nil
}

// relayoutTo returns an instruction with the value v in the layout of sh: in, which has the value, or a copy.
func (s *exportScope) relayoutTo(in *instr, sh *shape, v *ir.Value) *instr {
	if sameShape(in.shape, sh) || !sameTypes(in.shape, sh) {
		return in
	}
	if n := s.value(v); sameShape(n.shape, sh) {
		return n
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
		if j >= 0 && sameTypes(old[j], sh) {
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
	if u.group == nil || len(u.group.in.operands) > 64 {
		return in
	}
	old := u.from(in)
	if old == nil {
		return in
	}
	scope := u.group.scope
	for _, o := range u.group.in.operands {
		x := o
		for scope.plain(x) {
			if n := x.op.name; n == "copy-done" && x.operands[0].op.name == "copy-start" {
				x = x.operands[0].operands[0]
			} else if n == "copy" || n == "domain" || n == "add-dependency" {
				x = x.operands[0]
			} else {
				break
			}
		}
		if x == old && x != o {
			return s.resolve(scope, o, []*ir.Value{v})
		}
	}
	return in
}

// updateBlock translates the ops of a block.
func (s *exportScope) updateBlock(b *ir.Block) {
	u := s.new
	s.findInstances(b)
	var logs map[*linkedOp]bool
	at, last := -1, b.Last()
	for op := range b.Ops() {
		if op == last {
			break
		}
		at++
		x := s.instanceAlone(op)
		if x == nil {
			x = u.whole[at]
		}
		if x != nil && s.check(x) {
			if op == x.last && (x.group.scope == u.scope || slices.ContainsFunc(x.ops, s.ex.isLive)) {
				s.keep(x)
			}
			continue
		}
		if !s.ex.isLive(op) || s.computed(op) {
			continue
		}
		if s.keepsLog(op) {
			store(&logs, u.up.link.op(op.Origin()), true)
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
				if n.op == g.in.op && n.op.blind && sameTypes(n.shape, g.in.shape) {
					n.shape = g.in.shape
				}
			}
			u.heirs = append(u.heirs, heirs{g, list})
		}
	}
	s.droppedLogs(logs)
}

// computed reports whether all results of op have instructions, because an op before it needed them.
func (s *exportScope) computed(op *ir.Op) bool {
	if op.NumResults() == 0 {
		return false
	}
	for _, v := range op.ResultList() {
		if s.instrOf(v) == nil {
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
	u.at = len(scope.comp.instrs)
	old := scope.comp.root
	shapes := leafShapes(old.shape)
	same := len(shapes) == len(results)
	for i, v := range results {
		same = same && sameTypes(shapes[i], s.ex.shapeOf(nil, v.Type()))
	}
	if same {
		s.c.root = s.resolve(scope, old, results)
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
	if old.op != opTuple {
		return s.value(v)
	}
	if s.new.rootParts == nil {
		s.new.rootParts = map[uint32]*instr{}
		for _, o := range old.operands {
			if x := scope.values[o.order]; x.v != nil {
				s.new.rootParts[uint32(x.v.ID())+1] = o
			}
		}
	}
	if o := s.new.rootParts[s.new.up.origin(v)]; o != nil && sameTypes(o.shape, s.ex.shapeOf(nil, v.Type())) {
		return s.resolve(scope, o, []*ir.Value{v})
	}
	return s.value(v)
}

// inherit gives in, which replaces old, the name and the metadata of old, and facts that have no effect.
func (s *exportScope) inherit(in, old *instr) {
	u := s.new
	u.link(in, old)
	s.takeName(in, old)
	if u.own(old) != nil {
		u.setKey(in, int(old.order))
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
			if sameTypes(in.shape, old.shape) {
				s.ex.set(in, a.spec, a.value)
			}
		}
	}
}

// takeName gives in the name of old, unless another instruction has it.
func (s *exportScope) takeName(in, old *instr) {
	if s.new.claim(old) {
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
		case in.op == old.op && s.new.from(in) == nil:
			same = in
		case in.op != opTuple && in.op != opGTE && s.new.from(in) == nil:
			other = in
		}
	}
	switch {
	case same != nil:
		s.inherit(same, old)
	case other != nil && len(s.new.stands(old)) == 0:
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
	if !old.startsPair() {
		return
	}
	for _, end := range s.new.usersIn(old) { // the end has no op of its own
		if end.endsPair() {
			for _, in := range h.list {
				if in.op == end.op && s.new.from(in) == nil {
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
	used := make([]bool, len(old.instrs))
	used[old.root.order] = true
	for i, in := range slices.Backward(old.instrs) {
		if used[i] || !u.scope.plain(in) {
			for _, o := range in.operands {
				used[o.order] = true
			}
		}
	}
	for i, in := range old.instrs {
		if used[i] || !u.scope.plain(in) || len(u.stands(in)) > 0 || in.endsPair() || in.startsPair() {
			continue
		}
		var operands []*instr
		for _, o := range in.operands {
			if list := u.stands(o); len(list) == 1 && sameShape(list[0].shape, o.shape) {
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
	used := make([]bool, len(s.c.instrs))
	used[s.c.root.order] = true
	for _, in := range u.lasting {
		used[in.order] = true
	}
	keep := make([]bool, len(s.c.instrs))
	for i, in := range slices.Backward(s.c.instrs) {
		switch in.op.name {
		case "tuple", "get-tuple-element", "copy", "add-dependency", "domain", "copy-done", "copy-start", "bitcast":
			keep[i] = used[i] || in.op.name == "bitcast" && !sameShape(in.shape, in.operands[0].shape)
		default:
			keep[i] = true
		}
		if keep[i] {
			for _, o := range in.operands {
				used[o.order] = true
			}
		}
	}
	list, fresh := s.c.instrs[:0], u.fresh[:0]
	for i, in := range s.c.instrs {
		if keep[i] {
			in.order = int32(len(list))
			list, fresh = append(list, in), append(fresh, u.fresh[i])
			continue
		}
		if old := u.fresh[i].from; old != nil {
			r := u.record(old)
			r.stands = slices.DeleteFunc(r.stands, func(x *instr) bool { return x == in })
		}
	}
	s.c.instrs, u.fresh = list, fresh
}

// orderEdges adds control predecessors: those of the old instructions. The edges of an instruction that is gone join
// its predecessors to its successors.
func (s *exportScope) orderEdges() {
	u := s.new
	if !u.up.link.order {
		return
	}
	for i, in := range s.c.instrs {
		old := u.fresh[i].from
		var list []*instr
		seen := map[*instr]bool{}
		var precede func(x *instr)
		precede = func(x *instr) {
			if seen[x] {
				return
			}
			seen[x] = true
			early, late := slices.ContainsFunc(u.stands(x), func(n *instr) bool { return int(n.order) < i }), false
			for _, n := range u.stands(x) {
				if int(n.order) > i && early { // in another trip of an unrolled loop, or a copy that only later users need
					late = true
					continue
				}
				if !slices.Contains(list, n) && !slices.Contains(in.operands, n) && (int(n.order) < i || !dependsOn(n, in)) {
					list = append(list, n)
				}
			}
			plain := u.up.isPlain(x)
			if len(u.stands(x)) > 0 && !(late && plain) {
				return
			}
			for _, p := range x.predecessors() {
				precede(p)
			}
			if plain {
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
				if u.up.isPlain(o) && len(u.stands(o)) == 0 {
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
	list := s.c.instrs
	places := make([]int64, len(list)) // in the old computation, then in the new one
	for i := range places {
		places[i] = int64(s.new.fresh[i].key)<<32 | int64(i)
	}
	edges := func(yield func(before, after int32)) {
		last := int32(-1) // with an effect
		for i, in := range list {
			for _, o := range in.operands {
				yield(o.order, int32(i))
			}
			for _, o := range in.predecessors() {
				yield(o.order, int32(i))
			}
			if effects && in.hasEffects() {
				if last >= 0 {
					yield(last, int32(i))
				}
				last = int32(i)
			}
		}
	}
	order := make([]int64, len(list))
	if !sortEdges(order, places, edges) {
		return false
	}
	sorted := make([]*instr, len(list))
	for i, p := range order {
		sorted[i] = list[int32(p)]
	}
	s.c.instrs = sorted
	return true
}

// sortEdges sets order to the places, the smallest one first whose edges allow it. The lower half of a place is its
// index. It reports whether there is such an order.
func sortEdges(order, places []int64, edges func(yield func(before, after int32))) bool {
	waiting, first := make([]int32, len(places)), make([]int32, len(places)+1)
	edges(func(before, after int32) {
		waiting[after]++
		first[before+1]++
	})
	for i := range places {
		first[i+1] += first[i]
	}
	after, next := make([]int32, first[len(places)]), slices.Clone(first)
	edges(func(b, a int32) {
		after[next[b]] = a
		next[b]++
	})
	var ready placeHeap
	for i, p := range places {
		if waiting[i] == 0 {
			ready.push(p)
		}
	}
	n := 0
	for ; len(ready) > 0; n++ {
		p := ready.pop()
		order[n] = p
		for _, a := range after[first[int32(p)]:first[int32(p)+1]] {
			if waiting[a]--; waiting[a] == 0 {
				ready.push(places[a])
			}
		}
	}
	return n == len(places)
}

// placeHeap is a heap of places, the smallest one first.
type placeHeap []int64

func (h *placeHeap) push(p int64) {
	*h = append(*h, p)
	list := *h
	for i := len(list) - 1; list[i] < list[(i-1)/2]; i = (i - 1) / 2 {
		list[i], list[(i-1)/2] = list[(i-1)/2], list[i]
	}
}

func (h *placeHeap) pop() int64 {
	list := *h
	p := list[0]
	list[0] = list[len(list)-1]
	list = list[:len(list)-1]
	for i := 0; ; {
		c := 2*i + 1
		if c+1 < len(list) && list[c+1] < list[c] {
			c++
		}
		if c >= len(list) || list[i] <= list[c] {
			break
		}
		list[i], list[c] = list[c], list[i]
		i = c
	}
	*h = list
	return p
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

// startsPair reports whether in passes its value to an update or an end alone.
func (in *instr) startsPair() bool {
	return in.op == opAsyncUpdate || in.op == opSend || in.op == opRecv || strings.HasSuffix(in.op.name, "-start")
}

// endsPair reports whether in needs a start or an update as its operand.
func (in *instr) endsPair() bool {
	return in.op == opAsyncUpdate || strings.HasSuffix(in.op.name, "-done")
}
