package legalize

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// slice inserts a slice with strides of 1.
func (e *emitter) slice(x *ir.Value, start, limit []int64) *ir.Value {
	op, err := stablehlo.BuildSlice(e.Builder, x, stablehlo.SliceAttrs{StartIndices: start, LimitIndices: limit, Strides: slices.Repeat([]int64{1}, len(start))})
	return e.result(op.Op, err)
}

// withElement returns a copy of list with list[i] = v.
func withElement(list []int64, i, v int64) []int64 {
	out := append([]int64(nil), list...)
	out[i] = v
	return out
}

// concatenate joins tensors of rank 1.
func (e *emitter) concatenate(parts []*ir.Value) *ir.Value {
	op, err := stablehlo.BuildConcatenate(e.Builder, parts, stablehlo.ConcatenateAttrs{Dimension: 0})
	return e.result(op.Op, err)
}

// size1 returns the size of a dynamic dimension as tensor<1xi64>.
func (e *emitter) size1(x *ir.Value, dim int64) *ir.Value {
	return e.reshape(e.convert(e.dimension(x, dim), ir.Int(64)), 1)
}

// expandTopK sorts the operand together with its indices and slices the first k elements.
func expandTopK(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	x := args[0]
	t := tensorType(x)
	rank := t.Rank()
	if !t.Ranked() || rank == 0 {
		return nil
	}
	topK, _ := chlo.AsTopK(op)
	stable := topK.IsStable()
	last := t.Shape()[rank-1]
	k := topK.K()
	if last != ir.Dynamic {
		k = min(k, last)
	}
	var all, limit *ir.Value
	if !t.Static() {
		var sizes []*ir.Value
		for i, n := range t.Shape() {
			if n == ir.Dynamic {
				sizes = append(sizes, e.size1(x, int64(i)))
			} else {
				sizes = append(sizes, e.reshape(e.i64(n), 1))
			}
		}
		all = e.concatenate(sizes)
		sizes[rank-1] = e.reshape(e.i64(k), 1)
		limit = e.concatenate(sizes)
	}
	indexType := e.ctx.Tensor(t.Shape(), ir.Int(32), nil)
	var index *ir.Value
	if all == nil {
		index = e.result(stablehlo.BuildIota(e.Builder, indexType, stablehlo.IotaAttrs{IotaDimension: int64(rank - 1)}))
	} else {
		index = e.result(stablehlo.BuildDynamicIota(e.Builder, all, indexType, stablehlo.DynamicIotaAttrs{IotaDimension: int64(rank - 1)}))
	}
	sorted := e.Insert(e.sort(stable, int64(rank-1), x, index))
	e.sortDescending(sorted)
	start := make([]int64, rank)
	if all == nil {
		end := withElement(t.Shape(), int64(rank-1), k)
		values := e.slice(sorted.Result(0), start, end)
		return []*ir.Value{values, e.slice(sorted.Result(1), start, end)}
	}
	starts, strides := e.ints(ir.Int(64), start...), e.ints(ir.Int(64), slices.Repeat([]int64{1}, rank)...)
	out := make([]*ir.Value, 2)
	for i := range out {
		out[i] = e.result(stablehlo.BuildRealDynamicSlice(e.Builder, sorted.Result(i), starts, limit, strides, op.Result(i).Type()))
	}
	return out
}

// sort returns the state of a sort of values along dim, with an empty comparator.
func (e *emitter) sort(stable bool, dim int64, values ...*ir.Value) *ir.OpState {
	st := &ir.OpState{Def: stablehlo.Sort, Operands: values, Types: view.Types(values), Regions: 1}
	st.SetAttr(stablehlo.AttrDimension, ir.NewInteger(dim, ir.Int(64)))
	st.SetAttr(stablehlo.AttrIsStable, e.ctx.Bool(stable))
	return st
}

