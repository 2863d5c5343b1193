package passes

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/shape"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/arith"
	"github.com/hlocb/hlocb/internal/dialect/tensors"
	"github.com/hlocb/hlocb/internal/hook/irutil"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

var shapeOf = shape.ShapeOf

// sameCount reports whether a and b are static tensors of the same number of elements.
func sameCount(a, b *ir.Value) bool {
	s, t := static(a), static(b)
	return s != nil && t != nil && numElements(s) == numElements(t)
}

// simplifyBroadcast: a broadcast that adds no elements is x itself for the same type and order of dimensions, a reshape
// for the same order, else a transpose if it adds no dimension. broadcast(broadcast(x, a), b) = broadcast(x, b[a]),
// unless the inner one is about to become a reshape.
func simplifyBroadcast(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsBroadcastInDim(op)
	x, dims := v.Input(), v.BroadcastDimensions()
	if isIota(dims) && sameResult(op, x) {
		return replace(r, op, x)
	}
	same := sameCount(op.Result(0), x)
	if same && slices.IsSorted(dims) {
		return replace(r, op, ir.Must(stablehlo.BuildReshape(r.Before(op), x, op.Result(0).Type())).Result(0))
	}
	if in, ok := stablehlo.AsBroadcastInDim(x.DefiningOp()); ok && !(slices.IsSorted(in.BroadcastDimensions()) && sameCount(x, in.Input())) {
		n := ir.Must(stablehlo.BuildBroadcastInDim(r.Before(op), in.Input(), op.Result(0).Type(), stablehlo.BroadcastInDimAttrs{BroadcastDimensions: at(dims, in.BroadcastDimensions())}))
		return replace(r, op, n.Result(0))
	}
	if same && static(x).Rank() == static(op.Result(0)).Rank() {
		p := make([]int64, len(dims))
		for i, d := range dims {
			p[d] = int64(i)
		}
		n, err := stablehlo.BuildTranspose(r.Before(op), x, stablehlo.TransposeAttrs{Permutation: p})
		return replaceNew(r, op, n.Op, err)
	}
	return false, nil
}

// at returns list[i] for each index i.
func at[T any, I int | int64](list []T, index []I) []T {
	out := make([]T, len(index))
	for k, i := range index {
		out[k] = list[i]
	}
	return out
}

// concatenateFlatten: concatenate(concatenate(x, y), z) = concatenate(x, y, z) along one dimension, if nothing else
// uses the inner one.
func concatenateFlatten(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsConcatenate(op)
	inner := func(x *ir.Value, dim int64) (stablehlo.ConcatenateOp, bool) {
		in, ok := stablehlo.AsConcatenate(x.DefiningOp())
		return in, ok && x.HasOneUse() && in.Dimension() == dim
	}
	// The last op of a chain takes the operands of all others, so that a chain is flattened in linear time.
	if x := op.Result(0); x.HasOneUse() {
		for u := range x.Users() {
			if outer, ok := stablehlo.AsConcatenate(u); ok && outer.Dimension() == v.Dimension() {
				return false, nil
			}
		}
	}
	var list []*ir.Value
	changed := false
	for todo := reversed(v.Inputs()); len(todo) > 0; {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if in, ok := inner(x, v.Dimension()); ok {
			todo = append(todo, reversed(in.Inputs())...)
			changed = true
			continue
		}
		list = append(list, x)
	}
	if changed {
		r.Update(op, func() { op.SetOperands(list) })
	}
	return changed, nil
}

// reversed returns the values in reverse order.
func reversed(values []*ir.Value) []*ir.Value {
	out := slices.Clone(values)
	slices.Reverse(out)
	return out
}

// concatenateOne: concatenate(x) = x.
func concatenateOne(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	if op.NumOperands() != 1 {
		return false, nil
	}
	return replaceIfSameType(r, op, op.Operand(0))
}

// concatenateEmpty: operands without elements add nothing to a concatenation of others.
func concatenateEmpty(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsConcatenate(op)
	list := slices.DeleteFunc(v.Inputs(), func(x *ir.Value) bool { return tensorOf(x).Shape()[v.Dimension()] == 0 })
	if len(list) == 0 || len(list) == op.NumOperands() {
		return false, nil
	}
	r.Update(op, func() { op.SetOperands(list) })
	return true, nil
}

