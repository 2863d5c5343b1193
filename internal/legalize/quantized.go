package legalize

import (
	"fmt"
	"math"
	"slices"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/builtin"
	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Quantized expresses computations on quantized values in function f by integer and float operations on the stored
// values. It creates CHLO's broadcasting ops. Products that the result's type cannot store wrap around, as in
// StableHLO's own pass. It returns an error at an op that has no expression.
func Quantized(f *ir.Op) error {
	c := &quantizer{ctx: f.Module().Context(), elems: map[*ir.Value]ir.Type{}}
	var list []*ir.Op
	f.Walk(func(op *ir.Op) bool {
		affected := false
		for _, v := range slices.Concat(op.ResultList(), op.OperandList()) {
			affected = c.store(v) || affected
		}
		for _, r := range op.Regions() {
			for _, b := range r.Blocks() {
				for _, a := range b.Args() {
					c.store(a)
				}
			}
		}
		if affected {
			list = append(list, op)
		}
		return true
	})
	if fun, ok := fn.AsFunc(f); ok && fun.Type() != nil {
		t := fun.Type()
		f.SetAttr(fn.AttrFunctionType, ir.NewTypeAttr(c.ctx.Function(c.storages(t.Inputs()), c.storages(t.Results()))))
	}
	for _, op := range list {
		if !isHLO(op) {
			c.cast(op)
		} else if err := c.replace(op); err != nil {
			return err
		}
	}
	return nil
}

// isHLO reports whether Quantized must express op because of its dialect.
func isHLO(op *ir.Op) bool {
	switch op.Def().Dialect() {
	case stablehlo.Add.Dialect(), chlo.Tan.Dialect(), fn.Call.Dialect():
		return true
	}
	return false
}

// storageOf returns the type of the stored values of a quantized tensor or element. ok is false for other types.
func storageOf(c *ir.Context, t ir.Type) (stored, elem ir.Type, ok bool) {
	tt, isTensor := t.(*ir.TensorType)
	if !isTensor {
		u := quant.Of(t)
		if u == nil {
			return nil, nil, false
		}
		return storedElem(c, u), t, true
	}
	u := quant.Of(tt.Elem())
	if u == nil {
		return nil, nil, false
	}
	return withElem(c, tt, storedElem(c, u)), tt.Elem(), true
}

// storedElem returns the element type of stored values: signless, or unsigned.
func storedElem(c *ir.Context, u *quant.Uniform) ir.Type {
	if i, ok := u.Storage.(*ir.IntegerType); ok && !u.Signed {
		return c.Integer(i.Width(), ir.Unsigned)
	}
	return u.Storage
}

func (c *quantizer) storages(types []ir.Type) []ir.Type {
	out := slices.Clone(types)
	for i, t := range out {
		if s, _, ok := storageOf(c.ctx, t); ok {
			out[i] = s
		}
	}
	return out
}

// quantizer is the state of Quantized. All values already have the types of their stored values.
type quantizer struct {
	ctx   *ir.Context
	elems map[*ir.Value]ir.Type // the quantized element types
}

// store gives v the type of its stored values, and reports whether v is or was quantized.
func (c *quantizer) store(v *ir.Value) bool {
	if t, elem, ok := storageOf(c.ctx, v.Type()); ok {
		c.elems[v] = elem
		v.SetType(t)
	}
	return c.elems[v] != nil
}

// cast inserts casts around an op of another dialect, which keeps its types.
func (c *quantizer) cast(op *ir.Op) {
	typ := func(v *ir.Value) ir.Type {
		if _, ok := v.Type().(*ir.TensorType); ok {
			return withElem(c.ctx, v.Type(), c.elems[v])
		}
		return c.elems[v]
	}
	for i, v := range op.Operands() {
		if c.elems[v] != nil {
			b := op.Module().Before(op).From(op)
			op.SetOperand(i, b.Create(builtin.UnrealizedConversionCast, []*ir.Value{v}, []ir.Type{typ(v)}).Result(0))
		}
	}
	for _, v := range op.Results() {
		if c.elems[v] == nil {
			continue
		}
		n := op.Module().After(op).From(op).Create(builtin.UnrealizedConversionCast, nil, []ir.Type{v.Type()})
		c.elems[n.Result(0)] = c.elems[v]
		v.ReplaceAllUsesWith(n.Result(0))
		n.SetOperands([]*ir.Value{v})
		v.SetType(typ(v))
	}
}

// of returns the quantization parameters of v, or nil if v is not quantized.
func (c *quantizer) of(v *ir.Value) *quant.Uniform { return quant.Of(c.elems[v]) }

// quantRules are the expansions of Quantized that know the quantization. They return nil, before they insert an op, if
// they do not cover op.
var quantRules = map[*ir.Def]func(e *quantEmitter, op *ir.Op) []*ir.Value{
	stablehlo.Add:               (*quantEmitter).sum,
	stablehlo.Convolution:       (*quantEmitter).product,
	stablehlo.Dot:               (*quantEmitter).product,
	stablehlo.DotGeneral:        (*quantEmitter).product,
	stablehlo.UniformDequantize: (*quantEmitter).toFloat,
	stablehlo.UniformQuantize:   (*quantEmitter).toQuantized,
}

// storedRows are the ops that work on stored values unchanged.
var storedRows = []*ir.Def{
	stablehlo.BitcastConvert, stablehlo.BroadcastInDim, stablehlo.Composite, stablehlo.Concatenate, stablehlo.Constant,
	stablehlo.DynamicBroadcastInDim, stablehlo.DynamicReshape, stablehlo.DynamicSlice, stablehlo.Gather, stablehlo.GetDimensionSize,
	stablehlo.Maximum, stablehlo.Minimum, stablehlo.Pad, stablehlo.ReduceWindow, stablehlo.Reshape, stablehlo.Return, stablehlo.Select,
	stablehlo.Slice, stablehlo.Transpose, fn.Return,
}

// ExpressedRows are the ops whose quantized form is defined by uniform_dequantize, the op on real numbers, and
// uniform_quantize.
var ExpressedRows = []*ir.Def{
	stablehlo.Abs, stablehlo.Add, stablehlo.Atan2, stablehlo.BatchNormGrad, stablehlo.BatchNormInference, stablehlo.BatchNormTraining,
	stablehlo.Cbrt, stablehlo.Ceil, stablehlo.Cholesky, stablehlo.Clamp, stablehlo.Compare, stablehlo.Convolution, stablehlo.Cosine,
	stablehlo.Divide, stablehlo.DotGeneral, stablehlo.Dot, stablehlo.ExponentialMinusOne, stablehlo.Exponential, stablehlo.Floor,
	stablehlo.LogPlusOne, stablehlo.Logistic, stablehlo.Log, stablehlo.Maximum, stablehlo.Minimum, stablehlo.Multiply, stablehlo.Negate,
	stablehlo.Power, stablehlo.ReducePrecision, stablehlo.Remainder, stablehlo.RoundNearestAFZ, stablehlo.RoundNearestEven,
	stablehlo.Rsqrt, stablehlo.Select, stablehlo.Sign, stablehlo.Sine, stablehlo.Sqrt, stablehlo.Subtract, stablehlo.Tanh, stablehlo.Tan,
	stablehlo.TriangularSolve,
}

// replace expresses op.
func (c *quantizer) replace(op *ir.Op) error {
	e := &quantEmitter{newEmitter(op.Module().Before(op).From(op), op), c}
	var values []*ir.Value
	if expand := quantRules[op.Def()]; expand != nil {
		values = expand(e, op)
	}
	if values == nil && slices.Contains(storedRows, op.Def()) && c.sameParameters(op) {
		return nil
	}
	if values == nil && e.err == nil && slices.Contains(ExpressedRows, op.Def()) {
		values = e.expressed(op)
	}
	if e.err != nil {
		var list diag.List
		if d, ok := e.err.(*diag.Diagnostic); ok {
			list = append(list, d)
		}
		return append(list, illegal(op))
	}
	if values == nil {
		return illegal(op)
	}
	for i, v := range op.Results() {
		if values[i].Type() != v.Type() {
			return illegal(op)
		}
		if c.elems[v] != nil {
			c.elems[values[i]] = c.elems[v]
		}
		v.ReplaceAllUsesWith(values[i])
	}
	op.Erase()
	return nil
}

// sameParameters reports whether op compares no values, or compares values that share one quantization per tensor.
func (c *quantizer) sameParameters(op *ir.Op) bool {
	if !op.Is(stablehlo.Maximum) && !op.Is(stablehlo.Minimum) {
		return true
	}
	t := c.elems[op.Result(0)]
	return c.of(op.Result(0)).PerTensor() && t == c.elems[op.Operand(0)] && t == c.elems[op.Operand(1)]
}

// quantEmitter inserts the ops of one expansion.
type quantEmitter struct {
	*emitter
	values *quantizer
}

func (e *quantEmitter) f32() ir.Type { return ir.Float(tensor.F32) }

// scalar inserts a constant of type f32.
func (e *quantEmitter) scalar(v float64) *ir.Value {
	return e.splat(number(tensor.F32, v), e.ctx.Tensor(nil, e.f32(), nil))
}

// scalarInt inserts a constant of type i32.
func (e *quantEmitter) scalarInt(v int64) *ir.Value {
	return e.constant(int64(int32(v)), e.ctx.Tensor(nil, ir.Int(32), nil))
}

// floats inserts a constant of rank 1 and type f32.
func (e *quantEmitter) floats(values []float64) *ir.Value {
	t := tensor.New(tensor.F32, tensor.Shape{int64(len(values))})
	same := true
	for i, v := range values {
		t.SetBits(i, tensor.EncodeFloat(tensor.F32, v))
		same = same && t.Bits(i) == t.Bits(0)
	}
	typ := e.ctx.Tensor(t.Shape(), e.f32(), nil)
	if same && len(values) > 0 {
		return e.splat(number(tensor.F32, values[0]), typ)
	}
	return e.result(stableConstant(e.Builder, ir.NewDense(typ, t, false)))
}

// broadcast inserts one of CHLO's broadcasting ops. If t is nil, its type is inferred.
func (e *quantEmitter) broadcast(def *ir.Def, t ir.Type, x, y *ir.Value, dims []int64) *ir.Value {
	st := &ir.OpState{Def: def, Operands: []*ir.Value{x, y}}
	if dims != nil {
		st.SetAttr(chlo.AttrBroadcastDimensions, ir.NewDenseArray(ir.Int(64), dims))
	}
	if t == nil {
		return e.infer(st)
	}
	st.Types = []ir.Type{t}
	return e.Insert(st).Result(0)
}

// parameters inserts the scales and zero points of u. dims is the quantized dimension, or nil if u is per tensor.
func (e *quantEmitter) parameters(u *quant.Uniform, floatZeros bool) (scales, zeros *ir.Value, dims []int64) {
	if u.PerTensor() {
		scales = e.scalar(u.Scales[0])
		if floatZeros {
			return scales, e.scalar(float64(u.ZeroPoints[0])), nil
		}
		return scales, e.scalarInt(u.ZeroPoints[0]), nil
	}
	scales = e.floats(u.Scales)
	if floatZeros {
		list := make([]float64, len(u.ZeroPoints))
		for i, z := range u.ZeroPoints {
			list[i] = float64(z)
		}
		return scales, e.floats(list), []int64{int64(u.Axis)}
	}
	return scales, e.ints(ir.Int(32), u.ZeroPoints...), []int64{int64(u.Axis)}
}

// limits inserts the smallest and the largest stored value of u.
func (e *quantEmitter) limits(u *quant.Uniform) (lo, hi *ir.Value) {
	lo = e.scalar(float64(u.Min))
	return lo, e.scalar(float64(u.Max))
}

// refuse sets the error of the expansion.
func (e *quantEmitter) refuse(op *ir.Op, format string) []*ir.Value {
	e.err = op.Module().Errorf(op, "%s", format)
	return nil
}

// toQuantized expresses uniform_quantize of floats and of quantized values.
func (e *quantEmitter) toQuantized(op *ir.Op) []*ir.Value {
	x, to, from := op.Operand(0), e.values.of(op.Result(0)), e.values.of(op.Operand(0))
	switch {
	case from != nil:
		if from.PerAxis() && to.PerAxis() && from.Axis != to.Axis {
			return e.refuse(op, "Cannot requantize while changing quantization_axis")
		}
		return []*ir.Value{e.requantize(x, e.values.elems[x], e.values.elems[op.Result(0)], op.Result(0).Type())}
	case elemOf(x) != e.f32():
		return e.refuse(op, "Unsupported input element type.")
	}
	return []*ir.Value{e.quantize(x, to, op.Result(0).Type())}
}

// quantize inserts the stored values, of type t, of the floats x.
func (e *quantEmitter) quantize(x *ir.Value, u *quant.Uniform, t ir.Type) *ir.Value {
	scales, zeros, dims := e.parameters(u, true)
	lo, hi := e.limits(u)
	float := withElem(e.ctx, x.Type(), e.f32())
	v := e.broadcast(chlo.BroadcastDivide, float, x, scales, dims)
	v = e.broadcast(chlo.BroadcastAdd, float, v, zeros, dims)
	v = e.typed(stablehlo.Clamp, float, lo, v, hi)
	v = e.typed(stablehlo.RoundNearestEven, float, v)
	return e.typed(stablehlo.Convert, withElem(e.ctx, float, t.(*ir.TensorType).Elem()), v)
}

func (e *quantEmitter) toFloat(op *ir.Op) []*ir.Value {
	u := e.values.of(op.Operand(0))
	if u == nil {
		return nil
	}
	return []*ir.Value{e.dequantize(op.Operand(0), u)}
}

// dequantize inserts the real numbers of the stored values x.
func (e *quantEmitter) dequantize(x *ir.Value, u *quant.Uniform) *ir.Value {
	scales, zeros, dims := e.parameters(u, false)
	i32 := withElem(e.ctx, x.Type(), ir.Int(32))
	v := e.typed(stablehlo.Convert, i32, x)
	v = e.broadcast(chlo.BroadcastSubtract, i32, v, zeros, dims)
	return e.broadcast(chlo.BroadcastMultiply, withElem(e.ctx, i32, e.f32()), e.convert(v, e.f32()), scales, dims)
}

// expressed inserts op on the real numbers of its operands, and quantizes the results.
func (e *quantEmitter) expressed(op *ir.Op) []*ir.Value {
	st := op.State()
	st.Attrs, st.Operands = slices.Clone(op.Attrs()), op.OperandList()
	for i, v := range st.Operands {
		if u := e.values.of(v); u != nil {
			if u.Expressed != e.f32() {
				return nil
			}
			st.Operands[i] = e.dequantize(v, u)
		}
	}
	st.Types = slices.Clone(st.Types)
	for i, v := range op.Results() {
		if u := e.values.of(v); u != nil {
			if u.Expressed != e.f32() {
				return nil
			}
			st.Types[i] = withElem(e.ctx, v.Type(), u.Expressed)
		}
	}
	n := e.Insert(st)
	out := n.ResultList()
	for i, v := range op.Results() {
		if u := e.values.of(v); u != nil {
			out[i] = e.quantize(out[i], u, v.Type())
		}
	}
	return out
}

// at returns the scale and the zero point for index i of the quantized dimension.
func at(u *quant.Uniform, i int) (scale float64, zero int64) {
	if u.PerTensor() {
		i = 0
	}
	return u.Scales[i], u.ZeroPoints[i]
}

// requantize inserts the values x, quantized as from, quantized as to, stored as type t: real numbers times
// scale(from)/scale(to), plus a zero point.
func (e *quantEmitter) requantize(x *ir.Value, from, to, t ir.Type) *ir.Value {
	if from == to {
		return e.typed(stablehlo.Convert, t, x)
	}
	a, b := quant.Of(from), quant.Of(to)
	tt := t.(*ir.TensorType)
	v := e.typed(stablehlo.Convert, withElem(e.ctx, t, e.f32()), x)
	var dims []int64
	n := 1
	for _, u := range []*quant.Uniform{a, b} {
		if u.PerAxis() {
			n, dims = len(u.Scales), []int64{int64(u.Axis)}
		}
	}
	scales, zeros, shifted := make([]float64, n), make([]float64, n), false
	for i := range scales {
		s1, z1 := at(a, i)
		s2, z2 := at(b, i)
		scales[i] = s1 / s2
		zeros[i] = float64(z2) - float64(float64(z1)*scales[i])
		shifted = shifted || zeros[i] != 0 && (dims == nil || float32(zeros[i]) != 0)
	}
	constant := func(list []float64) *ir.Value {
		if dims == nil {
			return e.scalar(list[0])
		}
		return e.floats(list)
	}
	v = e.broadcast(chlo.BroadcastMultiply, nil, v, constant(scales), dims)
	if shifted {
		v = e.broadcast(chlo.BroadcastAdd, nil, v, constant(zeros), dims)
	}
	if i, ok := tt.Elem().(*ir.IntegerType); ok && i.Width() < 32 {
		lo, hi := e.limits(b)
		v = e.clamp(lo, v, hi)
	}
	v = e.typed(stablehlo.RoundNearestEven, withElem(e.ctx, t, e.f32()), v)
	return e.typed(stablehlo.Convert, t, v)
}

func isInt32(t ir.Type) bool {
	i, ok := t.(*ir.IntegerType)
	return ok && i.Width() == 32
}

// sum expresses add: (lhs + rhs) - zero point, with both operands in the quantization of the result.
func (e *quantEmitter) sum(op *ir.Op) []*ir.Value {
	x, y, out := op.Operand(0), op.Operand(1), op.Result(0)
	elem := e.values.elems[out]
	u := e.values.of(out)
	if u == nil || e.values.of(x) == nil || e.values.of(y) == nil {
		return nil
	}
	if !u.PerTensor() || !e.values.of(x).PerTensor() || !e.values.of(y).PerTensor() {
		if elem != e.values.elems[x] || elem != e.values.elems[y] || !isInt32(u.Storage) {
			return nil
		}
		v := e.add(x, y)
		if slices.ContainsFunc(u.ZeroPoints, func(z int64) bool { return z != 0 }) {
			v = e.broadcast(chlo.BroadcastSubtract, nil, v, e.ints(ir.Int(32), u.ZeroPoints...), []int64{int64(u.Axis)})
		}
		return []*ir.Value{v}
	}
	i32 := withElem(e.ctx, out.Type(), ir.Int(32))
	a := e.requantize(x, e.values.elems[x], elem, i32)
	b := e.requantize(y, e.values.elems[y], elem, i32)
	zero := e.scalarInt(u.ZeroPoints[0])
	v := e.broadcast(chlo.BroadcastAdd, i32, a, b, nil)
	v = e.broadcast(chlo.BroadcastSubtract, i32, v, zero, nil)
	if isInt32(u.Storage) {
		return []*ir.Value{v}
	}
	lo := e.scalarInt(u.Min)
	hi := e.scalarInt(u.Max)
	v = e.typed(stablehlo.Clamp, i32, lo, v, hi)
	return []*ir.Value{e.typed(stablehlo.Convert, out.Type(), v)}
}

// dims are the dimensions of a product: of a dot_general or of a convolution, which also has spatial dimensions.
type dims struct {
	lhsBatching, lhsSpatial, lhsContracting []int64
	rhsBatching, rhsSpatial, rhsContracting []int64
}

// product expresses dot, dot_general and convolution: of floats and quantized weights, or of quantized values with a
// quantizer result.
func (e *quantEmitter) product(op *ir.Op) []*ir.Value {
	lhs, rhs, out := e.values.of(op.Operand(0)), e.values.of(op.Operand(1)), e.values.of(op.Result(0))
	switch {
	case lhs == nil && rhs != nil && out == nil:
		return e.hybrid(op, rhs)
	case !lhs.PerTensor() || rhs == nil || out == nil || rhs.PerTensor() != out.PerTensor():
		return nil
	}
	st := op.State()
	st.Attrs = slices.Clone(op.Attrs())
	var d *dims
	switch {
	case op.Is(stablehlo.Convolution):
		if d = e.convolution(op); d == nil {
			return nil
		}
	case op.Is(stablehlo.Dot):
		d = &dims{lhsContracting: []int64{1}, rhsContracting: []int64{0}}
		st.Def = stablehlo.DotGeneral
		st.SetAttr(stablehlo.AttrDotDimensionNumbers, stablehlo.DotAttr.New(&stablehlo.DotDims{LHSContracting: []int64{1}, RHSContracting: []int64{0}}))
	default:
		v, _ := stablehlo.AsDotGeneral(op)
		n := v.Dims()
		d = &dims{lhsBatching: n.LHSBatching, lhsContracting: n.LHSContracting, rhsBatching: n.RHSBatching, rhsContracting: n.RHSContracting}
	}
	return []*ir.Value{e.dot(op, st, d)}
}

// hybrid inserts op with dequantized weights. The barrier keeps other passes from computing these beforehand.
func (e *quantEmitter) hybrid(op *ir.Op, u *quant.Uniform) []*ir.Value {
	weights := op.Operand(1)
	stored := e.Create(stablehlo.OptimizationBarrier, []*ir.Value{weights}, []ir.Type{weights.Type()}).Result(0)
	scales, zeros, axis := e.parameters(u, true)
	v := e.convert(stored, e.f32())
	if slices.ContainsFunc(u.ZeroPoints, func(z int64) bool { return z != 0 }) {
		v = e.broadcast(chlo.BroadcastSubtract, v.Type(), v, zeros, axis)
	}
	v = e.broadcast(chlo.BroadcastMultiply, v.Type(), v, scales, axis)
	st := op.State()
	st.Attrs, st.Operands = slices.Clone(op.Attrs()), []*ir.Value{op.Operand(0), v}
	return e.Insert(st).ResultList()
}

// dot inserts a product of quantized values:
//
//	dot(lhs, rhs)*scale + zero point, scale = scale(lhs)*scale(rhs)/scale(out),
//	zero point = zero(out) - scale*(zero(lhs)*sum(rhs) + zero(rhs)*sum(lhs) - n*zero(lhs)*zero(rhs))
func (e *quantEmitter) dot(op *ir.Op, st *ir.OpState, d *dims) *ir.Value {
	lhs, rhs, out := op.Operand(0), op.Operand(1), op.Result(0)
	l, r, o := e.values.of(lhs), e.values.of(rhs), e.values.of(out)
	i32, f32 := withElem(e.ctx, out.Type(), ir.Int(32)), withElem(e.ctx, out.Type(), e.f32())
	if op.Is(stablehlo.Convolution) {
		lhs = e.pad(op, st, lhs, d)
	}
	st.Operands, st.Types = []*ir.Value{lhs, rhs}, []ir.Type{i32}
	v := e.Insert(st).Result(0)
	right := int64(0) // per axis, the zero points of rhs and out are 0
	if r.PerTensor() {
		right = r.ZeroPoints[0]
	}
	offset := e.offset(lhs, rhs, v, l.ZeroPoints[0], right, i32.(*ir.TensorType), d)
	combined := float64(l.Scales[0]*r.Scales[0]) / o.Scales[0]
	if math.Abs(combined-1) > 0.001 {
		scale := e.scalar(combined)
		v = e.broadcast(chlo.BroadcastMultiply, f32, e.typed(stablehlo.Convert, f32, v), scale, nil)
		v = e.typed(stablehlo.Convert, i32, v)
		if offset != nil {
			wide := e.convert(offset, e.f32())
			wide = e.broadcast(chlo.BroadcastMultiply, wide.Type(), wide, scale, nil)
			offset = e.convert(wide, ir.Int(32))
		}
	}
	zero := int64(0)
	if o.PerTensor() {
		zero = o.ZeroPoints[0]
	}
	z := e.scalarInt(zero)
	if offset != nil {
		z = e.broadcast(chlo.BroadcastSubtract, i32, z, offset, nil)
	}
	v = e.broadcast(chlo.BroadcastAdd, i32, v, z, nil)
	return e.typed(stablehlo.Convert, out.Type(), v)
}

// offset inserts zero(lhs)*sum(rhs) + zero(rhs)*sum(lhs) - n*zero(lhs)*zero(rhs), or returns nil if it is 0.
func (e *quantEmitter) offset(lhs, rhs, out *ir.Value, left, right int64, t *ir.TensorType, d *dims) *ir.Value {
	var result, sizes *ir.Value
	broadcast := func(x *ir.Value, zero int64, spatial, contracting, batching []int64, first int64) *ir.Value {
		reduced := slices.Concat(spatial, contracting)
		v := e.zeroSum(x, zero, reduced)
		var to []int64
		batch := int64(0)
		for i := range int64(tensorType(x).Rank()) {
			switch {
			case slices.Contains(reduced, i):
			case slices.Contains(batching, i):
				to = append(to, batch)
				batch++
			default:
				to = append(to, first)
				first++
			}
		}
		if t.Static() {
			return e.result(stablehlo.BuildBroadcastInDim(e.Builder, v, t, stablehlo.BroadcastInDimAttrs{BroadcastDimensions: to}))
		}
		if sizes == nil {
			sizes = e.sizes64(out)
		}
		return e.dynamicBroadcast(v, sizes, t, to)
	}
	if right != 0 {
		result = broadcast(lhs, right, d.lhsSpatial, d.lhsContracting, d.lhsBatching, int64(len(d.lhsBatching)))
	}
	if left != 0 {
		first := int64(tensorType(lhs).Rank() - len(d.lhsContracting))
		if len(d.lhsSpatial) > 0 && len(d.rhsSpatial) > 0 {
			first = d.lhsContracting[0]
		}
		v := broadcast(rhs, left, d.rhsSpatial, d.rhsContracting, d.rhsBatching, first)
		if result != nil {
			v = e.add(result, v)
		}
		result = v
	}
	if left == 0 || right == 0 {
		return result
	}
	dynamic := e.scalarInt(1)
	n, isDynamic := int32(1), false
	for _, i := range slices.Concat(d.rhsSpatial, d.rhsContracting) {
		if size := tensorType(rhs).Shape()[i]; size != ir.Dynamic {
			n *= int32(size)
			continue
		}
		isDynamic = true
		dynamic = e.mul(dynamic, e.dimension(rhs, i))
	}
	both := e.scalarInt(int64(int32(left) * int32(right) * n))
	if isDynamic {
		both = e.mul(both, dynamic)
	}
	return e.broadcast(chlo.BroadcastSubtract, nil, result, both, nil)
}

// sizes64 inserts the sizes of v as i64.
func (e *quantEmitter) sizes64(v *ir.Value) *ir.Value {
	parts := make([]*ir.Value, tensorType(v).Rank())
	for i, n := range tensorType(v).Shape() {
		if n == ir.Dynamic {
			parts[i] = e.size1(v, int64(i))
		} else {
			parts[i] = e.ints(ir.Int(64), n)
		}
	}
	return e.concatenate(parts)
}

// zeroSum inserts zero times the sum of x over dimensions.
func (e *quantEmitter) zeroSum(x *ir.Value, zero int64, over []int64) *ir.Value {
	sums := e.total(e.convert(x, ir.Int(32)), over...)
	return e.broadcast(chlo.BroadcastMultiply, nil, sums, e.scalarInt(zero), nil)
}

// pad inserts the padding of a convolution with the zero point of lhs, and takes it out of st.
func (e *quantEmitter) pad(op *ir.Op, st *ir.OpState, lhs *ir.Value, d *dims) *ir.Value {
	a, ok := op.Attr(stablehlo.AttrPadding).(*ir.DenseAttr)
	if !ok {
		return lhs
	}
	padding, err := a.Int64s()
	if err != nil || !slices.ContainsFunc(padding, func(n int64) bool { return n != 0 }) {
		return lhs
	}
	u := e.values.of(lhs)
	zero := e.constant(u.ZeroPoints[0], e.ctx.Tensor(nil, elemOf(lhs), nil))
	rank := tensorType(lhs).Rank()
	low, high := make([]int64, rank), make([]int64, rank)
	for i, dim := range d.lhsSpatial {
		low[dim], high[dim] = padding[2*i], padding[2*i+1]
	}
	padded, err := stablehlo.BuildPad(e.Builder, lhs, zero, stablehlo.PadAttrs{EdgePaddingLow: low, EdgePaddingHigh: high, InteriorPadding: make([]int64, rank)})
	st.SetAttr(stablehlo.AttrPadding, denseOf(e.ctx, ir.Int(64), []int64{int64(rank - 2), 2}, make([]int64, 2*(rank-2))))
	return e.result(padded.Op, err)
}

// convolution returns the dimensions of a convolution that Quantized can express. Its weights and, per axis, its
// results have zero points 0. Per-axis quantization is along the output features, with scales in one ratio. lhs has no
// dilation, and the dimensions have one of the usual orders.
func (e *quantEmitter) convolution(op *ir.Op) *dims {
	v, _ := stablehlo.AsConvolution(op)
	r, o := e.values.of(op.Operand(1)), e.values.of(op.Result(0))
	zeros := r.ZeroPoints
	if r.PerAxis() {
		zeros = slices.Concat(zeros, o.ZeroPoints)
		if r.Axis != tensorType(op.Operand(1)).Rank()-1 || len(o.Scales) > len(r.Scales) {
			return nil
		}
		first := o.Scales[0] / r.Scales[0]
		for i, s := range o.Scales {
			if math.Abs((s/r.Scales[i]-first)/first) > 0.001 {
				return nil
			}
		}
	}
	not := func(n int64) func(int64) bool { return func(m int64) bool { return m != n } }
	if slices.ContainsFunc(zeros, not(0)) || slices.ContainsFunc(v.LHSDilation(), not(1)) {
		return nil
	}
	n := v.Dims()
	got := fmt.Sprint(n.InputBatch, n.InputFeature, n.InputSpatial, n.KernelInputFeature, n.KernelOutput, n.KernelSpatial, n.OutputBatch, n.OutputFeature, n.OutputSpatial)
	for _, spatial := range []int64{2, 3} {
		near, far := count(1, spatial), count(2, spatial)
		for _, f := range []struct {
			layout string
			dims   dims
		}{
			{fmt.Sprint(0, spatial+1, near, spatial, spatial+1, count(0, spatial), 0, spatial+1, near),
				dims{lhsBatching: []int64{0}, lhsSpatial: near, lhsContracting: []int64{spatial + 1}, rhsSpatial: count(0, spatial), rhsContracting: []int64{spatial}}},
			// with two spatial dimensions [output, input, ...], with three [input, output, ...]
			{fmt.Sprint(0, 1, far, 3-spatial, spatial-2, far, 0, 1, far),
				dims{lhsBatching: []int64{0}, lhsSpatial: far, lhsContracting: []int64{1}, rhsSpatial: far, rhsContracting: []int64{1}}},
		} {
			if got == f.layout {
				return &f.dims
			}
		}
	}
	return nil
}

// count returns n numbers from first.
func count(first, n int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = first + int64(i)
	}
	return out
}