// sortDescending fills the comparator of a sort: the first operand's greatest elements come first, in the total order
// if an operand has floats.
func (e *emitter) sortDescending(sort *ir.Op) {
	b := sort.Region(0).AddBlock()
	a := stablehlo.CompareAttrs{ComparisonDirection: stablehlo.ComparisonDirectionGT}
	for _, v := range sort.Operands() {
		t := e.ctx.Tensor(nil, elemOf(v), nil)
		e.argument(b, t)
		e.argument(b, t)
		if dtypeOf(v).IsFloat() {
			a.CompareType = stablehlo.ComparisonTypeTOTALORDER
		}
	}
	inner := e.inside(b)
	op, err := stablehlo.BuildCompare(inner.Builder, b.Arg(0), b.Arg(1), a)
	ir.Must(stablehlo.BuildReturn(inner.Builder, []*ir.Value{inner.result(op.Op, err)}))
	e.adopt(inner)
}

// argument adds an argument to a block of an op that e inserted.
func (e *emitter) argument(b *ir.Block, t ir.Type) *ir.Value {
	a := b.AddArg(t, e.origin.Loc())
	a.SetPos(e.origin.Pos())
	return a
}

// expandScan replaces a scan by a loop over the slices of its inputs along the dimension. The loop carries the
// position, the carried values and the outputs, and each step writes its slices into the outputs.
func expandScan(e *emitter, op *ir.Op, _ []*ir.Value) []*ir.Value { return e.scan(op, false) }

// expandScanOfXLA expands as StableHLO 1.17 does, with the deprecated op broadcast, and with real_dynamic_slice even
// for static shapes.
func expandScanOfXLA(e *emitter, op *ir.Op, _ []*ir.Value) []*ir.Value { return e.scan(op, true) }

func (e *emitter) scan(op *ir.Op, early bool) []*ir.Value {
	scan, _ := chlo.AsScan(op)
	inputs, inits, dim := scan.Inputs(), scan.Inits(), scan.Dimension()
	outputs := op.NumResults() - len(inits)
	for i := range outputs { // refuse scans that have no expansion
		t, ok := op.Result(i).Type().(*ir.TensorType)
		if !ok || t.DType() == tensor.Invalid || !t.Static() && len(inputs) == 0 {
			return nil
		}
	}
	var length *ir.Value
	switch {
	case len(inputs) > 0:
		length = e.dimension(inputs[0], dim)
	case op.NumResults() == 0 || tensorType(op.Result(0)).Rank() <= int(dim):
		return nil
	default:
		length = e.constant(tensorType(op.Result(0)).Shape()[dim], e.ctx.Tensor(nil, ir.Int(32), nil))
	}
	length = e.convert(length, ir.Int(64))
	carried := append([]*ir.Value{e.i64(0)}, inits...)
	for i := range outputs {
		t := tensorType(op.Result(i))
		zero := e.constant(0, e.ctx.Tensor(nil, t.Elem(), nil))
		if t.Static() && early {
			full, err := stablehlo.BuildBroadcast(e.Builder, zero, stablehlo.BroadcastAttrs{BroadcastSizes: t.Shape()})
			carried = append(carried, e.result(full.Op, err))
			continue
		}
		if t.Static() {
			carried = append(carried, e.broadcast(zero, t.Shape()))
			continue
		}
		like := inputs[0]
		if i < len(inputs) {
			like = inputs[i]
		}
		carried = append(carried, e.dynamicBroadcast(zero, e.shapeOf(like), t, []int64{}))
	}
	st := &ir.OpState{Def: stablehlo.While, Operands: carried, Regions: 2}
	for _, v := range carried {
		st.Types = append(st.Types, v.Type())
	}
	loop := e.Insert(st)
	for _, r := range loop.Regions() {
		b := r.AddBlock()
		for _, t := range st.Types {
			e.argument(b, t)
		}
	}
	cond := e.inside(loop.Region(0).Entry())
	ir.Must(stablehlo.BuildReturn(cond.Builder, []*ir.Value{cond.lt(loop.Region(0).Entry().Arg(0), length)}))
	e.adopt(cond)
	body := e.inside(loop.Region(1).Entry())
	ir.Must(stablehlo.BuildReturn(body.Builder, body.scanStep(scan, loop.Region(1).Entry().Args(), outputs, length, early)))
	e.adopt(body)

	results := loop.ResultList()
	return append(results[1+len(inits):len(results):len(results)], results[1:1+len(inits)]...)
}

