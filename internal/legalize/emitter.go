package legalize

import (
	"math"
	"slices"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// emitter inserts ops at one place. Its methods return the result of the op that they insert.
//
// After an op whose types cannot be inferred, err is set and the values have no meaning.
type emitter struct {
	*ir.Builder
	ctx *ir.Context
	// accuracy is the result_accuracy of the functions that have one: the explicit default, or nil for none.
	accuracy ir.Attr
	origin   *ir.Op // the op that is expanded
	keepLike bool   // constants of dynamic shapes are chlo.constant_like
	uniform  bool   // every op has the location of origin
	err      error
}

// defaultAccuracy asks for the default accuracy, explicitly.
var defaultAccuracy = stablehlo.ResultAccuracyAttr.New(&stablehlo.ResultAccuracy{})

func newEmitter(b *ir.Builder, origin *ir.Op) *emitter {
	return &emitter{Builder: b, ctx: b.Module().Context(), origin: origin}
}

// inside returns an emitter at the end of b, which is in an op that e inserted.
func (e *emitter) inside(b *ir.Block) *emitter {
	return &emitter{Builder: e.Builder.In(b), ctx: e.ctx, accuracy: e.accuracy, origin: e.origin, uniform: e.uniform}
}

// at gives the next ops the location of v, until the function that it returns is called.
func (e *emitter) at(v *ir.Value) func() {
	if e.uniform {
		return func() {}
	}
	e.At(v.Loc(), v.Pos())
	return func() { e.At(nil, 0) }
}

// adopt takes over the error of an emitter that inside returned.
func (e *emitter) adopt(inner *emitter) { e.fail(inner.err) }

// fail sets the error, unless there is one.
func (e *emitter) fail(err error) {
	if e.err == nil {
		e.err = err
	}
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

// op inserts an op with inferred types.
func (e *emitter) op(def *ir.Def, operands ...*ir.Value) *ir.Value {
	return e.infer(&ir.OpState{Def: def, Operands: operands})
}

func (e *emitter) infer(st *ir.OpState) *ir.Value {
	op, err := e.Infer(st)
	return e.result(op, err)
}

// result returns the result of an op, or some value after an error.
func (e *emitter) result(op interface{ Result(int) *ir.Value }, err error) *ir.Value {
	if err == nil {
		return op.Result(0)
	}
	e.fail(err)
	return e.constant(0, e.ctx.Tensor(nil, ir.Float(tensor.F32), nil))
}

// typed inserts an op with one result of type t.
func (e *emitter) typed(def *ir.Def, t ir.Type, operands ...*ir.Value) *ir.Value {
	return e.Create(def, operands, []ir.Type{t}).Result(0)
}

// function inserts an op with a result_accuracy.
func (e *emitter) function(def *ir.Def, x *ir.Value) *ir.Value {
	st := &ir.OpState{Def: def, Operands: []*ir.Value{x}}
	if e.accuracy != nil {
		st.SetAttr(stablehlo.AttrResultAccuracy, e.accuracy)
	}
	return e.infer(st)
}

func (e *emitter) compare(d stablehlo.ComparisonDirection, x, y *ir.Value) *ir.Value {
	op, err := stablehlo.BuildCompare(e.Builder, x, y, stablehlo.CompareAttrs{ComparisonDirection: d})
	return e.result(op.Op, err)
}

func (e *emitter) abs(x *ir.Value) *ir.Value      { return e.op(stablehlo.Abs, x) }
func (e *emitter) add(x, y *ir.Value) *ir.Value   { return e.op(stablehlo.Add, x, y) }
func (e *emitter) and(x, y *ir.Value) *ir.Value   { return e.op(stablehlo.And, x, y) }
func (e *emitter) atan2(x, y *ir.Value) *ir.Value { return e.op(stablehlo.Atan2, x, y) }
func (e *emitter) complex(re, im *ir.Value) *ir.Value {
	return e.op(stablehlo.Complex, re, im)
}
func (e *emitter) cos(x *ir.Value) *ir.Value       { return e.function(stablehlo.Cosine, x) }
func (e *emitter) div(x, y *ir.Value) *ir.Value    { return e.op(stablehlo.Divide, x, y) }
func (e *emitter) exp(x *ir.Value) *ir.Value       { return e.function(stablehlo.Exponential, x) }
func (e *emitter) expm1(x *ir.Value) *ir.Value     { return e.function(stablehlo.ExponentialMinusOne, x) }
func (e *emitter) floor(x *ir.Value) *ir.Value     { return e.op(stablehlo.Floor, x) }
func (e *emitter) imag(x *ir.Value) *ir.Value      { return e.op(stablehlo.Imag, x) }
func (e *emitter) isFinite(x *ir.Value) *ir.Value  { return e.op(stablehlo.IsFinite, x) }
func (e *emitter) log(x *ir.Value) *ir.Value       { return e.function(stablehlo.Log, x) }
func (e *emitter) log1p(x *ir.Value) *ir.Value     { return e.function(stablehlo.LogPlusOne, x) }
func (e *emitter) max(x, y *ir.Value) *ir.Value    { return e.op(stablehlo.Maximum, x, y) }
func (e *emitter) min(x, y *ir.Value) *ir.Value    { return e.op(stablehlo.Minimum, x, y) }
func (e *emitter) mul(x, y *ir.Value) *ir.Value    { return e.op(stablehlo.Multiply, x, y) }
func (e *emitter) neg(x *ir.Value) *ir.Value       { return e.op(stablehlo.Negate, x) }
func (e *emitter) not(x *ir.Value) *ir.Value       { return e.op(stablehlo.Not, x) }
func (e *emitter) or(x, y *ir.Value) *ir.Value     { return e.op(stablehlo.Or, x, y) }
func (e *emitter) pow(x, y *ir.Value) *ir.Value    { return e.op(stablehlo.Power, x, y) }
func (e *emitter) real(x *ir.Value) *ir.Value      { return e.op(stablehlo.Real, x) }
func (e *emitter) rem(x, y *ir.Value) *ir.Value    { return e.op(stablehlo.Remainder, x, y) }
func (e *emitter) sel(p, x, y *ir.Value) *ir.Value { return e.op(stablehlo.Select, p, x, y) }
func (e *emitter) sign(x *ir.Value) *ir.Value      { return e.op(stablehlo.Sign, x) }
func (e *emitter) sin(x *ir.Value) *ir.Value       { return e.function(stablehlo.Sine, x) }
func (e *emitter) sqrt(x *ir.Value) *ir.Value      { return e.function(stablehlo.Sqrt, x) }
func (e *emitter) sub(x, y *ir.Value) *ir.Value    { return e.op(stablehlo.Subtract, x, y) }
func (e *emitter) clamp(lo, x, hi *ir.Value) *ir.Value {
	return e.op(stablehlo.Clamp, lo, x, hi)
}
func (e *emitter) eq(x, y *ir.Value) *ir.Value {
	return e.compare(stablehlo.ComparisonDirectionEQ, x, y)
}
func (e *emitter) ne(x, y *ir.Value) *ir.Value {
	return e.compare(stablehlo.ComparisonDirectionNE, x, y)
}
func (e *emitter) ge(x, y *ir.Value) *ir.Value {
	return e.compare(stablehlo.ComparisonDirectionGE, x, y)
}
func (e *emitter) gt(x, y *ir.Value) *ir.Value {
	return e.compare(stablehlo.ComparisonDirectionGT, x, y)
}
func (e *emitter) le(x, y *ir.Value) *ir.Value {
	return e.compare(stablehlo.ComparisonDirectionLE, x, y)
}
func (e *emitter) lt(x, y *ir.Value) *ir.Value {
	return e.compare(stablehlo.ComparisonDirectionLT, x, y)
}

// withElem returns the tensor type t with another element type.
func withElem(c *ir.Context, t ir.Type, elem ir.Type) ir.Type {
	tt := t.(*ir.TensorType)
	if !tt.Ranked() {
		return c.UnrankedTensor(elem)
	}
	return c.Tensor(tt.Shape(), elem, tt.Encoding())
}

// elemOf returns the element type of a tensor.
func elemOf(v *ir.Value) ir.Type { return v.Type().(*ir.TensorType).Elem() }

// isComplex reports whether v has complex elements.
func isComplex(v *ir.Value) bool {
	_, ok := elemOf(v).(*ir.ComplexType)
	return ok
}

// dtypeOf returns the element type of a tensor.
func dtypeOf(v *ir.Value) tensor.DType { return v.Type().(*ir.TensorType).DType() }

// convert inserts a conversion to another element type.
func (e *emitter) convert(x *ir.Value, elem ir.Type) *ir.Value {
	return e.typed(stablehlo.Convert, withElem(e.ctx, x.Type(), elem), x)
}

func (e *emitter) bitcast(x *ir.Value, t ir.Type) *ir.Value {
	return e.typed(stablehlo.BitcastConvert, t, x)
}

// reshape inserts a reshape to a static shape.
func (e *emitter) reshape(x *ir.Value, shape ...int64) *ir.Value {
	return e.typed(stablehlo.Reshape, e.ctx.Tensor(shape, elemOf(x), nil), x)
}

// broadcast inserts x in a larger shape. dims holds the place of each dimension of x.
func (e *emitter) broadcast(x *ir.Value, shape []int64, dims ...int64) *ir.Value {
	if dims == nil {
		dims = []int64{}
	}
	return e.broadcastAs(x, e.ctx.Tensor(shape, elemOf(x), nil), dims)
}

// broadcastAs inserts a broadcast to type t. The op's builder would refuse a shape that is not static, which refinement
// makes static later.
func (e *emitter) broadcastAs(x *ir.Value, t ir.Type, dims []int64) *ir.Value {
	st := &ir.OpState{Def: stablehlo.BroadcastInDim, Operands: []*ir.Value{x}, Types: []ir.Type{t}}
	st.SetAttr(stablehlo.AttrBroadcastDimensions, ir.NewDenseArray(ir.Int(64), dims))
	return e.Insert(st).Result(0)
}

// iota inserts the positions along a dimension of a shape.
func (e *emitter) iota(shape []int64, elem ir.Type, dim int64) *ir.Value {
	return e.result(stablehlo.BuildIota(e.Builder, e.ctx.Tensor(shape, elem, nil), stablehlo.IotaAttrs{IotaDimension: dim}))
}

// total inserts the sum of x over dimensions.
func (e *emitter) total(x *ir.Value, over ...int64) *ir.Value {
	var shape []int64
	for i, n := range tensorType(x).Shape() {
		if !slices.Contains(over, int64(i)) {
			shape = append(shape, n)
		}
	}
	zero := e.constant(0, e.ctx.Tensor(nil, elemOf(x), nil))
	st := &ir.OpState{Def: stablehlo.Reduce, Operands: []*ir.Value{x, zero}, Types: []ir.Type{e.ctx.Tensor(shape, elemOf(x), nil)}, Regions: 1}
	st.SetAttr(stablehlo.AttrDimensions, ir.NewDenseArray(ir.Int(64), over))
	return e.insertSum(st).Result(0)
}

// insertSum inserts an op whose region adds two scalars.
func (e *emitter) insertSum(st *ir.OpState) *ir.Op {
	op := e.Insert(st)
	scalar := e.ctx.Tensor(nil, st.Types[0].(*ir.TensorType).Elem(), nil)
	b := op.Region(0).AddBlock()
	x, y := e.argument(b, scalar), e.argument(b, scalar)
	inner := e.inside(b)
	ir.Must(stablehlo.BuildReturn(inner.Builder, []*ir.Value{inner.typed(stablehlo.Add, scalar, x, y)}))
	e.adopt(inner)
	return op
}

// num returns a constant of the shape and element type of like, with v in every element.
func (e *emitter) num(v float64, like *ir.Value) *ir.Value {
	return e.fill(number(dtypeOf(like), v), like)
}

// integer is num for integers of up to 64 bits.
func (e *emitter) integer(v int64, like *ir.Value) *ir.Value {
	return e.fill(newScalar(dtypeOf(like), func(t *tensor.Tensor) { t.SetBits(0, uint64(v)) }), like)
}

// fill returns a tensor with v in every element and the shape of like.
func (e *emitter) fill(v *tensor.Tensor, like *ir.Value) *ir.Value {
	t := like.Type().(*ir.TensorType)
	elem := ir.ElementOf(v.DType())
	if i, ok := t.Elem().(*ir.IntegerType); ok && i.Signedness() == ir.Signed {
		elem = i
	}
	return e.broadcastLike(v, like, withElem(e.ctx, t, elem).(*ir.TensorType))
}

// broadcastLike returns a tensor of type t with v in every element and the shape of like.
func (e *emitter) broadcastLike(v *tensor.Tensor, like *ir.Value, t *ir.TensorType) *ir.Value {
	if t.Static() {
		return e.splat(v, t)
	}
	if f, ok := t.Elem().(*ir.FloatType); ok && e.keepLike {
		value := ir.NamedAttr{Name: stablehlo.AttrValue, Attr: ir.NewFloatBits(v.Bits(0), f)}
		return e.Create(chlo.ConstantLike, []*ir.Value{like}, []ir.Type{t}, value).Result(0)
	}
	scalar := e.splat(v, e.ctx.Tensor(nil, t.Elem(), nil))
	if isBounded(t) {
		return e.broadcastTo(scalar, sizesOf(like))
	}
	return e.dynamicBroadcast(scalar, e.shapeOf(like), t, []int64{})
}

// number returns the scalar v of an element type.
func number(d tensor.DType, v float64) *tensor.Tensor {
	return newScalar(d, func(t *tensor.Tensor) {
		switch {
		case d.IsComplex():
			t.SetComplex(0, complex(v, 0))
		case d.IsFloat():
			t.SetBits(0, tensor.EncodeFloat(d, v))
		default:
			t.SetBits(0, uint64(int64(v)))
		}
	})
}

// nan is num for the quiet NaN without a payload.
func (e *emitter) nan(like *ir.Value) *ir.Value {
	return e.num(math.Float64frombits(0x7FF<<52|1<<51), like)
}

func (e *emitter) inf(sign int, like *ir.Value) *ir.Value { return e.num(math.Inf(sign), like) }

// constant inserts a constant of type t, a static tensor type, with the number v in every element.
func (e *emitter) constant(v int64, t *ir.TensorType) *ir.Value {
	return e.splat(number(t.DType(), float64(v)), t)
}

// i64 inserts a scalar constant.
func (e *emitter) i64(v int64) *ir.Value {
	return e.splat(newScalar(tensor.I64, func(t *tensor.Tensor) { t.SetInt(0, v) }), e.ctx.Tensor(nil, ir.Int(64), nil))
}

// ints inserts a constant of rank 1.
func (e *emitter) ints(elem *ir.IntegerType, values ...int64) *ir.Value {
	return e.result(stableConstant(e.Builder, denseInts(e.ctx, elem, values)))
}

func stableConstant(b *ir.Builder, a ir.Attr) (*ir.Op, error) {
	op, err := stablehlo.BuildConstant(b, stablehlo.ConstantAttrs{Value: a})
	return op.Op, err
}

// denseInts returns an attribute of rank 1.
func denseInts(c *ir.Context, elem *ir.IntegerType, values []int64) ir.Attr {
	return denseOf(c, elem, []int64{int64(len(values))}, values)
}

// denseOf returns an attribute with the given shape and values.
func denseOf(c *ir.Context, elem *ir.IntegerType, shape, values []int64) ir.Attr {
	t := tensor.New(ir.ElementDType(elem), shape)
	same := true
	for i, v := range values {
		t.SetInt(i, v)
		same = same && v == values[0]
	}
	typ := c.Tensor(shape, elem, nil)
	if same && len(values) > 0 {
		return splatAttr(newScalar(t.DType(), func(x *tensor.Tensor) { x.SetInt(0, values[0]) }), typ)
	}
	return ir.NewDense(typ, t, false)
}

func newScalar(d tensor.DType, set func(*tensor.Tensor)) *tensor.Tensor {
	t := tensor.New(d, tensor.Shape{})
	set(t)
	return t
}

// splatAttr returns the attribute of type t with v in every element.
func splatAttr(v *tensor.Tensor, t *ir.TensorType) ir.Attr {
	one := make(tensor.Shape, t.Rank())
	for i := range one {
		one[i] = 1
	}
	out := tensor.New(v.DType(), one)
	copy(out.Bytes(), v.Bytes())
	return ir.NewDense(t, out, true)
}

// splat inserts a constant of type t with v in every element.
func (e *emitter) splat(v *tensor.Tensor, t *ir.TensorType) *ir.Value {
	return e.result(stableConstant(e.Builder, splatAttr(v, t)))
}

// DenseInts returns an attribute with 64-bit integers of the given shape.
func DenseInts(c *ir.Context, shape, values []int64) ir.Attr {
	return denseOf(c, ir.Int(64), shape, values)
}

// Splat inserts a constant of type t, a static tensor type, with the number v in every element.
func Splat(b *ir.Builder, t *ir.TensorType, v float64) *ir.Value {
	return newEmitter(b, nil).splat(number(t.DType(), v), t)
}
