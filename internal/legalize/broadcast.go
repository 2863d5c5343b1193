package legalize

import (
	"fmt"
	"strings"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/shape"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/internal/dialect/tensors"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// isBounded reports whether t has an encoding with bounds.
func isBounded(t *ir.TensorType) bool { return t.Encoding() != nil && stablehlo.BoundsOf(t) != nil }

// hasKnownSizes reports whether every size of t is static or bounded.
func hasKnownSizes(t *ir.TensorType) bool { return t.Static() || t.Ranked() && isBounded(t) }

func tensorType(v *ir.Value) *ir.TensorType { return v.Type().(*ir.TensorType) }

// size is the size of one dimension: static, or the bounded size of dimension dim of value of.
type size struct {
	n   int64 // the size or its bound
	of  *ir.Value
	dim int64
}

// sizesOf returns the sizes of v, a static or bounded tensor.
func sizesOf(v *ir.Value) []size {
	t := tensorType(v)
	bounds := stablehlo.BoundsOf(t)
	out := make([]size, t.Rank())
	for i, n := range t.Shape() {
		out[i] = size{n: n}
		if n == ir.Dynamic && bounds != nil {
			out[i] = size{n: bounds[i], of: v, dim: int64(i)}
		}
	}
	return out
}

// commonSizes returns the sizes to which values broadcast as in NumPy.
func commonSizes(values []*ir.Value) ([]size, error) {
	common := sizesOf(values[0])
	for _, v := range values[1:] {
		a, b := common, sizesOf(v)
		common = make([]size, max(len(a), len(b)))
		for i := 1; i <= len(common); i++ {
			x, y := size{n: 1}, size{n: 1}
			if i <= len(a) {
				x = a[len(a)-i]
			}
			if i <= len(b) {
				y = b[len(b)-i]
			}
			switch {
			case x.n == 1:
				x = y
			case y.n == 1:
			case x.n != y.n:
				return nil, fmt.Errorf("incompatible shapes for broadcasting %d and %d", x.n, y.n)
			case (x.of == nil) != (y.of == nil):
				return nil, fmt.Errorf("cannot mix bounded and static dimensions in broadcast")
			}
			common[len(common)-i] = x
		}
	}
	return common, nil
}

// typeOfSizes returns the tensor type with the given sizes.
func (e *emitter) typeOfSizes(sizes []size, elem ir.Type) *ir.TensorType {
	dims, bounds, bounded := make([]int64, len(sizes)), make([]int64, len(sizes)), false
	for i, s := range sizes {
		dims[i], bounds[i] = s.n, ir.Dynamic
		if s.of != nil {
			dims[i], bounds[i], bounded = ir.Dynamic, s.n, true
		}
	}
	if !bounded {
		return e.ctx.Tensor(dims, elem, nil)
	}
	return e.ctx.Tensor(dims, elem, stablehlo.BoundsAttr.New(&stablehlo.Bounds{Bounds: bounds}))
}

// broadcastTo broadcasts x, of equal or lower rank, to the given sizes. A static size becomes a bounded one by
// set_dimension_size.
func (e *emitter) broadcastTo(x *ir.Value, sizes []size) *ir.Value {
	want := e.typeOfSizes(sizes, elemOf(x))
	if x.Type() == want {
		return x
	}
	defer e.at(x)()
	own := sizesOf(x)
	lead := len(sizes) - len(own)
	padded := make([]size, len(sizes))
	dims := make([]int64, len(own))
	for i, s := range sizes {
		if padded[i] = s; i < lead {
			padded[i] = size{n: s.n}
			continue
		}
		dims[i-lead] = int64(i)
		if own[i-lead].of == nil {
			padded[i] = size{n: s.n}
		}
	}
	v := e.broadcastAs(x, e.typeOfSizes(padded, elemOf(x)), dims)
	for i, s := range sizes {
		if s.of != nil && padded[i].of == nil {
			n := e.dimension(s.of, s.dim)
			op, err := stablehlo.BuildSetDimensionSize(e.Builder, v, n, stablehlo.SetDimensionSizeAttrs{Dimension: int64(i)})
			v = e.result(op.Op, err)
		}
	}
	return v
}

// dimension inserts a get_dimension_size.
func (e *emitter) dimension(x *ir.Value, dim int64) *ir.Value {
	op, err := stablehlo.BuildGetDimensionSize(e.Builder, x, stablehlo.GetDimensionSizeAttrs{Dimension: dim})
	return e.result(op.Op, err)
}

// extents returns the type of a shape with n sizes; ir.Dynamic: any number.
func (e *emitter) extents(n int64) ir.Type { return e.ctx.Tensor([]int64{n}, e.ctx.Index(), nil) }

func (e *emitter) shapeOf(x *ir.Value) *ir.Value {
	return e.typed(shape.ShapeOf, e.extents(int64(tensorType(x).Rank())), x)
}

// dynamicBroadcast inserts a dynamic_broadcast_in_dim to type t.
func (e *emitter) dynamicBroadcast(x, sizes *ir.Value, t ir.Type, dims []int64) *ir.Value {
	return e.result(stablehlo.BuildDynamicBroadcastInDim(e.Builder, x, sizes, t, stablehlo.DynamicBroadcastInDimAttrs{BroadcastDimensions: dims}))
}

// lastDims returns the last n of rank dimensions.
func lastDims(n, rank int) []int64 {
	dims := make([]int64, n)
	for i := range dims {
		dims[i] = int64(rank - n + i)
	}
	return dims
}

// broadcastOp expands a broadcasting operation to an element-wise one of kind to.
func broadcastOp(to *ir.Def) expansion {
	return func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		x, y := tensorType(args[0]), tensorType(args[1])
		out, ok := op.Result(0).Type().(*ir.TensorType)
		if !ok || !x.Ranked() || !y.Ranked() || !out.Ranked() {
			return nil
		}
		if hasKnownSizes(x) && hasKnownSizes(y) && x.Encoding() == y.Encoding() && tensor.Shape(x.Shape()).Equal(y.Shape()) {
			return []*ir.Value{elementwise(e, to, op, args, out)}
		}
		if dims := op.Attr(chlo.AttrBroadcastDimensions); dims != nil && !numpyStyle(x.Rank(), y.Rank(), dims) {
			return nil
		}
		if hasKnownSizes(x) && hasKnownSizes(y) && hasKnownSizes(out) {
			sizes, err := commonSizes(args)
			if err != nil {
				e.err = err
				return nil
			}
			left := e.broadcastTo(args[0], sizes)
			return []*ir.Value{elementwise(e, to, op, []*ir.Value{left, e.broadcastTo(args[1], sizes)}, out)}
		}
		shapes := []*ir.Value{e.shapeOf(args[0]), e.shapeOf(args[1])}
		witness := e.typed(shape.CstrBroadcastable, e.witness(), shapes...)
		return []*ir.Value{e.createAssuming(witness, out, func(e *emitter) *ir.Value {
			shapes := []*ir.Value{e.shapeOf(args[0]), e.shapeOf(args[1])}
			rank := max(x.Rank(), y.Rank())
			sizes := e.typed(shape.Broadcast, e.extents(int64(rank)), shapes...)
			var wide []*ir.Value
			for _, v := range args {
				t := e.ctx.Tensor(out.Shape(), elemOf(v), nil)
				wide = append(wide, e.dynamicBroadcast(v, sizes, t, lastDims(tensorType(v).Rank(), rank)))
			}
			return elementwise(e, to, op, wide, out)
		})}
	}
}

