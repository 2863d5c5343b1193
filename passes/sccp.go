package passes

import (
	"cmp"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/ir/flow"
	"github.com/hlocb/hlocb/pass"
	"github.com/hlocb/hlocb/rewrite"
)

// SCCP propagates constants, as MLIR's pass of this name does.
type SCCP struct {
	Evaluator rewrite.Evaluator // computes ops on constants; nil: SCCP computes no ops, as MLIR's pass
}

// sccpLimit is the largest number of elements of a value that SCCP computes.
const sccpLimit = 1 << 16

func (SCCP) Info() *pass.Info {
	return &pass.Info{
		Name: "sccp",
		Doc: "Replaces values that are the same constant whenever they are computed (sparse conditional constant propagation): through calls of private " +
			"functions, loops and the branches that can be taken.",
	}
}

func (p SCCP) Run(ctx *pass.Context, m *ir.Module) error {
	g, err := pass.CallGraph.Of(ctx)
	if err != nil {
		return err
	}
	s := &sccp{ctx: ctx, evaluator: p.Evaluator, graph: g, facts: make([]fact, m.NumIDs()), queued: map[*ir.Op]bool{}, reached: map[*ir.Region]bool{}, seen: map[*ir.Op]bool{}}
	s.reach(m.Op())
	for n := 0; len(s.work) > 0 || len(s.changed) > 0; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if i := len(s.changed) - 1; i >= 0 {
			v := s.changed[i]
			s.changed = s.changed[:i]
			s.forward(v)
			continue
		}
		op := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		delete(s.queued, op)
		s.visit(op)
	}
	r := rewrite.New(m)
	s.rewrite(r, m.Op())
	ctx.Changes(r.Statistics())
	return nil
}

// sccp is one run of SCCP: facts about values only ever go from unknown to a constant to varying.
type sccp struct {
	ctx       *pass.Context
	evaluator rewrite.Evaluator
	graph     *flow.Graph
	facts     []fact // by value ID
	work      []*ir.Op
	queued    map[*ir.Op]bool
	changed   []*ir.Value // whose facts the users do not know yet
	reached   map[*ir.Region]bool
	seen      map[*ir.Op]bool // visited, if they forward values
}

// fact is the knowledge about a value: nothing yet, the constant it always is, or that it varies.
type fact struct {
	constant ir.Attr
	row      *ir.Def // of the constant
	varies   bool
}

func (s *sccp) add(op *ir.Op) {
	if !s.queued[op] {
		s.queued[op] = true
		s.work = append(s.work, op)
	}
}

// reach queues op and the ops inside it that can run from the start.
func (s *sccp) reach(op *ir.Op) {
	for _, r := range op.Regions() {
		if selects(op) || s.reached[r] {
			continue
		}
		s.region(r)
	}
}

// region marks r as reachable.
func (s *sccp) region(r *ir.Region) {
	if s.reached[r] {
		return
	}
	s.reached[r] = true
	var ops []*ir.Op
	for i, b := range r.Blocks() {
		for _, a := range b.Args() {
			if i > 0 {
				s.set(a, fact{varies: true})
			} else {
				s.flow(a)
			}
		}
		ops = slices.AppendSeq(ops, b.Ops())
	}
	for i := len(ops) - 1; i >= 0; i-- { // the last queued is the first visited
		s.add(ops[i])
	}
}

// selects reports whether an operand of op selects the one region that runs.
func selects(op *ir.Op) bool {
	f := op.Def().Flow
	return f != nil && f.Select != nil
}

// visit updates the facts about the results of op, and marks the regions and functions that op runs.
func (s *sccp) visit(op *ir.Op) {
	if selects(op) {
		f := s.facts[op.Operand(0).ID()]
		if !f.varies && f.constant == nil {
			return
		}
		if r, ok := op.Def().Flow.Select(op, f.constant); !ok {
			for _, r := range op.Regions() {
				s.region(r)
			}
		} else if r != nil {
			s.region(r)
		}
	} else {
		s.reach(op)
	}
	if forwardsValues(op) {
		if s.seen[op] { // forward has updated the values since
			return
		}
		s.seen[op] = true
		for i, v := range op.Operands() {
			for t := range s.graph.Targets(op.OperandUse(i)) {
				s.set(t, s.facts[v.ID()])
			}
		}
	}
	if rewrite.IsConstant(op) {
		s.set(op.Result(0), fact{constant: rewrite.ConstantOf(op.Result(0)), row: op.Def()})
		return
	}
	if f := op.Def().Flow; f != nil && op.NumResults() > 0 {
		for _, v := range op.Results() {
			s.flow(v)
		}
		return
	}
	known := true
	operands := make([]ir.Attr, op.NumOperands())
	for i, v := range op.Operands() {
		f := s.facts[v.ID()]
		if !f.varies && f.constant == nil {
			return // not known yet
		}
		operands[i] = f.constant
		known = known && !f.varies
	}
	if fold := op.Def().Fold; fold != nil {
		if folded := fold(op); folded != nil {
			for i, x := range folded {
				switch {
				case x.Attr != nil:
					s.set(op.Result(i), fact{constant: x.Attr, row: cmp.Or(x.Constant, rewrite.ConstantRow(op.Module(), op.Def()))})
				case x.Value != nil:
					s.set(op.Result(i), s.facts[x.Value.ID()])
				default:
					s.set(op.Result(i), fact{varies: true})
				}
			}
			return
		}
	}
	if known && op.NumOperands() > 0 {
		if out := evaluate(s.ctx, s.evaluator, op, operands, sccpLimit); out != nil {
			for i, v := range op.Results() {
				s.set(v, fact{constant: out[i], row: stablehlo.Constant})
			}
			return
		}
	}
	for _, v := range op.Results() {
		s.set(v, fact{varies: true})
	}
}