// replaceRefined replaces op by n, whose result may have a more static type than op's. Users of other dialects may not
// accept that type and get a conversion back.
func replaceRefined(r *rewrite.Rewriter, op, n *ir.Op) (bool, error) {
	v := n.Result(0)
	if !sameResult(op, v) {
		for u := range op.Result(0).Users() {
			if u.Def().Dialect() != op.Def().Dialect() {
				v = ir.Must(stablehlo.BuildConvert(r.Before(op), v, op.Result(0).Type())).Result(0)
				break
			}
		}
	}
	r.ReplaceRetyped(op, v)
	return true, nil
}

// simplifyDynamicBroadcast: dynamic_broadcast(dynamic_broadcast(x, s, a), t, b) = dynamic_broadcast(x, t, b[a]);
// a broadcast that expands no dimension is a conversion to the result's type; dynamic_broadcast(dynamic_reshape(x, s),
// s) = dynamic_reshape(x, s); dynamic_broadcast(x, shape_of(x)) = x; and a broadcast of a static operand to a constant
// shape is static.
func simplifyDynamicBroadcast(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsDynamicBroadcastInDim(op)
	x, s, dims, t := v.Input(), v.OutputDimensions(), v.BroadcastDimensions(), op.Result(0).Type()
	if in, ok := stablehlo.AsDynamicBroadcastInDim(x.DefiningOp()); ok {
		n := ir.Must(stablehlo.BuildDynamicBroadcastInDim(r.Before(op), in.Input(), s, t, stablehlo.DynamicBroadcastInDimAttrs{BroadcastDimensions: at(dims, in.BroadcastDimensions()),
			KnownExpandingDimensions: []int64{}, KnownNonexpandingDimensions: []int64{}}))
		return replace(r, op, n.Result(0))
	}
	if isIota(dims) {
		if op.Attr(stablehlo.AttrKnownNonexpandingDimensions) != nil && len(v.KnownNonexpandingDimensions()) == tensorOf(op.Result(0)).Rank() {
			return replace(r, op, ir.Must(stablehlo.BuildConvert(r.Before(op), x, t)).Result(0))
		}
		if in := x.DefiningOp(); in != nil && in.IsOrMirrors(stablehlo.DynamicReshape) && in.Operand(1) == s {
			return replace(r, op, ir.Must(stablehlo.BuildDynamicReshape(r.Before(op), in.Operand(0), s, t)).Result(0))
		}
		if of := s.DefiningOp(); of != nil && of.Is(shapeOf) && of.Operand(0) == x && sameResult(op, x) {
			return replace(r, op, x)
		}
	}
	if static(x) == nil {
		return false, nil
	}
	attrs := stablehlo.BroadcastInDimAttrs{BroadcastDimensions: dims}
	if static(op.Result(0)) != nil {
		return replace(r, op, ir.Must(stablehlo.BuildBroadcastInDim(r.Before(op), x, t, attrs)).Result(0))
	}
	if sizes, ok := rewrite.ConstantInts(s); ok {
		n := ir.Must(stablehlo.BuildBroadcastInDim(r.Before(op), x, op.Module().Context().Tensor(sizes, tensorOf(x).Elem(), nil), attrs))
		return replaceRefined(r, op, n.Op)
	}
	return false, nil
}

// simplifyToStatic: an op whose last operands are constants is its static counterpart.
func simplifyToStatic(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	st := staticForm(op)
	if st == nil {
		return false, nil
	}
	n, err := r.Before(op).Infer(st)
	return replaceNew(r, op, n, err)
}

