package hlo

import (
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// expandModule returns a copy of m in which StableHLO ops replace the CHLO ops without an instruction, and constants
// are in the regions that use them.
func expandModule(m *ir.Module) (*ir.Module, error) {
	m = m.Clone()
	if err := legalize.CHLO(m.Op(), legalize.InHLO, rewrite.Greedy); err != nil {
		return nil, err
	}
	sinkConstants(m.Op())
	return m, nil
}

// expandForUpdate returns m, or a changed copy of m: StableHLO ops replace the CHLO ops that have no instruction, and
// constants are in the regions that use them.
func expandForUpdate(m *ir.Module) (*ir.Module, error) {
	keep := func(op *ir.Op) bool { return legalize.InHLO(op) || exportOps[op.Def()] != nil }
	expand, sink := false, false
	m.Walk(func(op *ir.Op) bool {
		expand = expand || op.Def().Dialect() == chlo.Tan.Dialect() && !keep(op)
		if op.Has(ir.ConstantLike) {
			for u := range op.Result(0).Users() {
				sink = sink || u.Block() != op.Block()
			}
		}
		return !expand || !sink
	})
	if !expand && !sink {
		return m, nil
	}
	m = m.Clone()
	if expand {
		if err := legalize.CHLO(m.Op(), keep, rewrite.Greedy); err != nil {
			return nil, err
		}
	}
	if sink {
		sinkConstants(m.Op())
	}
	return m, nil
}

// sinkConstants copies constants into the regions that use them, inner regions first: computations use no value from
// outside.
func sinkConstants(scope *ir.Op) {
	m := scope.Module()
	for _, r := range scope.Regions() {
		for _, b := range r.Blocks() {
			for op := range b.Ops() {
				sinkConstants(op)
			}
		}
	}
	if scope.Has(ir.IsolatedFromAbove) {
		return
	}
	var outside []*ir.Op
	for _, r := range scope.Regions() {
		sunk := map[*ir.Value]*ir.Value{}
		for _, v := range captures([]*ir.Region{r}) {
			if c := v.DefiningOp(); c != nil && c.Has(ir.ConstantLike) {
				sunk[v] = m.AtStart(r.Entry()).Clone(c, map[*ir.Value]*ir.Value{}).Result(0)
				outside = append(outside, c)
			}
		}
		r.Op().Walk(func(op *ir.Op) bool {
			for i, v := range op.OperandList() {
				if in := sunk[v]; in != nil && inside(op, r) {
					op.SetOperand(i, in)
				}
			}
			return true
		})
	}
	for _, c := range outside {
		if !c.Erased() && !c.HasUses() {
			c.Erase()
		}
	}
}

// inside reports whether r contains op.
func inside(op *ir.Op, r *ir.Region) bool {
	for b := op.Block(); b != nil; b = op.Block() {
		if b.Region() == r {
			return true
		}
		if op = b.Parent(); op == nil {
			break
		}
	}
	return false
}
