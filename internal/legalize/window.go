package legalize

import (
	"math"
	"slices"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// expandSelectAndScatter reduces each window to its selected element and the position of this element, then scatters
// the source to the positions. Padding has position -1 and is never selected.
func expandSelectAndScatter(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	v, _ := stablehlo.AsSelectAndScatter(op)
	x, t := args[0], tensorType(args[0])
	n := tensor.Shape(t.Shape()).NumElements()
	spread := func(v *ir.Value, shape ...int64) *ir.Value {
		return stablehlo.BuildBroadcastInDim(e.Builder, v, e.ctx.Tensor(shape, elemOf(v), nil), stablehlo.BroadcastInDimAttrs{BroadcastDimensions: []int64{}}).Result(0)
	}
	if n == 0 {
		return []*ir.Value{spread(args[2], t.Shape()...)}
	}
	elem := ir.Int(64)
	if n <= math.MaxInt32 {
		elem = ir.Int(32)
	}
	flat := stablehlo.BuildIota(e.Builder, e.ctx.Tensor([]int64{n}, elem, nil), stablehlo.IotaAttrs{}).Result(0)
	scalar, index := e.ctx.Tensor(nil, t.Elem(), nil), e.ctx.Tensor(nil, elem, nil)
	some := e.slice(x, make([]int64, t.Rank()), slices.Repeat([]int64{1}, t.Rank())) // any value: the first element replaces it
	inputs := []*ir.Value{x, e.reshape(flat, t.Shape()...), e.reshape(some), e.constant(-1, index)}
	out := tensorType(args[1]).Shape()
	window := &ir.OpState{Def: stablehlo.ReduceWindow, Operands: inputs, Types: []ir.Type{e.ctx.Tensor(out, t.Elem(), nil), e.ctx.Tensor(out, elem, nil)}, Regions: 1}
	window.SetAttr(stablehlo.AttrWindowDimensions, ir.NewDenseArray(ir.Int(64), v.WindowDimensions()))
	for _, name := range []string{stablehlo.AttrWindowStrides, stablehlo.AttrPadding} {
		if a := op.Attr(name); a != nil {
			window.SetAttr(name, a)
		}
	}
	selected := e.Insert(window)
	b := selected.Region(0).AddBlock(scalar, index, scalar, index)
	a, at, c, ct := b.Arg(0), b.Arg(1), b.Arg(2), b.Arg(3)
	inner := e.inside(b)
	zero := inner.constant(0, index)
	keep := inner.body(v.Select(), a, c)[0]
	keep = inner.or(inner.lt(ct, zero), inner.and(inner.ge(at, zero), keep))
	stablehlo.BuildReturn(inner.Builder, []*ir.Value{inner.sel(keep, a, c), inner.sel(keep, at, ct)})
	e.adopt(inner)

	m := tensor.Shape(out).NumElements()
	to := elemOf(op.Result(0))
	scatter := &ir.OpState{Def: stablehlo.Scatter, Operands: []*ir.Value{spread(args[2], n), e.reshape(selected.Result(1), m, 1), e.reshape(args[1], m)},
		Types: []ir.Type{e.ctx.Tensor([]int64{n}, to, nil)}, Regions: 1}
	scatter.SetAttr(stablehlo.AttrScatterDimensionNumbers, stablehlo.ScatterAttr.New(&stablehlo.ScatterDims{InsertedWindowDims: []int64{0}, ScatterDimsToOperandDims: []int64{0}, IndexVectorDim: 1}))
	sums := e.Insert(scatter)
	one := e.ctx.Tensor(nil, to, nil)
	b = sums.Region(0).AddBlock(one, one)
	inner = e.inside(b)
	stablehlo.BuildReturn(inner.Builder, inner.body(v.Scatter(), b.Args()...))
	e.adopt(inner)
	return []*ir.Value{e.reshape(sums.Result(0), t.Shape()...)}
}

// body copies the ops of a region of one block, with the given arguments, and returns the values that it returns.
func (e *emitter) body(r *ir.Region, args ...*ir.Value) []*ir.Value {
	values := map[*ir.Value]*ir.Value{}
	for i, a := range r.Entry().Args() {
		values[a] = args[i]
	}
	var out []*ir.Value
	for op := range r.Entry().Ops() {
		if op != r.Entry().Terminator() {
			e.Clone(op, values)
			continue
		}
		for _, v := range op.Operands() {
			if w := values[v]; w != nil {
				v = w
			}
			out = append(out, v)
		}
	}
	return out
}