// simplifyDynamicIota: an iota of a static type is static; an iota of several dimensions is the broadcast of an iota of
// one dimension.
func simplifyDynamicIota(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsDynamicIota(op)
	t, d := tensorOf(op.Result(0)), v.IotaDimension()
	if t.Static() {
		n := ir.Must(stablehlo.BuildIota(r.Before(op), t, stablehlo.IotaAttrs{IotaDimension: d}))
		return replaceWith(r, op, n.Result(0))
	}
	if t.Rank() < 2 {
		return false, nil
	}
	b, c := r.Before(op), op.Module().Context()
	st := tensorOf(v.OutputShape())
	wide := c.Tensor(st.Shape(), ir.Int(64), nil)
	var sizes *ir.Value
	if st.DType() == tensor.Index {
		sizes = b.Create(arith.IndexCast, []*ir.Value{v.OutputShape()}, []ir.Type{wide}).Result(0)
	} else {
		sizes = ir.Must(stablehlo.BuildConvert(b, v.OutputShape(), wide)).Result(0)
	}
	size, err := stablehlo.BuildSlice(b, sizes, stablehlo.SliceAttrs{StartIndices: []int64{d}, LimitIndices: []int64{d + 1}, Strides: []int64{1}})
	if err != nil {
		return false, err
	}
	line := ir.Must(stablehlo.BuildDynamicIota(b, size.Result(0), c.Tensor([]int64{t.Shape()[d]}, t.Elem(), nil), stablehlo.DynamicIotaAttrs{IotaDimension: 0}))
	n := ir.Must(stablehlo.BuildDynamicBroadcastInDim(b, line.Result(0), v.OutputShape(), t, stablehlo.DynamicBroadcastInDimAttrs{BroadcastDimensions: []int64{d}}))
	return replaceWith(r, op, n.Result(0))
}

// simplifyDynamicReshape: dynamic_reshape(dynamic_reshape(x, s), t) = dynamic_reshape(x, t); a reshape to a static type
// is static; dynamic_reshape(f(dynamic_reshape(x, s)), s) = f(dynamic_reshape(x, s)) for f that keeps the shape.
func simplifyDynamicReshape(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	in, t := op.Operand(0).DefiningOp(), op.Result(0).Type()
	if in != nil && in.IsOrMirrors(stablehlo.DynamicReshape) {
		return replace(r, op, ir.Must(stablehlo.BuildDynamicReshape(r.Before(op), in.Operand(0), op.Operand(1), t)).Result(0))
	}
	if in != nil && in.Has(ir.SameShape) && in.NumOperands() > 0 && sameResult(op, in.Result(0)) {
		if d := in.Operand(0).DefiningOp(); d != nil && d.IsOrMirrors(stablehlo.DynamicReshape) && d.Operand(1) == op.Operand(1) {
			return replaceWith(r, op, in.Result(0))
		}
	}
	if static(op.Result(0)) != nil {
		return replaceWith(r, op, ir.Must(stablehlo.BuildReshape(r.Before(op), op.Operand(0), t)).Result(0))
	}
	return false, nil
}

// simplifyShapeOf: shape_of(dynamic_reshape(x, s)) = s.
func simplifyShapeOf(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	in := op.Operand(0).DefiningOp()
	if in == nil || !in.IsOrMirrors(stablehlo.DynamicReshape) || !sameResult(op, in.Operand(1)) {
		return false, nil
	}
	return replace(r, op, in.Operand(1))
}

// clampedStarts returns starts, moved so that slices of the given sizes lie inside of shape.
func clampedStarts(starts, sizes, shape []int64) []int64 {
	out := make([]int64, len(starts))
	for i, s := range starts {
		out[i] = max(0, min(s, shape[i]-sizes[i]))
	}
	return out
}

// plus returns the sums of the elements of two lists.
func plus(a, b []int64) []int64 {
	out := make([]int64, len(a))
	for i := range a {
		out[i] = a[i] + b[i]
	}
	return out
}

func ones(n int) []int64 { return slices.Repeat([]int64{1}, n) }

// dynamicSliceToSlice: a slice of a static operand at constant indices, clamped to the operand, is static.
func dynamicSliceToSlice(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsDynamicSlice(op)
	t := static(v.Input())
	if t == nil {
		return false, nil
	}
	var starts []int64
	for _, s := range v.StartIndices() {
		i, ok := constantInt(s)
		if !ok {
			return false, nil
		}
		starts = append(starts, i)
	}
	starts = clampedStarts(starts, v.SliceSizes(), t.Shape())
	n, err := stablehlo.BuildSlice(r.Before(op), v.Input(), stablehlo.SliceAttrs{StartIndices: starts, LimitIndices: plus(starts, v.SliceSizes()), Strides: ones(t.Rank())})
	return replaceNew(r, op, n.Op, err)
}

