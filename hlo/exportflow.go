package hlo

import (
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// state is the state of a loop: the values that it carries, and their types in HLO.
type state struct {
	sh       *shape
	captured []*ir.Value // that the regions use from outside; they follow the arguments
	// The facts below are about the loop that this one comes from, if there is one.
	old   *group
	from  []int // the part of the old state that each part comes from, -1 for none
	whole bool  // the old state is the same
}

// loopRegion translates region i of op, a loop, to a computation with one parameter: the state. The body returns the
// state, too.
func (s *exportScope) loopRegion(op *ir.Op, i int, st *state) *computation {
	ex, r := s.ex, op.Region(i)
	inner := ex.newScope(op)
	scope, c := ex.up.regionOf(r)
	if c != nil && st.whole && sameShape(c.params[0].shape, st.sh) {
		return c
	}
	inner.attach(scope)
	all := append(slices.Clone(r.Entry().Args()), st.captured...)
	p := inner.stateParam(st, all, scope)
	if inner.new == nil {
		inner.take(p, len(all) == 1, all)
	}
	inner.block(r.Entry())
	term := r.Entry().Last()
	inner.op = term
	results := term.OperandList()
	switch {
	case i == 0:
		inner.root(results)
	case st.whole && scope != nil:
		inner.root(results)
	default:
		var old *instr
		if scope != nil {
			old = scope.comp.root
		}
		inner.c.root = inner.pack(st, old, append(slices.Clone(results), st.captured...))
	}
	inner.close("region_" + strconv.Itoa(ex.names["region"]))
	ex.names["region"]++
	return inner.c
}

// stateParam adds the parameter of a region of a loop.
func (s *exportScope) stateParam(st *state, all []*ir.Value, scope *linkedScope) *instr {
	p := &instr{op: opParameter, shape: st.sh, name: s.ex.unique("arg_tuple")}
	var old *instr
	if scope != nil && len(scope.comp.params) == 1 {
		old = scope.comp.params[0]
	}
	switch {
	case old != nil && st.whole && sameShape(old.shape, st.sh):
		p = s.copyOf(old, nil, all)
		s.setValues(p, old, all)
	default:
		s.append(p)
		if s.new == nil {
			break
		}
		if s.new.setKey(p, -1); old != nil {
			s.inherit(p, old)
			s.setStateSharding(p, old, st)
		}
		s.setResults(all, p, old, st.from)
	}
	s.c.params = append(s.c.params, p)
	return p
}

// beside returns the sharding of a new value beside values with the sharding sh.
func beside(sh *sharding) *sharding {
	leaves := sh.elems
	if sh.kind != tupleSharding || len(leaves) == 0 {
		leaves = []*sharding{sh}
	}
	texts := make([]string, len(leaves))
	for i, l := range leaves {
		texts[i] = l.String()
	}
	if mhlo.Beside(texts) == texts[0] {
		return leaves[0]
	}
	return &sharding{kind: replicatedSharding}
}

// setStateSharding gives in, which holds a new state, the sharding of old, which held the old one.
func (s *exportScope) setStateSharding(in, old *instr, st *state) {
	sh, _ := old.get(cSharding).(*sharding)
	if sh == nil || st.from == nil {
		return
	}
	part := func(i int) *sharding {
		switch {
		case i >= 0 && sh.kind != tupleSharding:
			return sh
		case i >= 0 && i < len(sh.elems):
			return sh.elems[i]
		}
		return beside(sh)
	}
	if !in.shape.isTuple() {
		s.ex.set(in, cSharding, part(st.from[0]))
		return
	}
	out := &sharding{kind: tupleSharding}
	for _, i := range st.from {
		out.elems = append(out.elems, part(i))
	}
	s.ex.set(in, cSharding, out)
}

// pack returns one instruction with the values of a state. old is the instruction that packed the old state, or nil.
func (s *exportScope) pack(st *state, old *instr, values []*ir.Value) *instr {
	if s.new == nil || st.old == nil {
		if !st.sh.isTuple() {
			return s.value(values[0])
		}
		list := make([]*instr, len(values))
		for i, v := range values {
			list[i] = s.value(v)
			if s.new != nil {
				list[i] = s.fit(st.sh.elems[i], values[i:i+1], true)
			}
		}
		return s.tuple(list)
	}
	from := old // whose operands are the parts of the old state
	if old != nil && (old.op != opTuple || len(old.operands) != old.shape.leaves()) {
		from = nil
	}
	list := make([]*instr, len(values))
	for i, v := range values {
		list[i] = s.plainPart(st, from, i, v)
	}
	if !st.sh.isTuple() {
		return list[0]
	}
	n := s.tuple(list)
	if old != nil && old.op == opTuple {
		s.inherit(n, old)
		s.setStateSharding(n, old, st)
	}
	return n
}

// plainPart returns part i of a state, in its layout. The operands of old, unless nil, were the parts of the old state.
func (s *exportScope) plainPart(st *state, old *instr, i int, v *ir.Value) *instr {
	sh := st.sh
	if sh.isTuple() {
		sh = sh.elems[i]
	}
	n := s.value(v)
	if old != nil && st.from[i] >= 0 && st.from[i] < len(old.operands) {
		// The old part may be a copy of the value.
		x := old.operands[st.from[i]]
		if was := s.new.from(n); was != nil && x != was && x.op.name == "copy" && x.operands[0] == was && sameShape(x.shape, sh) && s.new.own(x) != nil {
			return s.resolve(s.new.scope, x, []*ir.Value{v})
		}
	}
	return s.fit(sh, []*ir.Value{v}, true)
}

// take makes the parts of a state the given values: those of in, or in itself if the state is one value.
func (s *exportScope) take(in *instr, one bool, values []*ir.Value) {
	if one {
		if len(values) == 1 {
			s.setValue(values[0], in)
		}
		return
	}
	for i := range in.shape.elems {
		e := s.element(in, int64(i))
		if i < len(values) {
			s.setValue(values[i], e)
		}
	}
}

// captures returns the values that regions use from outside, in the order of their first use.
func captures(regions []*ir.Region) []*ir.Value {
	var list []*ir.Value
	seen := map[*ir.Value]bool{}
	for _, r := range regions {
		op := r.Op()
		inside := func(v *ir.Value) bool {
			b := v.Block()
			if d := v.DefiningOp(); d != nil {
				b = d.Block()
			}
			for b != nil {
				if b.Region() == r {
					return true
				}
				p := b.Parent()
				if p == nil || p == op {
					return false
				}
				b = p.Block()
			}
			return false
		}
		for _, b := range r.Blocks() {
			for o := range b.Ops() {
				o.Walk(func(o *ir.Op) bool {
					for _, v := range o.OperandList() {
						if !seen[v] && !inside(v) {
							seen[v] = true
							list = append(list, v)
						}
					}
					return true
				})
			}
		}
	}
	return list
}

// while carries the values that its regions use from outside through the loop.
func (s *exportScope) while(op *ir.Op) {
	if op.NumOperands() != op.NumResults() {
		s.ex.fail(op, "a loop with %d operands and %d results has no equivalent in HLO", op.NumOperands(), op.NumResults())
	}
	st := &state{captured: captures(op.Regions())}
	all := append(slices.Clone(op.OperandList()), st.captured...)
	var init *instr
	st.old = s.origin(op, opWhile)
	switch old := st.old; {
	case old != nil:
		s.setState(op, st, all)
		if st.whole {
			init = s.resolve(old.scope, old.in.operands[0], all)
		} else {
			init = s.pack(st, old.in.operands[0], all)
		}
	case len(all) == 1:
		init = s.value(all[0])
		st.sh = init.shape
	default:
		var types []ir.Type
		for _, v := range all {
			s.value(v)
			types = append(types, v.Type())
		}
		st.sh = s.ex.tupleOf(op, types)
		init = s.pack(st, nil, all)
	}
	cond := s.loopRegion(op, 0, st)
	body := s.loopRegion(op, 1, st)
	s.op = op
	in := s.add(opWhile, st.sh, []*instr{init}, append(s.common(op), named(opWhile, "condition", cond), named(opWhile, "body", body))...)
	if s.new == nil {
		s.take(in, len(all) == 1, op.ResultList())
		return
	}
	var old *instr
	if st.old != nil {
		old = st.old.in
		if text := s.loopConfig(op, st); text != "" {
			s.ex.set(in, cConfig, text)
		}
		if st.whole {
			s.new.remember(old, in, op.ResultList())
		}
	}
	s.setResults(op.ResultList(), in, old, st.from)
}

// setState sets the type of the state of a loop: the types that the values had in the old loop, and the structure, if
// the state is the same.
func (s *exportScope) setState(op *ir.Op, st *state, all []*ir.Value) {
	old := st.old
	scope := old.ops[0].regions[1]
	st.from = scope.origins(s.new.up, op.Region(1).Entry().Args())
	st.whole = len(all) == len(scope.args) && len(st.captured) == 0
	for i, j := range st.from {
		st.whole = st.whole && i == j
	}
	for range st.captured {
		st.from = append(st.from, -1)
	}
	if st.whole {
		st.sh = old.in.shape
		return
	}
	shapes := leafShapes(old.in.shape)
	list := make([]*shape, len(all))
	for i, v := range all {
		list[i] = s.ex.shapeOf(op, v.Type())
		if j := st.from[i]; j >= 0 && sameTypes(shapes[j], list[i]) {
			list[i] = shapes[j]
		}
	}
	if st.sh = tuple(list...); len(list) == 1 && !old.in.shape.isTuple() {
		st.sh = list[0]
	}
}

// origin returns the instruction that op comes from, if op is its only op and its opcode is o.
func (s *exportScope) origin(op *ir.Op, o *opcode) *group {
	if s.new == nil {
		return nil
	}
	old := s.new.up.link.op(op.Origin())
	if old == nil || old.group == nil || old.def != op.Def() || old.group.in.op != o || len(old.group.ops) != 1 || len(old.regions) != len(op.Regions()) {
		return nil
	}
	return old.group
}

// conditional passes each branch one operand: the values that the branch uses from outside.
func (s *exportScope) conditional(op *ir.Op) {
	operands := []*instr{s.value(op.Operand(0))}
	var comps []*computation
	old := s.origin(op, opConditional)
	var sh *shape // of the result
	if old != nil && old.in.shape.leaves() == op.NumResults() {
		sh = old.in.shape
	}
	for i, r := range op.Regions() {
		if old != nil {
			if c, in := s.sameBranch(op, i, old); c != nil && (sh == nil || sameShape(c.root.shape, sh)) {
				comps, operands = append(comps, c), append(operands, in)
				sh = c.root.shape
				continue
			}
		}
		captured := captures([]*ir.Region{r})
		list := make([]*instr, len(captured))
		for j, v := range captured {
			list[j] = s.value(v)
			if s.new != nil {
				list[j] = s.plainOperand(list[j], v)
			}
		}
		var in *instr
		if len(list) == 1 {
			in = list[0]
		} else {
			in = s.tuple(list)
			if old != nil && i+1 < len(old.in.operands) && old.in.operands[i+1].op == opTuple {
				s.inherit(in, old.in.operands[i+1])
			}
		}
		operands = append(operands, in)
		inner := s.ex.newScope(op)
		scope, _ := s.ex.up.regionOf(r)
		inner.attach(scope)
		p := inner.stateParam(&state{sh: in.shape}, captured, scope)
		if inner.new == nil {
			inner.take(p, len(captured) == 1, captured)
		}
		inner.block(r.Entry())
		inner.op = r.Entry().Last()
		results := inner.op.OperandList()
		inner.root(results)
		if s.new != nil && sh != nil && !sameShape(inner.c.root.shape, sh) && sameTypes(inner.c.root.shape, sh) {
			inner.c.root = inner.fit(sh, results, true)
		}
		inner.close("region_" + strconv.Itoa(s.ex.names["region"]))
		s.ex.names["region"]++
		comps = append(comps, inner.c)
		sh = inner.c.root.shape
	}
	s.op = op
	attrs := s.common(op)
	if op.Is(stablehlo.If) {
		attrs = append(attrs, named(opConditional, "true_computation", comps[0]), named(opConditional, "false_computation", comps[1]))
	} else {
		attrs = append(attrs, named(opConditional, "branch_computations", comps))
	}
	s.bind(op, s.add(opConditional, comps[0].root.shape, operands, attrs...))
}

// sameBranch returns the computation of branch i and its operand if the branch is unchanged and its values are still
// there.
func (s *exportScope) sameBranch(op *ir.Op, i int, old *group) (*computation, *instr) {
	scope, r := old.ops[0].regions[i], op.Region(i)
	if len(r.Blocks()) != 1 || i+1 >= len(old.in.operands) || len(scope.comp.params) != 1 {
		return nil, nil
	}
	sum := s.new.up.block(scope, r.Entry())
	if !sum.same {
		return nil, nil
	}
	bound := s.new.up.bind()
	defer s.new.up.unbind()
	for _, x := range sum.outside {
		bound.set(x.old, x.v)
	}
	x := old.in.operands[i+1]
	var values []*ir.Value
	for _, v := range old.scope.values[x.order].flat() {
		if v == nil {
			return nil, nil
		}
		n := bound.get(uint32(v.ID()))
		if n == nil {
			n = s.valueOf(uint32(v.ID()))
		}
		if n == nil || n.DefiningOp() != nil && !n.DefiningOp().IsBefore(op) {
			return nil, nil
		}
		values = append(values, n)
	}
	in := s.resolve(old.scope, x, values)
	if !sameShape(in.shape, scope.comp.params[0].shape) {
		return nil, nil
	}
	return scope.comp, in
}
