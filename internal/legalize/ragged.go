package legalize

import (
	"fmt"
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
		r.position = r.result(stablehlo.BuildDynamicIota(r.Builder, r.concatenate(parts), positions, stablehlo.DynamicIotaAttrs{IotaDimension: r.ragged}))
	} else {
		r.position = r.result(stablehlo.BuildIota(r.Builder, positions, stablehlo.IotaAttrs{IotaDimension: r.ragged}))
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
		piece = r.result(stablehlo.BuildRealDynamicSlice(r.Builder, r.sizes, start, limit, strides, r.ctx.Tensor(withElement(t.Shape(), last, 1), t.Elem(), nil)))
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
			return r.broadcast(v, t.Shape(), list...)
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
	start := r.start()
	var sum *ir.Value
	for i := range groups {
		limit := r.add(start, r.size(i))
		rows := r.masked(start, limit)
		product := r.dot(rows, r.matrix(group, i), without(r.dims.RHSBatching, group), without(r.dims.RHSContracting, group), out)
		if sum == nil {
			sum = product
		} else {
			sum = r.add(sum, product)
		}
		start = limit
	}
	return []*ir.Value{sum}
}

// without renumbers dimensions as those of a tensor without the dimension group.
func without(dims []int64, group int64) []int64 {
	list := slices.Clone(dims)
	for i, d := range dims {
		if d > group {
			list[i]--
		}
	}
	return list
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
	piece := r.result(stablehlo.BuildRealDynamicSlice(r.Builder, r.rhs, start, limit, strides, r.ctx.Tensor(withElement(t.Shape(), group, 1), t.Elem(), nil)))
	sizes := r.concatenate(append(append([]*ir.Value{}, limits[:group]...), limits[group+1:]...))
	return r.result(stablehlo.BuildDynamicReshape(r.Builder, piece, sizes, r.ctx.Tensor(shape, t.Elem(), nil)))
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
		products[i] = r.result(stablehlo.BuildDynamicReshape(r.Builder, p, r.concatenate(sizes), r.ctx.Tensor(shape, one.Elem(), nil)))
	}
	return []*ir.Value{r.concatenate(products)}
}

// expandStaticRaggedDot is expandRaggedDot for static shapes. It keeps the groups apart: infinities and NaN of one
// group do not reach another one. Rows may follow other rows, and a prefix of dimensions may have its own group sizes.
func expandStaticRaggedDot(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	dot, _ := chlo.AsRaggedDot(op)
	d, sizes, out := dot.Dims(), tensorType(args[2]), tensorType(op.Result(0))
	if d == nil || len(d.LHSRagged) != 1 || sizes.Rank() == 0 {
		return nil
	}
	r := &raggedDot{emitter: e, op: dot, dims: d, lhs: args[0], rhs: args[1], sizes: args[2], ragged: d.LHSRagged[0]}
	lhs, rhs := tensorType(r.lhs), tensorType(r.rhs)
	if slices.Contains(d.LHSBatching, r.ragged) {
		return []*ir.Value{r.dot(r.lhs, r.rhs, d.RHSBatching, d.RHSContracting, out)}
	}
	kept := slices.Clone(d.LHSBatching) // the dimensions of lhs in the product, in order
	for k := range int64(lhs.Rank()) {
		if !slices.Contains(d.LHSBatching, k) && !slices.Contains(d.LHSContracting, k) {
			kept = append(kept, k)
		}
	}
	contracted := slices.Index(d.LHSContracting, r.ragged)
	var prefix []int64 // dimensions of lhs whose elements have their own group sizes
	if sizes.Rank() > 1 {
		prefix = append(prefix, d.LHSBatching...)
		if contracted >= 0 {
			prefix = append(prefix, d.LHSContracting[:contracted]...)
		} else {
			prefix = append(prefix, kept[len(prefix):slices.Index(kept, r.ragged)]...)
		}
	}
	groups := sizes.Shape()[sizes.Rank()-1]
	if rows := contracted < 0; len(prefix)+1 != sizes.Rank() || rows && (len(d.RHSGroup) != 1 || rhs.Shape()[d.RHSGroup[0]] != groups) {
		e.fail(fmt.Errorf("has group_sizes or group dimensions that do not fit"))
		return nil
	}
	// within inserts x where the position along dim is in the group, else y. places has the dimensions of prefix in x.
	within := func(x, y, start, limit *ir.Value, dim int64, places []int64) *ir.Value {
		t := tensorType(x)
		spread := func(v *ir.Value) *ir.Value { return e.broadcast(v, t.Shape(), places...) }
		at := e.iota(t.Shape(), ir.Int(64), dim)
		return e.sel(e.and(e.ge(at, spread(start)), e.lt(at, spread(limit))), x, y)
	}
	list := func(f func(dim int64) int64) []int64 {
		places := make([]int64, len(prefix))
		for i, k := range prefix {
			places[i] = f(k)
		}
		return places
	}
	result := e.constant(0, out)
	none := e.constant(0, e.ctx.Tensor(sizes.Shape()[:sizes.Rank()-1], ir.Int(64), nil))
	start := none
	var parts []*ir.Value
	for g := range groups {
		limit := e.add(start, e.max(r.size(g), none))
		if contracted < 0 {
			place := func(k int64) int64 { return int64(slices.Index(kept, k)) }
			group := d.RHSGroup[0]
			rows := r.dot(r.lhs, r.matrix(group, g), without(d.RHSBatching, group), without(d.RHSContracting, group), out)
			result = within(rows, result, start, limit, place(r.ragged), list(place))
		} else {
			other := func(k int64) int64 { // the dimension of rhs that corresponds to dimension k of lhs
				if i := slices.Index(d.LHSBatching, k); i >= 0 {
					return d.RHSBatching[i]
				}
				return d.RHSContracting[slices.Index(d.LHSContracting, k)]
			}
			x := within(r.lhs, e.num(0, r.lhs), start, limit, r.ragged, prefix)
			y := within(r.rhs, e.num(0, r.rhs), start, limit, other(r.ragged), list(other))
			part := r.dot(x, y, d.RHSBatching, d.RHSContracting, e.ctx.Tensor(out.Shape()[1:], out.Elem(), nil))
			parts = append(parts, e.reshape(part, withElement(out.Shape(), 0, 1)...))
		}
		start = limit
	}
	if len(parts) > 0 {
		result = e.concatenate(parts)
	}
	return []*ir.Value{result}
}