// scanStep inserts one step of a scan: args are the position, the carried values and the outputs. It returns their next
// values.
func (e *emitter) scanStep(scan chlo.ScanOp, args []*ir.Value, outputs int, length *ir.Value, early bool) []*ir.Value {
	inputs, inits, dim := scan.Inputs(), scan.Inits(), scan.Dimension()
	at := args[0]
	if scan.IsReverse() {
		one := e.i64(1)
		last := e.sub(length, one)
		at = e.sub(last, at)
	}
	var pieces []*ir.Value
	for _, x := range inputs {
		pieces = append(pieces, e.sliceAt(x, dim, at, early))
	}
	yield := e.body(scan.Body(), append(pieces, args[1:1+len(inits)]...)...)
	var updated []*ir.Value
	for i, old := range args[1+len(inits):] {
		t := tensorType(old)
		shape := withElement(t.Shape(), dim, 1)
		piece := e.reshape(yield[i], shape...)
		zero := e.i64(0)
		start := make([]*ir.Value, t.Rank())
		for d := range start {
			start[d] = zero
		}
		start[dim] = at
		updated = append(updated, e.typed(stablehlo.DynamicUpdateSlice, t, append([]*ir.Value{old, piece}, start...)...))
	}
	one := e.i64(1)
	next := e.add(args[0], one)
	return append(append([]*ir.Value{next}, yield[outputs:]...), updated...)
}

// sliceAt returns the slice of x at position at of dimension dim, without that dimension.
func (e *emitter) sliceAt(x *ir.Value, dim int64, at *ir.Value, early bool) *ir.Value {
	t := tensorType(x)
	shape := withElement(t.Shape(), dim, 1)
	typ := e.ctx.Tensor(shape, t.Elem(), nil)
	zero := e.i64(0)
	start := make([]*ir.Value, t.Rank())
	for d := range start {
		start[d] = zero
	}
	start[dim] = at
	var piece *ir.Value
	if t.Static() && !early {
		piece = e.Insert(sliceState(typ, x, start, shape)).Result(0)
	} else {
		starts := e.vector(start)
		limits := make([]*ir.Value, t.Rank())
		for d, n := range t.Shape() {
			switch {
			case int64(d) == dim:
				limits[d] = e.add(at, e.i64(1))
			case n == ir.Dynamic:
				limits[d] = e.convert(e.dimension(x, int64(d)), ir.Int(64))
			default:
				limits[d] = e.convert(e.constant(n, e.ctx.Tensor(nil, ir.Int(32), nil)), ir.Int(64))
			}
		}
		limit := e.vector(limits)
		strides := e.ints(ir.Int(64), slices.Repeat([]int64{1}, t.Rank())...)
		piece = e.result(stablehlo.BuildRealDynamicSlice(e.Builder, x, starts, limit, strides, typ))
	}
	return e.reshape(piece, append(append([]int64{}, shape[:dim]...), shape[dim+1:]...)...)
}

// sliceState returns the state of a dynamic_slice.
func sliceState(t ir.Type, x *ir.Value, start []*ir.Value, sizes []int64) *ir.OpState {
	st := &ir.OpState{Def: stablehlo.DynamicSlice, Operands: append([]*ir.Value{x}, start...), Types: []ir.Type{t}}
	st.SetAttr(stablehlo.AttrSliceSizes, ir.NewDenseArray(ir.Int(64), sizes))
	return st
}

// vector joins scalars to a tensor of rank 1.
func (e *emitter) vector(scalars []*ir.Value) *ir.Value {
	parts := make([]*ir.Value, len(scalars))
	for i, s := range scalars {
		parts[i] = e.reshape(s, 1)
	}
	return e.concatenate(parts)
}