// simplifyUpdateSlice: an update without elements changes nothing, and an update of the operand's static type at 0
// replaces the whole operand.
func simplifyUpdateSlice(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsDynamicUpdateSlice(op)
	x, u := v.Input(), v.Update()
	if t := static(u); t != nil && numElements(t) == 0 && rewrite.ConstantOf(u) != nil && sameResult(op, x) {
		return replace(r, op, x)
	}
	if static(x) == nil || x.Type() != u.Type() || !sameResult(op, u) {
		return false, nil
	}
	for _, s := range v.StartIndices() {
		if !isIntZero(s) {
			return false, nil
		}
	}
	return replace(r, op, u)
}

// gatherToSlice: a gather of one slice at constant indices, clamped to the operand, is a slice; a reshape removes
// collapsed dimensions.
func gatherToSlice(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsGather(op)
	index, ok := rewrite.ConstantInts(v.StartIndices())
	t, d, result := static(v.Input()), v.Dims(), static(op.Result(0))
	if !ok || t == nil || result == nil || d.IndexVectorDim != 0 || tensorOf(v.StartIndices()).Rank() > 1 || len(index) != len(d.StartIndexMap) {
		return false, nil
	}
	sizes := v.SliceSizes()
	starts := make([]int64, len(sizes))
	for i, dim := range d.StartIndexMap {
		starts[dim] = index[i]
	}
	starts = clampedStarts(starts, sizes, t.Shape())
	b := r.Before(op)
	n, err := stablehlo.BuildSlice(b, v.Input(), stablehlo.SliceAttrs{StartIndices: starts, LimitIndices: plus(starts, sizes), Strides: ones(len(sizes))})
	if err != nil {
		return false, err
	}
	out := n.Result(0)
	if len(d.CollapsedSliceDims)+len(d.OperandBatchingDims) > 0 || out.Type() != ir.Type(result) {
		out = ir.Must(stablehlo.BuildReshape(b, out, result)).Result(0)
	}
	return replaceWith(r, op, out)
}

// dimensionSize: the size of a static dimension is a constant.
func dimensionSize(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsGetDimensionSize(op)
	t := tensorOf(v.Input())
	if t == nil || !t.Ranked() || t.Shape()[v.Dimension()] < 0 {
		return false, nil
	}
	result := static(op.Result(0))
	n := tensor.New(result.DType(), tensor.Shape{})
	n.SetInt(0, t.Shape()[v.Dimension()])
	return replaceWith(r, op, constant(r, op, result, ir.NewDense(result, n, true)))
}

// simplifyIota: an iota along a dimension of size 1 is 0; an iota of several dimensions is the broadcast of an iota of
// one dimension.
func simplifyIota(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsIota(op)
	t, d := tensorOf(op.Result(0)), v.IotaDimension()
	if t.Static() && t.Shape()[d] == 1 {
		if z := zeroOf(r, op, t); z != nil {
			return replaceWith(r, op, z)
		}
	}
	if t.Rank() < 2 {
		return false, nil
	}
	b := r.Before(op)
	line := ir.Must(stablehlo.BuildIota(b, op.Module().Context().Tensor([]int64{t.Shape()[d]}, t.Elem(), nil), stablehlo.IotaAttrs{IotaDimension: 0}))
	n := ir.Must(stablehlo.BuildBroadcastInDim(b, line.Result(0), t, stablehlo.BroadcastInDimAttrs{BroadcastDimensions: []int64{d}}))
	return replaceWith(r, op, n.Result(0))
}

// simplifyPad: a pad by nothing is its operand, and a pad of no elements is the broadcast of the padding value.
func simplifyPad(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsPad(op)
	none := func(list []int64) bool { return !slices.ContainsFunc(list, func(n int64) bool { return n != 0 }) }
	if sameResult(op, v.Input()) && none(v.EdgePaddingLow()) && none(v.EdgePaddingHigh()) && none(v.InteriorPadding()) {
		return replaceWith(r, op, v.Input())
	}
	t := static(v.Input())
	if t == nil || numElements(t) != 0 {
		return false, nil
	}
	shape := plus(plus(t.Shape(), v.EdgePaddingLow()), v.EdgePaddingHigh())
	for i, n := range t.Shape() {
		shape[i] += max(n-1, 0) * v.InteriorPadding()[i]
	}
	n := ir.Must(stablehlo.BuildBroadcastInDim(r.Before(op), v.PaddingValue(), op.Module().Context().Tensor(shape, t.Elem(), nil), stablehlo.BroadcastInDimAttrs{BroadcastDimensions: []int64{}}))
	return replaceRefined(r, op, n.Op)
}

