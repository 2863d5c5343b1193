// Package reduction adds ops to a program that reduce a value to a few numbers, so that only these cross to the host.
package reduction

import (
	"math"

	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Emitter inserts the ops before the builder's place.
type Emitter struct{ *ir.Builder }

func (e Emitter) op(def *ir.Def, operands ...*ir.Value) *ir.Value {
	return ir.Must(e.Build(def, operands)).Result(0)
}

func (e Emitter) compare(d stablehlo.ComparisonDirection, x, y *ir.Value) *ir.Value {
	op, err := stablehlo.BuildCompare(e.Builder, x, y, stablehlo.CompareAttrs{ComparisonDirection: d})
	return ir.Must(op.Op, err).Result(0)
}

// isNaN returns x != x.
func (e Emitter) isNaN(x *ir.Value) *ir.Value {
	return e.compare(stablehlo.ComparisonDirectionNE, x, x)
}

func (e Emitter) sel(pred, x, y *ir.Value) *ir.Value { return e.op(stablehlo.Select, pred, x, y) }

func typeOf(v *ir.Value) *ir.TensorType { return v.Type().(*ir.TensorType) }

// convert converts the elements of x to another type.
func (e Emitter) convert(x *ir.Value, to tensor.DType) *ir.Value {
	if typeOf(x).DType() == to {
		return x
	}
	return ir.Must(stablehlo.BuildConvert(e.Builder, x, e.Module().Context().StaticTensor(to, typeOf(x).Shape()))).Result(0)
}

func (e Emitter) reshape(x *ir.Value, shape ...int64) *ir.Value {
	return ir.Must(stablehlo.BuildReshape(e.Builder, x, e.Module().Context().StaticTensor(typeOf(x).DType(), shape))).Result(0)
}

// Number inserts a scalar constant.
func Number[T int32 | int64 | float64](e Emitter, d tensor.DType, v T) *ir.Value {
	t := tensor.New(d, nil)
	tensor.View[T](t)[0] = v
	op, err := stablehlo.BuildConstant(e.Builder, stablehlo.ConstantAttrs{Value: e.Module().Context().DenseFromTensor(t)})
	return ir.Must(op.Op, err).Result(0)
}

// splat inserts a constant of the given shape with equal elements.
func splat[T int32 | int64 | float64](e Emitter, d tensor.DType, v T, shape []int64) *ir.Value {
	return e.fill(Number(e, d, v), shape)
}

// fill returns a tensor of the given shape with the scalar x in all elements.
func (e Emitter) fill(x *ir.Value, shape []int64) *ir.Value {
	if len(shape) == 0 {
		return x
	}
	to := e.Module().Context().StaticTensor(typeOf(x).DType(), shape)
	return ir.Must(stablehlo.BuildBroadcastInDim(e.Builder, x, to, stablehlo.BroadcastInDimAttrs{BroadcastDimensions: []int64{}})).Result(0)
}

// reduction combines all elements of a tensor with an op.
type reduction struct {
	by      *ir.Def
	x, init *ir.Value
}

// reduce returns the results of reductions of tensors of one shape. One loop reads all tensors.
func (e Emitter) reduce(list ...reduction) []*ir.Value {
	out := make([]*ir.Value, len(list))
	inits := make([]*ir.Value, len(list))
	types := make([]ir.Type, 2*len(list))
	for i, r := range list {
		out[i], inits[i], types[i], types[len(list)+i] = r.x, r.init, r.init.Type(), r.init.Type()
	}
	rank := typeOf(list[0].x).Rank()
	if rank == 0 {
		return out
	}
	dims := make([]int64, rank)
	for i := range dims {
		dims[i] = int64(i)
	}
	region := e.Module().NewRegion()
	body := region.AddBlock(types...)
	in := Emitter{e.In(body)}
	combined := make([]*ir.Value, len(list))
	for i, r := range list {
		combined[i] = in.op(r.by, body.Arg(i), body.Arg(len(list)+i))
	}
	ir.Must(stablehlo.BuildReturn(in.Builder, combined))
	op, err := stablehlo.BuildReduce(e.Builder, out, inits, region, stablehlo.ReduceAttrs{Dimensions: dims})
	return ir.Must(op.Op, err).ResultList()
}

// Join makes a vector of scalars.
func (e Emitter) Join(list []*ir.Value) *ir.Value {
	out := make([]*ir.Value, len(list))
	for i, v := range list {
		out[i] = e.reshape(v, 1)
	}
	return e.Concatenate(out)
}

// Concatenate makes one vector of at least one.
func (e Emitter) Concatenate(vectors []*ir.Value) *ir.Value {
	if len(vectors) == 1 {
		return vectors[0]
	}
	op, err := stablehlo.BuildConcatenate(e.Builder, vectors, stablehlo.ConcatenateAttrs{})
	return ir.Must(op.Op, err).Result(0)
}

// NumStats is the number of elements of the vector of Stats.
const NumStats = 5

// Stats returns the vector [minimum, maximum, sum, number of NaN, number of infinite elements] of x in f64. The first
// three are over the finite elements, for complex numbers over their absolute values. A complex number is infinite if
// one of its parts is, otherwise NaN if one of its parts is.
func (e Emitter) Stats(x *ir.Value) *ir.Value {
	shape := typeOf(x).Shape()
	var nan, bad *ir.Value // nil: no element is
	var y *ir.Value
	switch t := typeOf(x).DType(); {
	case t.IsComplex():
		// Some backends compute an absolute value of NaN if one part is infinite.
		re, im := e.convert(e.op(stablehlo.Real, x), tensor.F64), e.convert(e.op(stablehlo.Imag, x), tensor.F64)
		inf := e.op(stablehlo.Or, e.infinite(re), e.infinite(im))
		nan = e.op(stablehlo.And, e.op(stablehlo.Not, inf), e.op(stablehlo.Or, e.isNaN(re), e.isNaN(im)))
		bad = e.op(stablehlo.Or, nan, inf)
		y = e.op(stablehlo.Abs, e.op(stablehlo.Complex, re, im))
	case t.IsFloat():
		y = e.convert(x, tensor.F64)
		nan, bad = e.isNaN(y), e.op(stablehlo.Not, e.op(stablehlo.IsFinite, y))
	default:
		y = e.convert(x, tensor.F64)
	}
	finite := func(y, other *ir.Value) *ir.Value {
		if bad == nil {
			return y
		}
		return e.sel(bad, e.fill(other, shape), y)
	}
	// XLA's CPU compiler makes a fast loop of one reduction with several operands, and slow loops of several reductions.
	// Its minimum of floats looks for NaN if JAX compiles it, and takes five times as long as the minimum of integers.
	position := e.position(y)
	first, last := e.position(Number(e, tensor.F64, math.Inf(-1))), e.position(Number(e, tensor.F64, math.Inf(1)))
	zero := Number(e, tensor.F64, 0.0)
	list := []reduction{
		{stablehlo.Minimum, finite(position, last), last},
		{stablehlo.Maximum, finite(position, first), first},
		{stablehlo.Add, finite(y, zero), zero},
	}
	none := Number(e, tensor.I64, int64(0))
	if bad != nil {
		for _, pred := range []*ir.Value{nan, bad} {
			list = append(list, reduction{stablehlo.Add, e.convert(pred, tensor.I64), none})
		}
	}
	out := e.reduce(list...)
	for i := range out[:2] {
		out[i] = e.position(out[i])
	}
	if bad == nil {
		return e.Join(append(out, zero, zero))
	}
	out[4] = e.op(stablehlo.Subtract, out[4], out[3])
	out[3], out[4] = e.convert(out[3], tensor.F64), e.convert(out[4], tensor.F64)
	return e.Join(out)
}

// position returns integers in the order of the numbers x of f64, which are not NaN, and the numbers of such integers.
func (e Emitter) position(x *ir.Value) *ir.Value {
	shape := typeOf(x).Shape()
	to, bits := tensor.F64, x
	if typeOf(x).DType() == tensor.F64 {
		to, bits = tensor.I64, e.bitcast(x, tensor.I64)
	}
	sign := e.op(stablehlo.ShiftRightArithmetic, bits, splat(e, tensor.I64, int64(63), shape))
	flip := e.op(stablehlo.And, sign, splat(e, tensor.I64, int64(math.MaxInt64), shape))
	return e.bitcast(e.op(stablehlo.Xor, bits, flip), to)
}

// bitcast returns the bits of x as another type of the same size.
func (e Emitter) bitcast(x *ir.Value, to tensor.DType) *ir.Value {
	if typeOf(x).DType() == to {
		return x
	}
	return ir.Must(stablehlo.BuildBitcastConvert(e.Builder, x, e.Module().Context().StaticTensor(to, typeOf(x).Shape()))).Result(0)
}

func (e Emitter) infinite(x *ir.Value) *ir.Value {
	return e.compare(stablehlo.ComparisonDirectionEQ, e.op(stablehlo.Abs, x), splat(e, tensor.F64, math.Inf(1), typeOf(x).Shape()))
}

// parts returns the real numbers that x consists of, in a type that every backend compares.
func (e Emitter) parts(x *ir.Value) []*ir.Value {
	switch t := typeOf(x).DType(); {
	case t.IsComplex():
		return []*ir.Value{e.op(stablehlo.Real, x), e.op(stablehlo.Imag, x)}
	case t.Size() < 4:
		return []*ir.Value{e.convert(x, tensor.F32)}
	}
	return []*ir.Value{x}
}

// Bits of a value in a word of masks.
const (
	BitNaN = 1 << iota
	BitInf
	MaskBits = 2
	PerWord  = 32 / MaskBits
)

// Mask returns an i32 with two bits for each of at most PerWord values of one type: whether the value has a NaN, and
// whether it has an infinite element. One loop reads all values, unless the module is partitioned.
func (e Emitter) Mask(values []*ir.Value) *ir.Value {
	if _, partitions := mhlo.Devices(e.Module()); partitions > 1 {
		return e.partitionedMask(values)
	}
	shape := typeOf(values[0]).Shape()
	zero := splat(e, tensor.I32, int32(0), shape)
	var word *ir.Value
	for i, v := range values {
		for _, x := range e.parts(v) {
			shift := MaskBits * i
			bad := e.sel(e.isNaN(x), splat(e, tensor.I32, int32(uint32(BitNaN)<<shift), shape), splat(e, tensor.I32, int32(uint32(BitInf)<<shift), shape))
			bits := e.sel(e.op(stablehlo.IsFinite, x), zero, bad)
			if word != nil {
				bits = e.op(stablehlo.Or, word, bits)
			}
			word = bits
		}
	}
	return e.reduce(reduction{stablehlo.Or, word, Number(e, tensor.I32, int32(0))})[0]
}

// partitionedMask is Mask for values on several devices. Collectives of XLA combine booleans by "or", but not integers.
func (e Emitter) partitionedMask(values []*ir.Value) *ir.Value {
	none := e.compare(stablehlo.ComparisonDirectionNE, Number(e, tensor.I32, int32(0)), Number(e, tensor.I32, int32(0))) // false
	word := Number(e, tensor.I32, int32(0))
	for i, v := range values {
		var nan, inf *ir.Value
		for _, x := range e.parts(v) {
			isNaN := e.isNaN(x)
			isInf := e.op(stablehlo.And, e.op(stablehlo.Not, isNaN), e.op(stablehlo.Not, e.op(stablehlo.IsFinite, x)))
			if nan == nil {
				nan, inf = isNaN, isInf
			} else {
				nan, inf = e.op(stablehlo.Or, nan, isNaN), e.op(stablehlo.Or, inf, isInf)
			}
		}
		for bit, flags := range []*ir.Value{nan, inf} {
			any := e.reduce(reduction{stablehlo.Or, flags, none})[0]
			word = e.op(stablehlo.Or, word, e.sel(any, Number(e, tensor.I32, int32(uint32(1)<<(MaskBits*i+bit))), Number(e, tensor.I32, int32(0))))
		}
	}
	return word
}

// Place returns the position and the value of the first element of v that is not finite, as two scalars of f64. The
// position is the number of elements if all are finite. A complex element counts as its first part that is not finite.
func (e Emitter) Place(v *ir.Value) []*ir.Value {
	n := tensor.Shape(typeOf(v).Shape()).NumElements()
	if n == 0 {
		return []*ir.Value{Number(e, tensor.F64, 0.0), Number(e, tensor.F64, 0.0)}
	}
	shape := []int64{n}
	parts := e.parts(e.reshape(v, n))
	at := ir.Must(stablehlo.BuildIota(e.Builder, e.Module().Context().StaticTensor(tensor.I64, shape), stablehlo.IotaAttrs{})).Result(0)
	finite := e.op(stablehlo.IsFinite, parts[0])
	for _, x := range parts[1:] {
		finite = e.op(stablehlo.And, finite, e.op(stablehlo.IsFinite, x))
	}
	first := e.reduce(reduction{stablehlo.Minimum, e.sel(finite, splat(e, tensor.I64, n, shape), at), Number(e, tensor.I64, n)})[0]
	var value *ir.Value
	for i := len(parts) - 1; i >= 0; i-- {
		op, err := stablehlo.BuildDynamicSlice(e.Builder, parts[i], []*ir.Value{first}, stablehlo.DynamicSliceAttrs{SliceSizes: []int64{1}})
		x := e.convert(e.reshape(ir.Must(op.Op, err).Result(0)), tensor.F64)
		if value != nil {
			x = e.sel(e.op(stablehlo.IsFinite, x), value, x)
		}
		value = x
	}
	return []*ir.Value{e.convert(first, tensor.F64), value}
}