// numpyStyle reports whether dims, the broadcast dimensions of an op, are those of NumPy's broadcasting.
func numpyStyle(x, y int, dims ir.Attr) bool {
	d, ok := dims.(*ir.DenseArrayAttr)
	if !ok {
		return false
	}
	return x == y || tensor.Shape(d.Values()).Equal(lastDims(min(x, y), max(x, y)))
}

// elementwise inserts an op of kind to for op.
func elementwise(e *emitter, to *ir.Def, op *ir.Op, args []*ir.Value, t ir.Type) *ir.Value {
	st := &ir.OpState{Def: to, Operands: args, Types: []ir.Type{t}}
	if c, ok := chlo.AsBroadcastCompare(op); ok {
		st.SetAttr(stablehlo.AttrComparisonDirection, ir.NewEnum(stablehlo.ComparisonDirectionEnum, int(c.ComparisonDirection())))
		if a, ok := op.Attr(stablehlo.AttrCompareType).(*ir.EnumAttr); ok {
			st.SetAttr(stablehlo.AttrCompareType, ir.NewEnum(stablehlo.ComparisonTypeEnum, a.Code()))
		}
	}
	return e.Insert(st).Result(0)
}

func (e *emitter) witness() ir.Type { return e.ctx.DialectType("shape", "witness", "", nil) }

// createAssuming inserts a shape.assuming whose region computes its result of type t by body.
func (e *emitter) createAssuming(witness *ir.Value, t ir.Type, body func(e *emitter) *ir.Value) *ir.Value {
	op := e.Insert(&ir.OpState{Def: shape.Assuming, Operands: []*ir.Value{witness}, Types: []ir.Type{t}, Regions: 1})
	inner := e.inside(op.Region(0).AddBlock())
	inner.Create(shape.AssumingYield, []*ir.Value{body(inner)}, nil)
	e.adopt(inner)
	return op.Result(0)
}