// simplifyRealDynamicSlice: with constant bounds it is a slice; if the limit is the start plus a constant and the
// strides are 1, it is a dynamic slice.
func simplifyRealDynamicSlice(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	if done, err := simplifyToStatic(r, op); done || err != nil {
		return done, err
	}
	return toDynamicSlice(r, op)
}

// reduceNothing: a reduction over no dimension returns its operands. The specification requires a neutral initial
// value; for other initial values, reduce returns f(init, x) of each element.
func reduceNothing(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsReduce(op)
	in := v.Inputs()
	if len(v.Dimensions()) > 0 {
		return false, nil
	}
	for i, x := range in {
		if x.Type() != op.Result(i).Type() {
			return false, nil
		}
	}
	return replaceWith(r, op, in...)
}

// reduceToOuterValue: a reduction whose function returns values from outside returns these values.
func reduceToOuterValue(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	b := op.Region(0).Entry()
	values := b.Last().OperandList()
	for i, x := range values {
		if x.ParentBlock().Region() == b.Region() || x.Type() != op.Result(i).Type() {
			return false, nil
		}
	}
	return replaceWith(r, op, values...)
}

// reduceEmpty: a reduction of no elements returns its initial values, broadcast to the result shapes.
func reduceEmpty(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsReduce(op)
	in := v.Inputs()[0]
	t := tensorOf(in)
	if !t.Ranked() || !slices.Contains(t.Shape(), 0) {
		return false, nil
	}
	b := r.Before(op)
	var sizes *ir.Value // of the results, if an operand is dynamic
	if !t.Static() {
		c := op.Module().Context()
		var list []*ir.Value
		for d := range int64(t.Rank()) {
			if !slices.Contains(v.Dimensions(), d) {
				i := b.Create(arith.Constant, nil, []ir.Type{c.Index()}, ir.NamedAttr{Name: stablehlo.AttrValue, Attr: ir.NewInteger(d, c.Index())})
				list = append(list, b.Create(tensors.Dim, []*ir.Value{in, i.Result(0)}, []ir.Type{c.Index()}).Result(0))
			}
		}
		sizes = b.Create(tensors.FromElements, list, []ir.Type{c.Tensor([]int64{int64(len(list))}, c.Index(), nil)}).Result(0)
	}
	var values []*ir.Value
	for i, x := range v.InitValues() {
		if sizes != nil {
			n := ir.Must(stablehlo.BuildDynamicBroadcastInDim(b, x, sizes, op.Result(i).Type(), stablehlo.DynamicBroadcastInDimAttrs{BroadcastDimensions: []int64{}}))
			values = append(values, n.Result(0))
		} else {
			n := ir.Must(stablehlo.BuildBroadcastInDim(b, x, op.Result(i).Type(), stablehlo.BroadcastInDimAttrs{BroadcastDimensions: []int64{}}))
			values = append(values, n.Result(0))
		}
	}
	return replaceWith(r, op, values...)
}

// reduceUnusedResults: unused results go, and with them the operands that only they depend on.
func reduceUnusedResults(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	body := op.Region(0).Entry()
	end, n := body.Last(), op.NumResults()
	used, args, ops := make([]bool, n), make([]bool, n), map[*ir.Op]bool{}
	var keep []int
	var need func(x *ir.Value)
	need = func(x *ir.Value) {
		if x.Block() == body {
			args[x.Index()%n] = true
			return
		}
		d := irutil.Around(x.DefiningOp(), body)
		if d == nil || ops[d] {
			return
		}
		ops[d] = true
		d.Walk(func(o *ir.Op) bool {
			for _, y := range o.Operands() {
				need(y)
			}
			return true
		})
	}
	for i, x := range op.Results() {
		if used[i] = x.HasUses(); used[i] {
			keep = append(keep, i)
			need(end.Operand(i))
		}
	}
	if len(keep) == n || len(keep) == 0 || !slices.Equal(used, args) {
		return false, nil
	}
	for o := range body.Ops() {
		if o != end && !ops[o] && o.Effects() != 0 {
			return false, nil
		}
	}
	r.Update(end, func() { end.SetOperands(at(end.OperandList(), keep)) })
	for o := body.Last(); o != nil; {
		prev := o.Prev()
		if o != end && !ops[o] {
			r.Erase(o)
		}
		o = prev
	}
	for i := 2*n - 1; i >= 0; i-- {
		if !used[i%n] {
			body.RemoveArg(i)
		}
	}
	v, _ := stablehlo.AsReduce(op)
	keepResults(r, op, slices.Concat(at(v.Inputs(), keep), at(v.InitValues(), keep)), keep)
	return true, nil
}

