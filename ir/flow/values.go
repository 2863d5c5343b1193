package flow

import (
	"iter"
	"slices"

	"github.com/hlocb/hlocb/ir"
)

// Sources yields the operand slots whose values become v unchanged. There are none for a value that an op computes or
// for an argument of a function without callers.
func (g *Graph) Sources(v *ir.Value) iter.Seq[*ir.Use] {
	return func(yield func(*ir.Use) bool) {
		i := v.Index()
		if op := v.DefiningOp(); op != nil {
			if callee := g.Callee(op); callee == nil || slots(Returns(callee.Region(0)), i, yield) {
				addSources(op, ir.AtResults, 0, i, yield)
			}
			return
		}
		r := v.Block().Region()
		if r == nil || r.Op() == nil || r.Entry() != v.Block() {
			return
		}
		if op := r.Op(); isFunction(op) {
			slots(slices.Values(g.callers[op]), i, yield)
		} else {
			addSources(op, ir.AtArgs, slices.Index(op.Regions(), r), i, yield)
		}
	}
}

// addSources yields the operands that flow to value i at the place at of op.
func addSources(op *ir.Op, at ir.Place, r, i int, yield func(*ir.Use) bool) {
	f := op.Def().Flow
	if f == nil {
		return
	}
	for _, e := range f.Edges {
		if !covers(e.To, at, r, i) {
			continue
		}
		k := i - e.To.First + e.From.First
		switch e.From.At {
		case ir.AtOperands:
			if k < op.NumOperands() && !yield(op.OperandUse(k)) {
				return
			}
		case ir.AtYields:
			for n, g := range op.Regions() {
				if (e.From.Region == n || e.From.Region == ir.AllRegions) && !slots(Returns(g), k, yield) {
					return
				}
			}
		}
	}
}

// slots yields operand slot i of each of ops.
func slots(ops iter.Seq[*ir.Op], i int, yield func(*ir.Use) bool) bool {
	for op := range ops {
		if i < op.NumOperands() && !yield(op.OperandUse(i)) {
			return false
		}
	}
	return true
}

// Targets yields the values that the value in slot u becomes, unchanged.
func (g *Graph) Targets(u *ir.Use) iter.Seq[*ir.Value] {
	return func(yield func(*ir.Value) bool) {
		op, i := u.Owner(), u.Index()
		if callee := g.Callee(op); callee != nil {
			if b := Entry(callee); i < len(b.Args()) && !yield(b.Arg(i)) {
				return
			}
		}
		if !addTargets(op, ir.AtOperands, 0, i, yield) || !op.Has(ir.ReturnLike) || op.Parent() == nil {
			return
		}
		p := op.Parent()
		if !isFunction(p) {
			addTargets(p, ir.AtYields, slices.Index(p.Regions(), op.Block().Region()), i, yield)
			return
		}
		for _, call := range g.callers[p] {
			if i < call.NumResults() && !yield(call.Result(i)) {
				return
			}
		}
	}
}

// addTargets yields the values of op to which value i at the place at of op flows.
func addTargets(op *ir.Op, at ir.Place, r, i int, yield func(*ir.Value) bool) bool {
	f := op.Def().Flow
	if f == nil {
		return true
	}
	for _, e := range f.Edges {
		if !covers(e.From, at, r, i) {
			continue
		}
		k := i - e.From.First + e.To.First
		switch e.To.At {
		case ir.AtResults:
			if k < op.NumResults() && !yield(op.Result(k)) {
				return false
			}
		case ir.AtArgs:
			for n, g := range op.Regions() {
				if e.To.Region != n && e.To.Region != ir.AllRegions || g.Entry() == nil {
					continue
				}
				if k < len(g.Entry().Args()) && !yield(g.Entry().Arg(k)) {
					return false
				}
			}
		}
	}
	return true
}

// covers reports whether value i at place at of region r belongs to port p. It ignores r for operands and results.
func covers(p ir.Port, at ir.Place, r, i int) bool {
	return p.At == at && i >= p.First && (at == ir.AtOperands || at == ir.AtResults || p.Region == ir.AllRegions || p.Region == r)
}
