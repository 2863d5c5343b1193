package legalize

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// expandRaggedDot replaces a ragged dot by one dot per group. In each, the rows or columns of lhs outside the group are
// zero. If the ragged dimension is a batching dimension, groups make no difference, and one dot is enough.
func expandRaggedDot(e *emitter, op *ir.Op, _ []*ir.Value) []*ir.Value {
	dot, _ := chlo.AsRaggedDot(op)
	d := dot.Dims()
	for _, v := range append(op.OperandList(), op.Result(0)) {
		if t, ok := v.Type().(*ir.TensorType); !ok || !t.Ranked() {
			return nil
		}
	}
	if d == nil || len(d.LHSRagged) != 1 {
		return nil
	}
	r := &raggedDot{emitter: e, op: dot, dims: d, lhs: dot.LHS(), rhs: dot.RHS(), sizes: dot.GroupSizes(), ragged: d.LHSRagged[0]}
	out := tensorType(op.Result(0))
	switch left := tensorType(r.lhs).Rank(); {
	case left < tensorType(r.rhs).Rank():
		return r.freeDimension(out)
	case left < out.Rank():
		return r.contractingDimension(out)
	}
	return []*ir.Value{r.dot(r.lhs, r.rhs, d.RHSBatching, d.RHSContracting, out)}
}

// raggedDot is one expansion.
type raggedDot struct {
	*emitter
	op              chlo.RaggedDotOp
	dims            *chlo.RaggedDotDims
	lhs, rhs, sizes *ir.Value
	ragged          int64     // the ragged dimension of lhs
	position, zero  *ir.Value // of each element of lhs along the ragged dimension; zeros like lhs
}

// dot inserts a dot_general of lhs and rhs.
func (r *raggedDot) dot(lhs, rhs *ir.Value, batching, contracting []int64, t ir.Type) *ir.Value {
	st := &ir.OpState{Def: stablehlo.DotGeneral, Operands: []*ir.Value{lhs, rhs}, Types: []ir.Type{t}}
	st.SetAttr(stablehlo.AttrDotDimensionNumbers, stablehlo.DotAttr.New(&stablehlo.DotDims{
		LHSBatching: r.dims.LHSBatching, RHSBatching: batching, LHSContracting: r.dims.LHSContracting, RHSContracting: contracting,
	}))
	if a, ok := r.op.Attr(stablehlo.AttrPrecisionConfig).(*ir.ArrayAttr); ok {
		list := make([]ir.Attr, len(a.Elems()))
		for i, p := range r.op.PrecisionConfig() {
			list[i] = ir.NewEnum(stablehlo.PrecisionEnum, int(p))
		}
		st.SetAttr(stablehlo.AttrPrecisionConfig, ir.NewArray(list))
	}
	return r.Insert(st).Result(0)
}

// start inserts the position of the first group, 0, and the values that all groups share.
func (r *raggedDot) start() *ir.Value {
	i64 := ir.Int(64)
	t := tensorType(r.sizes)
	rank := t.Rank()
	batch := r.ctx.Tensor(t.Shape()[:rank-1], i64, nil)
	var start *ir.Value
	if batch.Static() {
		start = r.constant(0, batch)
	} else {
		shape := r.shapeOf(r.sizes)
		shape = r.slice(shape, []int64{0}, []int64{int64(rank - 1)})
		start = r.dynamicBroadcast(r.i64(0), shape, batch, []int64{})
	}
	lhs := tensorType(r.lhs)
	n := lhs.Shape()[r.ragged]
	positions := r.ctx.Tensor(withElement(slices.Repeat([]int64{1}, lhs.Rank()), r.ragged, n), i64, nil)
	if n == ir.Dynamic {
		parts := make([]*ir.Value, lhs.Rank())
		for d := range parts {
			if int64(d) == r.ragged {
				parts[d] = r.size1(r.lhs, int64(d))
			} else {
				parts[d] = r.ints(i64, 1)
			}
		}
		r.position = stablehlo.BuildDynamicIota(r.Builder, r.concatenate(parts), positions, stablehlo.DynamicIotaAttrs{IotaDimension: r.ragged}).Result(0)
	} else {
		r.position = stablehlo.BuildIota(r.Builder, positions, stablehlo.IotaAttrs{IotaDimension: r.ragged}).Result(0)
	}
	if lhs.Static() {
		r.zero = r.constant(0, lhs)
	} else {
		scalar := r.constant(0, r.ctx.Tensor(nil, lhs.Elem(), nil))
		r.zero = r.dynamicBroadcast(scalar, r.shapeOf(r.lhs), lhs, []int64{})
	}
	return start
}

// size inserts the size of a group.
func (r *raggedDot) size(group int64) *ir.Value {
	i64 := ir.Int(64)
	t := tensorType(r.sizes)
	rank := t.Rank()
	last := int64(rank - 1)
	var piece *ir.Value
	if t.Static() {
		piece = r.slice(r.sizes, withElement(make([]int64, rank), last, group), withElement(t.Shape(), last, group+1))
	} else {
		start := r.ints(i64, withElement(make([]int64, rank), last, group)...)
		strides := r.ints(i64, slices.Repeat([]int64{1}, rank)...)
		limits := make([]*ir.Value, rank)
		for d := range limits {
			if int64(d) == last {
				limits[d] = r.i64(group + 1)
			} else {
				limits[d] = r.convert(r.dimension(r.sizes, int64(d)), i64)
			}
		}
		limit := r.vector(limits)
		piece = stablehlo.BuildRealDynamicSlice(r.Builder, r.sizes, start, limit, strides, r.ctx.Tensor(withElement(t.Shape(), last, 1), t.Elem(), nil)).Result(0)
	}
	n := r.reshape(piece, t.Shape()[:last]...)
	if t.Elem() != i64 {
		n = r.convert(n, i64)
	}
	return n
}

