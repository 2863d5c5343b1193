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
	if n == 0 {
		return []*ir.Value{e.broadcast(args[2], t.Shape())}
	}
	elem := ir.Int(64)
	if n <= math.MaxInt32 {
		elem = ir.Int(32)
	}
	flat := e.iota([]int64{n}, elem, 0)
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
	ir.Must(stablehlo.BuildReturn(inner.Builder, []*ir.Value{inner.sel(keep, a, c), inner.sel(keep, at, ct)}))
	e.adopt(inner)

	m := tensor.Shape(out).NumElements()
	to := elemOf(op.Result(0))
	scatter := &ir.OpState{Def: stablehlo.Scatter, Operands: []*ir.Value{e.broadcast(args[2], []int64{n}), e.reshape(selected.Result(1), m, 1), e.reshape(args[1], m)},
		Types: []ir.Type{e.ctx.Tensor([]int64{n}, to, nil)}, Regions: 1}
	scatter.SetAttr(stablehlo.AttrScatterDimensionNumbers, stablehlo.ScatterAttr.New(&stablehlo.ScatterDims{InsertedWindowDims: []int64{0}, ScatterDimsToOperandDims: []int64{0}, IndexVectorDim: 1}))
	sums := e.Insert(scatter)
	one := e.ctx.Tensor(nil, to, nil)
	b = sums.Region(0).AddBlock(one, one)
	inner = e.inside(b)
	ir.Must(stablehlo.BuildReturn(inner.Builder, inner.body(v.Scatter(), b.Args()...)))
	e.adopt(inner)
	return []*ir.Value{e.reshape(sums.Result(0), t.Shape()...)}
}
