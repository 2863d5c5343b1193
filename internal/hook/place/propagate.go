package place

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/sdy"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// propagate returns the sharding that Shardy derives for v from the operands of its op, or nil if it derives none. A
// callback that JAX runs on every device has this sharding. If two operands have different axes for a dimension, the
// first operand's axes count.
func (p *placer) propagate(v *ir.Value) *sdy.Sharding {
	for u := range p.graph.Sources(v) { // through loops, branches and calls
		if s := p.shardingOf(u.Value()); s != nil {
			return s
		}
	}
	def := v.DefiningOp()
	if def == nil {
		return nil
	}
	typ, ok := v.Type().(*ir.TensorType)
	if !ok || !typ.Ranked() {
		return nil
	}
	var out *sdy.Sharding
	taken := map[string]bool{}
	for i, operand := range def.Operands() {
		dims := sources(def, v.Index(), i, typ.Rank())
		if dims == nil {
			continue
		}
		in := p.shardingOf(operand)
		if in == nil {
			continue
		}
		if out == nil {
			out = p.wholeSharding(typ)
		}
		for d, from := range dims {
			if from < 0 || len(out.Dims[d].Axes) > 0 {
				continue
			}
			axes := in.Dims[from].Axes
			n := p.shards(axes)
			if n == 0 || typ.Shape()[d]%n != 0 || slices.ContainsFunc(axes, func(a sdy.AxisRef) bool { return taken[a.Name] }) {
				continue
			}
			for _, a := range axes {
				taken[a.Name] = true
			}
			out.Dims[d].Axes = slices.Clone(axes)
		}
	}
	return out
}

// sources returns, for each dimension of a result, the dimension of an operand that has the same elements, or -1. It
// returns nil if the operand does not determine the result's sharding.
func sources(op *ir.Op, result, operand, rank int) []int {
	in, ok := op.Operand(operand).Type().(*ir.TensorType)
	if !ok || !in.Ranked() {
		return nil
	}
	shape, from := op.Result(result).Type().(*ir.TensorType).Shape(), in.Shape()
	out := slices.Repeat([]int{-1}, rank)
	same := func(d, k int) { // dimension k of the operand becomes dimension d
		if shape[d] == from[k] {
			out[d] = k
		}
	}
	each := func(sizes bool) []int { // equal positions, and sizes if they matter
		for d := range min(rank, len(from)) {
			if out[d] = d; sizes {
				out[d] = -1
				same(d, d)
			}
		}
		return out
	}
	if b, ok := stablehlo.AsBroadcastInDim(op); ok {
		for k, d := range b.BroadcastDimensions() {
			same(int(d), k)
		}
		return out
	}
	if t, ok := stablehlo.AsTranspose(op); ok {
		for d, k := range t.Permutation() {
			same(d, int(k))
		}
		return out
	}
	if r, ok := stablehlo.AsReduce(op); ok {
		if operand != result {
			return nil
		}
		d := 0
		for k := range from {
			if !slices.Contains(r.Dimensions(), int64(k)) {
				same(d, k)
				d++
			}
		}
		return out
	}
	if g, ok := stablehlo.AsDotGeneral(op); ok {
		return dotSources(g, operand, len(from), out)
	}
	switch {
	case op.IsOrMirrors(stablehlo.Concatenate), op.IsOrMirrors(stablehlo.Slice):
		return each(false)
	case op.IsOrMirrors(stablehlo.Reshape):
		return reshapeSources(shape, from, out)
	case op.IsOrMirrors(stablehlo.Pad), op.IsOrMirrors(stablehlo.DynamicSlice), op.IsOrMirrors(stablehlo.DynamicUpdateSlice):
		if operand > 0 {
			return nil // indices, or a small part
		}
		return each(true)
	case alike(op):
		if len(from) == rank {
			return each(true)
		}
	}
	return nil
}

// alike reports whether the result's elements come from the elements at the same positions of each operand that has the
// result's shape.
func alike(op *ir.Op) bool {
	return op.Has(ir.Elementwise) || op.Has(ir.SameShape) || op.IsOrMirrors(stablehlo.Select) || op.IsOrMirrors(stablehlo.Clamp)
}

// dotSources is sources for dot_general: its result has the batching dimensions, then the free dimensions of both
// operands.
func dotSources(g stablehlo.DotGeneralOp, operand, rank int, out []int) []int {
	dims := g.Dims()
	batch, contracted, at := dims.LHSBatching, dims.LHSContracting, len(dims.LHSBatching)
	if operand == 1 {
		at = len(out) - (rank - len(dims.RHSBatching) - len(dims.RHSContracting))
		batch, contracted = dims.RHSBatching, dims.RHSContracting
	}
	for d, k := range batch {
		out[d] = int(k)
	}
	for k := range rank {
		if !slices.Contains(batch, int64(k)) && !slices.Contains(contracted, int64(k)) {
			out[at] = k
			at++
		}
	}
	return out
}

// reshapeSources is sources for a reshape. A dimension keeps the shards of the dimension that starts at the same
// element: a merged or divided dimension has as many shards, each of as many elements.
func reshapeSources(to, from []int64, out []int) []int {
	before, after, k := int64(1), int64(1), 0 // products of the dimensions before k and before d
	for d, n := range to {
		for k < len(from) && (before < after || from[k] == 1) {
			before *= from[k]
			k++
		}
		if k < len(from) && before == after && n > 1 {
			out[d] = k
		}
		after *= n
	}
	return out
}
