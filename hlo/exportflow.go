package hlo

import (
	"slices"
	"strconv"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// loopRegion translates a region of a loop or a branch to a computation with one parameter: the tuple (or the one
// value) of its arguments, and of the values that it uses from outside. sh is the parameter's shape.
func (s *exportScope) loopRegion(r *ir.Region, sh *shape, args []*ir.Value, captured []*ir.Value, withCaptured bool) *computation {
	ex := s.ex
	inner := ex.newScope(s.op)
	c := inner.attachRegion(s, r)
	if c != nil && len(captured) == 0 && len(c.params) == 1 && sameShape(c.params[0].shape, sh) {
		return c
	}
	all := append(slices.Clone(args), captured...)
	p := &instr{op: opParameter, shape: sh, name: ex.unique("arg_tuple")}
	inner.c.instrs = append(inner.c.instrs, p)
	inner.c.params = append(inner.c.params, p)
	if o := inner.old; o != nil && len(o.comp.params) == 1 {
		p.name = o.comp.params[0].name
		if have, ok := ex.up.leaves(o.values[o.comp.params[0]]); ok && slices.Equal(have, all) && compatible(sh, o.comp.params[0].shape) {
			o.kept[o.comp.params[0]] = p
			p.attrs = o.comp.params[0].attrs
		}
	}
	if inner.old == nil || inner.old.comp.params == nil || inner.old.kept[inner.old.comp.params[0]] == nil {
		inner.take(p, all) // else the extracted elements are kept when an op needs them
	} else if !sh.isTuple() {
		inner.values[all[0]] = p
	}
	inner.block(r.Entry())
	term := r.Entry().Last()
	inner.op = term
	results := term.OperandList()
	if withCaptured { // the body of a loop returns the state in the shape of its parameter
		var old *instr
		if inner.old != nil {
			old = inner.old.comp.root
		}
		inner.c.root = inner.pack(old, sh, append(slices.Clone(results), captured...))
	} else {
		inner.root(results)
	}
	inner.close("region_" + strconv.Itoa(ex.names["region"]))
	ex.names["region"]++
	return inner.c
}

// take makes the parts of in the given values. It leaves out values without a name, which are nil.
func (s *exportScope) take(in *instr, values []*ir.Value) {
	if !in.shape.isTuple() {
		s.values[values[0]] = in
		return
	}
	var walk func(in *instr)
	walk = func(in *instr) {
		for i := range in.shape.elems {
			e := s.element(in, int64(i))
			if e.shape.isTuple() {
				walk(e)
				continue
			}
			if values[0] != nil {
				s.values[values[0]] = e
			}
			values = values[1:]
		}
	}
	all := values
	walk(in)
	s.rename(all)
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
	captured := captures(op.Regions())
	all := append(slices.Clone(op.OperandList()), captured...)
	old := s.origin(op, opWhile)
	var sh *shape
	var init *instr
	switch {
	case old != nil && old.shape.leaves() == len(all):
		sh, _ = s.ex.replaceLeaves(op, old.shape, all)
		init = s.pack(old.operands[0], sh, all)
	case len(all) == 1:
		init = s.value(all[0])
		sh = init.shape
	default:
		for _, v := range all {
			s.value(v)
		}
		var types []ir.Type
		for _, v := range all {
			types = append(types, v.Type())
		}
		sh = s.ex.tupleOf(op, types)
		init = s.pack(nil, sh, all)
	}
	cond := s.loopRegion(op.Region(0), sh, op.Region(0).Entry().Args(), captured, false)
	body := s.loopRegion(op.Region(1), sh, op.Region(1).Entry().Args(), captured, true)
	in := s.add(opWhile, sh, []*instr{init}, append(s.common(op), named(opWhile, "condition", cond), named(opWhile, "body", body))...)
	if old != nil {
		s.adopt(old, []*instr{in})
		if s.old.kept[old] == in && sh.isTuple() {
			return // the extracted elements are kept when an op needs them
		}
	}
	n := len(op.ResultList())
	results := append(slices.Clone(op.ResultList()), make([]*ir.Value, len(all)-n)...)
	s.take(in, results)
}

// origin returns the old instruction that op replaces, if its opcode is o.
func (s *exportScope) origin(op *ir.Op, o *opcode) *instr {
	if s.old == nil {
		return nil
	}
	g, ok := s.ex.up.owners[s.ex.up.origins[op]]
	if !ok || g.scope != s.old.importScope || g.in.op != o {
		return nil
	}
	return g.in
}

// conditional passes each branch one operand: the values that the branch uses from outside.
func (s *exportScope) conditional(op *ir.Op) {
	index := s.value(op.Operand(0))
	operands := []*instr{index}
	var comps []*computation
	old := s.origin(op, opConditional)
	for i, r := range op.Regions() {
		if old != nil && i+1 < len(old.operands) {
			inner := s.ex.newScope(op)
			if c := inner.attachRegion(s, r); c != nil {
				if in := s.native(old.operands[i+1]); in != nil && len(c.params) == 1 && compatible(in.shape, c.params[0].shape) {
					comps, operands = append(comps, c), append(operands, in)
					continue
				}
			}
		}
		captured := captures([]*ir.Region{r})
		var list []*instr
		for _, v := range captured {
			list = append(list, s.value(v))
		}
		var in *instr
		if len(list) == 1 {
			in = list[0]
		} else {
			in = s.tuple(list)
		}
		operands = append(operands, in)
		comps = append(comps, s.loopRegion(r, in.shape, nil, captured, false))
	}
	attrs := s.common(op)
	if op.Is(stablehlo.If) {
		attrs = append(attrs, named(opConditional, "true_computation", comps[0]), named(opConditional, "false_computation", comps[1]))
	} else {
		attrs = append(attrs, named(opConditional, "branch_computations", comps))
	}
	s.bind(op, s.add(opConditional, comps[0].root.shape, operands, attrs...))
}