// simplifyReshape: reshape(reshape(x)) = reshape(x), and reshape(x) = x if the type stays.
func simplifyReshape(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	if sameResult(op, op.Operand(0)) {
		return replace(r, op, op.Operand(0))
	}
	if in := op.Operand(0).DefiningOp(); in != nil && in.IsOrMirrors(stablehlo.Reshape) {
		return replace(r, op, ir.Must(stablehlo.BuildReshape(r.Before(op), in.Operand(0), op.Result(0).Type())).Result(0))
	}
	return false, nil
}

// simplifyReverse: a reversal that moves no element to an unequal one is its operand.
func simplifyReverse(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsReverse(op)
	if !trivialReverse(v) {
		return false, nil
	}
	return replaceIfSameType(r, op, v.Input())
}

// trivialReverse reports whether v reverses no dimension, no elements, equal elements, or only dimensions of size 1.
func trivialReverse(v stablehlo.ReverseOp) bool {
	if _, equal := splat(v.Input()); equal || len(v.Dimensions()) == 0 {
		return true
	}
	t := static(v.Input())
	return t != nil && (numElements(t) == 0 || !slices.ContainsFunc(v.Dimensions(), func(d int64) bool { return t.Shape()[d] != 1 }))
}

// simplifySelect: select(not p, x, y) = select(p, y, x), through a broadcast of p too; select(p, x, x) = x; a constant
// p of one value selects x or y; for any other constant p and constants x and y of at most limit elements, the result
// is a constant.
func simplifySelect(limit int64) func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	return func(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
		v, _ := stablehlo.AsSelect(op)
		p, x, y := v.Pred(), v.OnTrue(), v.OnFalse()
		if not := p.DefiningOp(); not != nil && not.IsOrMirrors(stablehlo.Not) {
			n, err := stablehlo.BuildSelect(r.Before(op), not.Operand(0), y, x)
			return replaceNew(r, op, n.Op, err)
		}
		if in, ok := stablehlo.AsBroadcastInDim(p.DefiningOp()); ok && p.HasOneUse() {
			if not := in.Input().DefiningOp(); not != nil && not.IsOrMirrors(stablehlo.Not) {
				wide := ir.Must(stablehlo.BuildBroadcastInDim(r.Before(op), not.Operand(0), p.Type(), stablehlo.BroadcastInDimAttrs{BroadcastDimensions: in.BroadcastDimensions()}))
				n, err := stablehlo.BuildSelect(r.Before(op), wide.Result(0), y, x)
				if err != nil {
					return false, err
				}
				n.Result(0).SetType(op.Result(0).Type())
				return replaceWith(r, op, n.Result(0))
			}
		}
		if x == y && sameResult(op, x) {
			return replaceWith(r, op, x)
		}
		if c, ok := splat(p); ok {
			chosen := y
			if c.Bits(0) != 0 {
				chosen = x
			}
			return replaceIfSameType(r, op, chosen)
		}
		return selectConstants(r, op, limit)
	}
}

// selectConstants chooses among the elements of constants.
func selectConstants(r *rewrite.Rewriter, op *ir.Op, limit int64) (bool, error) {
	result := static(op.Result(0))
	var in [3]*tensor.Tensor
	for i, x := range op.Operands() {
		d, ok := rewrite.ConstantOf(x).(*ir.DenseAttr)
		if !ok || result == nil || numElements(result) > limit {
			return false, nil
		}
		var err error
		if in[i], err = d.Tensor(); err != nil {
			return false, nil
		}
	}
	p, out := in[0], in[2].Clone()
	if p.NumElements() != out.NumElements() {
		return false, nil
	}
	size, from := out.DType().Size(), in[1].Bytes()
	for i := range p.NumElements() {
		if p.Bits(i) != 0 {
			copy(out.Bytes()[i*size:(i+1)*size], from[i*size:])
		}
	}
	return replaceWith(r, op, constant(r, op, result, dense(result, out)))
}