// expandBroadcastSelect broadcasts its operands by a shape computed at run time.
func expandBroadcastSelect(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	rank := 0
	var types []*ir.TensorType
	for _, v := range append([]*ir.Value{op.Result(0)}, args...) {
		t, ok := v.Type().(*ir.TensorType)
		if !ok || !t.Ranked() {
			return nil
		}
		types = append(types, t)
	}
	out, types := types[0], types[1:]
	var shapes []*ir.Value
	for i, v := range args {
		rank = max(rank, types[i].Rank())
		shapes = append(shapes, e.shapeOf(v))
	}
	var witness *ir.Value
	if broadcastable(types) {
		witness = e.Create(shape.ConstWitness, nil, []ir.Type{e.witness()}, ir.NamedAttr{Name: shape.AttrPassing, Attr: e.ctx.Bool(true)}).Result(0)
	} else {
		witness = e.typed(shape.CstrBroadcastable, e.witness(), shapes...)
	}
	return []*ir.Value{e.createAssuming(witness, out, func(e *emitter) *ir.Value {
		sizes := e.typed(shape.Broadcast, e.extents(ir.Dynamic), shapes...)
		sizes = e.typed(tensors.Cast, e.extents(int64(rank)), sizes)
		wide := make([]*ir.Value, len(args))
		for i, v := range args {
			if wide[i] = v; i > 0 || types[i].Rank() > 0 { // a scalar pred selects all elements
				wide[i] = e.dynamicBroadcast(v, sizes, e.ctx.Tensor(out.Shape(), types[i].Elem(), nil), lastDims(types[i].Rank(), rank))
			}
		}
		return e.typed(stablehlo.Select, out, wide...)
	})}
}

// broadcastable reports whether tensors of these types broadcast for every value of their dynamic sizes: in each
// dimension the sizes other than 1 are all one static number, or one of them is dynamic and the others are 1.
func broadcastable(types []*ir.TensorType) bool {
	for i := 1; ; i++ {
		static, dynamic, more := int64(1), 0, false
		for _, t := range types {
			if i > t.Rank() {
				continue
			}
			more = true
			switch n := t.Shape()[t.Rank()-i]; {
			case n == ir.Dynamic:
				dynamic++
			case n == 1 || n == static:
			case static != 1:
				return false
			default:
				static = n
			}
		}
		if dynamic > 1 || dynamic == 1 && static != 1 {
			return false
		}
		if !more {
			return true
		}
	}
}

func expandConstant(e *emitter, op *ir.Op, _ []*ir.Value) []*ir.Value {
	return []*ir.Value{e.result(stableConstant(e.Builder, op.Attr(stablehlo.AttrValue)))}
}

func expandConstantLike(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
	t, ok := op.Result(0).Type().(*ir.TensorType)
	if !ok || !t.Ranked() || !tensorType(args[0]).Ranked() {
		return nil
	}
	v := scalarOf(op.Attr(stablehlo.AttrValue), t.DType())
	if v == nil {
		return nil
	}
	return []*ir.Value{e.broadcastLike(v, args[0], t)}
}

// scalarOf returns the number of an attribute as a scalar of type d, or nil if the attribute is not such a number.
func scalarOf(a ir.Attr, d tensor.DType) *tensor.Tensor {
	switch a := a.(type) {
	case *ir.FloatAttr:
		if d.IsFloat() {
			return newScalar(d, func(t *tensor.Tensor) { t.SetBits(0, a.Bits()) })
		}
	case *ir.IntegerAttr:
		if d != tensor.Invalid && !d.IsFloat() && !d.IsComplex() {
			return newScalar(d, func(t *tensor.Tensor) { t.SetBits(0, uint64(a.Value())) })
		}
	case *ir.DialectAttr: // #complex.number<:f32 1.0, 0.0>
		_, list, ok := strings.Cut(strings.Trim(a.Body(), "<>"), " ")
		parts := strings.Split(list, ",")
		if !ok || !d.IsComplex() || len(parts) != 2 {
			return nil
		}
		var re, im uint64
		var err error
		if re, err = tensor.ParseFloat([]byte(strings.TrimSpace(parts[0])), d.Part()); err == nil {
			im, err = tensor.ParseFloat([]byte(strings.TrimSpace(parts[1])), d.Part())
		}
		if err == nil {
			return newScalar(d, func(t *tensor.Tensor) {
				t.SetComplex(0, complex(tensor.DecodeFloat(d.Part(), re), tensor.DecodeFloat(d.Part(), im)))
			})
		}
	}
	return nil
}
