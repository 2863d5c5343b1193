package artifact

import (
	"github.com/hlocb/hlocb/dialect/sdy"
	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// foldConstants repeats the changes that MLIR's greedy rewriter makes to a module that XLA serializes, even if no
// pattern applies. It moves constants to the start of their function, merges equal ones, and removes unused ops without
// effects.
func foldConstants(m *ir.Module) {
	eraseDead(m.Op())
	f := &folder{m: m}
	f.enter(m.Op())
}

// folder moves the constants of one isolated op at a time.
type folder struct {
	m     *ir.Module
	block *ir.Block // where constants move to
	owned map[*ir.Op]bool
	known map[string][]*ir.Op // by type
}

// enter processes the regions of an op that uses no values from outside.
func (f *folder) enter(op *ir.Op) {
	for _, r := range op.Regions() {
		if r.Empty() {
			continue
		}
		g := &folder{m: f.m, block: r.Entry(), owned: map[*ir.Op]bool{}, known: map[string][]*ir.Op{}}
		g.region(r)
	}
}

// region visits the ops of a region in program order.
func (f *folder) region(r *ir.Region) {
	for _, b := range r.Blocks() {
		for op := range b.Ops() {
			switch {
			case op.Is(hlo.Constant):
				f.constant(op)
			case op.Has(ir.IsolatedFromAbove):
				f.enter(op)
			default:
				for _, n := range op.Regions() {
					f.region(n)
				}
			}
		}
	}
}

// constant moves a constant to the start of the block, or replaces it with an equal one.
func (f *folder) constant(op *ir.Op) {
	key := op.Result(0).Type().String()
	for _, c := range f.known[key] {
		if ir.EqualAttrs(c.Attr(hlo.AttrValue), op.Attr(hlo.AttrValue)) {
			op.ReplaceWith(c.Result(0))
			return
		}
	}
	f.known[key] = append(f.known[key], op)
	f.owned[op] = true
	first := f.block.First()
	if op != first && (op.Block() != f.block || op.Prev() == nil || !f.owned[op.Prev()]) {
		op.MoveBefore(first)
	}
}

// eraseDead erases the pure ops in op whose results are unused.
func eraseDead(op *ir.Op) {
	for _, r := range op.Regions() {
		for _, b := range r.Blocks() {
			for o := b.Last(); o != nil; {
				prev := o.Prev()
				eraseDead(o)
				if o.NumResults() > 0 && !o.HasUses() && removable(o) {
					o.Erase()
				}
				o = prev
			}
		}
	}
}

// removable reports whether op has no effect: it is pure, or a manual computation of pure ops.
func removable(op *ir.Op) bool {
	if !op.Is(sdy.ManualComputation) {
		return op.Has(ir.Pure) && op.NumRegions() == 0
	}
	pure := true
	op.Walk(func(o *ir.Op) bool {
		pure = pure && (o == op || o.Has(ir.Pure) || o.Is(sdy.Return))
		return pure
	})
	return pure
}