// simplifySlice: a slice of everything is its operand; a slice of a concatenation needs only the operands that it
// touches.
func simplifySlice(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsSlice(op)
	if static(v.Input()) != nil && sameResult(op, v.Input()) {
		return replace(r, op, v.Input())
	}
	cat, ok := stablehlo.AsConcatenate(v.Input().DefiningOp())
	if !ok || static(op.Result(0)) == nil {
		return false, nil
	}
	d, inputs := cat.Dimension(), cat.Inputs()
	start, limit := v.StartIndices()[d], v.LimitIndices()[d]
	first, last, offset, at := -1, 0, int64(0), int64(0)
	for i, x := range inputs {
		size := tensorOf(x).Shape()[d]
		if size < 0 {
			return false, nil
		}
		if first < 0 && at+size > start {
			first, offset = i, at
		}
		if at < limit {
			last = i + 1
		}
		at += size
	}
	n := last - first
	if first < 0 || n <= 0 || n == len(inputs) || n > 1 && !cat.Result(0).HasOneUse() {
		return false, nil
	}
	b := r.Before(op)
	part, err := stablehlo.BuildConcatenate(r.Before(cat.Op), inputs[first:last], stablehlo.ConcatenateAttrs{Dimension: d})
	if err != nil {
		return false, err
	}
	starts, limits := slices.Clone(v.StartIndices()), slices.Clone(v.LimitIndices())
	starts[d] -= offset
	limits[d] -= offset
	s, err := stablehlo.BuildSlice(b, part.Result(0), stablehlo.SliceAttrs{StartIndices: starts, LimitIndices: limits, Strides: v.Strides()})
	if err != nil {
		return false, err
	}
	return replaceWith(r, op, s.Result(0))
}

// simplifySort: removes operands that neither a user nor the comparison reads; dimension -1 is the last
// dimension.
func simplifySort(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsSort(op)
	body := v.Comparator().Entry()
	var keep []int
	for i, x := range op.Results() {
		if x.HasUses() || body.Arg(2*i).HasUses() || body.Arg(2*i+1).HasUses() {
			keep = append(keep, i)
		}
	}
	if len(keep) > 0 && len(keep) < op.NumResults() {
		for i := op.NumResults() - 1; i >= 0; i-- {
			if !slices.Contains(keep, i) {
				body.RemoveArg(2*i + 1)
				body.RemoveArg(2 * i)
			}
		}
		keepResults(r, op, at(op.OperandList(), keep), keep)
		return true, nil
	}
	if t := tensorOf(op.Result(0)); v.Dimension() == -1 && t != nil && t.Ranked() && t.Rank() > 0 {
		r.Update(op, func() { op.SetAttr(stablehlo.AttrDimension, ir.NewInteger(int64(t.Rank()-1), ir.Int(64))) })
		return true, nil
	}
	return false, nil
}

// simplifyTranspose: a transpose that keeps the order is its operand; transpose(transpose(x, a), b) = transpose(x,
// a[b]); a transpose that moves only dimensions of size 1 is a reshape.
func simplifyTranspose(r *rewrite.Rewriter, op *ir.Op) (bool, error) {
	v, _ := stablehlo.AsTranspose(op)
	p := v.Permutation()
	if isIota(p) && sameResult(op, v.Input()) {
		return replace(r, op, v.Input())
	}
	if in, ok := stablehlo.AsTranspose(v.Input().DefiningOp()); ok {
		n, err := stablehlo.BuildTranspose(r.Before(op), in.Input(), stablehlo.TransposeAttrs{Permutation: at(in.Permutation(), p)})
		return replaceNew(r, op, n.Op, err)
	}
	t := static(v.Input())
	if t == nil || static(op.Result(0)) == nil {
		return false, nil
	}
	if !slices.IsSorted(slices.DeleteFunc(slices.Clone(p), func(d int64) bool { return t.Shape()[d] == 1 })) {
		return false, nil
	}
	return replaceWith(r, op, ir.Must(stablehlo.BuildReshape(r.Before(op), v.Input(), op.Result(0).Type())).Result(0))
}