// masked inserts lhs with zeros outside of the positions from start to limit.
func (r *raggedDot) masked(start, limit *ir.Value) *ir.Value {
	t := tensorType(r.lhs)
	wide := r.ctx.Tensor(t.Shape(), ir.Int(64), nil)
	spread := func(v *ir.Value, dims int) *ir.Value {
		list := lastDims(dims, dims)
		if t.Static() {
			return stablehlo.BuildBroadcastInDim(r.Builder, v, wide, stablehlo.BroadcastInDimAttrs{BroadcastDimensions: list}).Result(0)
		}
		return r.dynamicBroadcast(v, r.shapeOf(r.lhs), wide, list)
	}
	batch := tensorType(r.sizes).Rank() - 1
	from, to := spread(start, batch), spread(limit, batch)
	position := spread(r.position, t.Rank())
	reached := r.ge(position, from)
	mask := r.and(reached, r.lt(position, to))
	return r.sel(mask, r.lhs, r.zero)
}

// freeDimension expands lhs [b, m, k] x rhs [g, b, k, n] to [b, m, n]: rows of m choose the matrix of their group.
func (r *raggedDot) freeDimension(out *ir.TensorType) []*ir.Value {
	if len(r.dims.RHSGroup) != 1 {
		return nil
	}
	group := r.dims.RHSGroup[0]
	rhs := tensorType(r.rhs)
	groups := rhs.Shape()[group]
	if groups == ir.Dynamic || groups == 0 {
		return nil
	}
	without := func(dims []int64) []int64 {
		list := make([]int64, len(dims))
		for i, d := range dims {
			if list[i] = d; d > group {
				list[i]--
			}
		}
		return list
	}
	start := r.start()
	var sum *ir.Value
	for i := range groups {
		limit := r.add(start, r.size(i))
		rows := r.masked(start, limit)
		product := r.dot(rows, r.matrix(group, i), without(r.dims.RHSBatching), without(r.dims.RHSContracting), out)
		if sum == nil {
			sum = product
		} else {
			sum = r.add(sum, product)
		}
		start = limit
	}
	return []*ir.Value{sum}
}

// matrix inserts element i of rhs along the group dimension, without that dimension.
func (r *raggedDot) matrix(group, i int64) *ir.Value {
	t := tensorType(r.rhs)
	rank := t.Rank()
	shape := append(append([]int64{}, t.Shape()[:group]...), t.Shape()[group+1:]...)
	if t.Static() {
		piece := r.slice(r.rhs, withElement(make([]int64, rank), group, i), withElement(t.Shape(), group, i+1))
		return r.reshape(piece, shape...)
	}
	i64 := ir.Int(64)
	starts, limits := make([]*ir.Value, rank), make([]*ir.Value, rank)
	for d := range starts {
		if int64(d) == group {
			starts[d] = r.ints(i64, i)
			limits[d] = r.ints(i64, i+1)
		} else {
			starts[d] = r.ints(i64, 0)
			limits[d] = r.size1(r.rhs, int64(d))
		}
	}
	start, limit := r.concatenate(starts), r.concatenate(limits)
	strides := r.ints(i64, slices.Repeat([]int64{1}, rank)...)
	piece := stablehlo.BuildRealDynamicSlice(r.Builder, r.rhs, start, limit, strides, r.ctx.Tensor(withElement(t.Shape(), group, 1), t.Elem(), nil)).Result(0)
	sizes := r.concatenate(append(append([]*ir.Value{}, limits[:group]...), limits[group+1:]...))
	return stablehlo.BuildDynamicReshape(r.Builder, piece, sizes, r.ctx.Tensor(shape, t.Elem(), nil)).Result(0)
}

// contractingDimension expands lhs [b, m, k] x rhs [b, k, n] to [g, b, m, n]: each group is a range of k.
func (r *raggedDot) contractingDimension(out *ir.TensorType) []*ir.Value {
	t := tensorType(r.sizes)
	groups := t.Shape()[t.Rank()-1]
	found := false
	for _, d := range r.dims.LHSContracting {
		found = found || d == r.ragged
	}
	if groups == ir.Dynamic || groups == 0 || !found {
		return nil
	}
	start := r.start()
	var products []*ir.Value
	one := r.ctx.Tensor(out.Shape()[1:], out.Elem(), nil)
	for i := range groups {
		limit := r.add(start, r.size(i))
		columns := r.masked(start, limit)
		products = append(products, r.dot(columns, r.rhs, r.dims.RHSBatching, r.dims.RHSContracting, one))
		start = limit
	}
	for i, p := range products {
		shape := append([]int64{1}, one.Shape()...)
		if one.Static() {
			products[i] = r.reshape(p, shape...)
			continue
		}
		sizes := []*ir.Value{r.ints(ir.Int(64), 1)}
		for d := range one.Rank() {
			sizes = append(sizes, r.size1(p, int64(d)))
		}
		products[i] = stablehlo.BuildDynamicReshape(r.Builder, p, r.concatenate(sizes), r.ctx.Tensor(shape, one.Elem(), nil)).Result(0)
	}
	return []*ir.Value{r.concatenate(products)}
}