// forwardsValues reports whether the values of op's operands may become other values unchanged.
func forwardsValues(op *ir.Op) bool { return op.Has(ir.ReturnLike) || op.Def().Flow != nil }

// forward tells the users of v, whose fact changed. An op that forwards v passes only this fact on.
func (s *sccp) forward(v *ir.Value) {
	f := s.facts[v.ID()]
	for u := range v.Uses() {
		op := u.Owner()
		if op.Block() == nil || !s.reached[op.Block().Region()] {
			continue
		}
		if !forwardsValues(op) || !s.seen[op] || selects(op) {
			s.add(op)
		}
		if s.seen[op] {
			for t := range s.graph.Targets(u) {
				s.set(t, f)
			}
		}
	}
}

// flow updates the fact about v from the values that become v.
func (s *sccp) flow(v *ir.Value) {
	if s.open(v) {
		s.set(v, fact{varies: true})
		return
	}
	any := false
	for u := range s.graph.Sources(v) {
		any = true
		if s.dormant(u.Owner()) {
			continue
		}
		f := s.facts[u.Value().ID()]
		if f.varies || f.constant != nil {
			s.set(v, f)
		}
	}
	if !any {
		s.set(v, fact{varies: true})
	}
}

// open reports whether v may have values from outside the module.
func (s *sccp) open(v *ir.Value) bool {
	if op := v.DefiningOp(); op != nil {
		f := op.Def().Flow
		return f == nil || f.Callee != "" && s.graph.Callee(op) == nil
	}
	op := v.Block().Parent()
	f := op.Def().Flow
	if f == nil {
		return true
	}
	if f.Function {
		return !private(op) || s.graph.NamedBy(op) != nil
	}
	return false
}

// dormant reports whether op returns from a region that cannot run.
func (s *sccp) dormant(op *ir.Op) bool {
	return op.Has(ir.ReturnLike) && !s.reached[op.Block().Region()]
}

// set lowers the fact about v.
func (s *sccp) set(v *ir.Value, f fact) {
	old := &s.facts[v.ID()]
	switch {
	case old.varies || !f.varies && f.constant == nil:
		return
	case f.varies:
		*old = f
	case old.constant == nil:
		*old = f
	case old.row == f.row && ir.EqualAttrs(old.constant, f.constant):
		return
	default:
		*old = fact{varies: true}
	}
	s.changed = append(s.changed, v)
}

// rewrite replaces the values inside top that are constant by constants.
func (s *sccp) rewrite(r *rewrite.Rewriter, top *ir.Op) {
	c := rewrite.NewConstants(r)
	replace := func(b *ir.Block, v *ir.Value) bool {
		f := s.facts[v.ID()]
		if f.constant == nil || f.row == nil || !hasType(f.constant, v.Type()) {
			return false
		}
		r.ReplaceUses(v, c.Get(b, f.row, v.Type(), f.constant), nil)
		return true
	}
	var work []*ir.Block
	push := func(op *ir.Op) {
		for _, g := range op.Regions() {
			blocks := g.Blocks()
			for i := len(blocks) - 1; i >= 0; i-- {
				work = append(work, blocks[i])
			}
		}
	}
	push(top)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for op := range b.Ops() {
			if c.Owns(op) {
				continue
			}
			if rewrite.IsConstant(op) {
				v := op.Result(0)
				if f := s.facts[v.ID()]; f.row == op.Def() && f.constant != nil && hasType(f.constant, v.Type()) {
					c.Raise(op) // it may state more than its value, or come from HLO
					continue
				}
			}
			all := op.NumResults() > 0
			for _, v := range op.Results() {
				all = replace(b, v) && all
			}
			if all && op.Removable() {
				r.Erase(op)
				continue
			}
			push(op)
		}
		for _, a := range b.Args() {
			if a.HasUses() {
				replace(b, a)
			}
		}
	}
}

// hasType reports whether a constant of value a has type t.
func hasType(a ir.Attr, t ir.Type) bool {
	switch a := a.(type) {
	case *ir.DenseAttr:
		return a.Type() == t
	case *ir.ResourceAttr:
		return a.Type() == t
	case *ir.IntegerAttr:
		return a.Type() == t
	case *ir.FloatAttr:
		return ir.Type(a.Type()) == t
	}
	return false
}
