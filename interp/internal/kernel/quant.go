package kernel

import (
	"math"
	"slices"

	"github.com/hlocb/hlocb/tensor"
)

// Quantum describes how the stored integers of a quantized tensor represent reals: (stored - zero point) * scale (spec,
// "Quantized element types"). Scale and zero point are per tensor or per index of one dimension.
type Quantum struct {
	Storage, Expressed tensor.DType
	Min, Max           int64 // of the stored integers
	Axis               int   // the quantized dimension, -1 if per tensor
	Scales             []float64
	ZeroPoints         []int64
}

// at returns the scale and zero point of element i of a tensor of the given shape.
func (q *Quantum) at(shape tensor.Shape, i int) (scale float64, zero int64) {
	k := 0
	if q.Axis >= 0 && q.Axis < len(shape) {
		inner := int(shape[q.Axis+1:].NumElements())
		k = i / max(inner, 1) % int(shape[q.Axis])
	}
	return q.Scales[k], q.ZeroPoints[k]
}

// reals returns the function that sets x to the reals that stored integers represent, from element i on of a tensor of
// the given shape. They are rounded to the expressed type.
func (q *Quantum) reals(shape tensor.Shape) func(_ tensor.DType, x []float64, stored *tensor.Tensor, i int) {
	return func(_ tensor.DType, x []float64, stored *tensor.Tensor, i int) {
		var v [chunk]int64
		decodeInt(q.Storage, v[:len(x)], stored, i)
		for k := range x {
			scale, zero := q.at(shape, i+k)
			switch q.Expressed {
			case tensor.F32:
				x[k] = float64(float32(v[k]-zero) * float32(scale))
			case tensor.F64:
				x[k] = float64(v[k]-zero) * scale
			default:
				x[k] = tensor.DecodeFloat(q.Expressed, tensor.EncodeFloat(q.Expressed, float64(v[k]-zero)*scale))
			}
		}
	}
}

// store rounds reals of the given type to the nearest stored integers, ties to even, and clamps them.
func (q *Quantum) store(out *tensor.Tensor, shape tensor.Shape, i int, x []float64, from tensor.DType) {
	var v [chunk]int64
	for k := range x {
		scale, zero := q.at(shape, i+k)
		r := x[k] / scale
		if from == tensor.F32 { // the reference interpreter uses f32 scales
			r = float64(float32(x[k]) / float32(scale))
		}
		r = math.RoundToEven(r) + float64(zero)
		switch {
		case math.IsNaN(r):
			v[k] = 0
		case r <= float64(q.Min):
			v[k] = q.Min
		case r >= float64(q.Max):
			v[k] = q.Max
		default:
			v[k] = int64(r)
		}
	}
	EncodeInt(q.Storage, out, i, v[:len(x)])
}

func (a *Quantum) Same(b *Quantum) bool {
	return a == b || a != nil && b != nil && a.Storage == b.Storage && a.Expressed == b.Expressed && a.Min == b.Min && a.Max == b.Max &&
		a.Axis == b.Axis && slices.Equal(a.Scales, b.Scales) && slices.Equal(a.ZeroPoints, b.ZeroPoints)
}

// MakeQuantize compiles uniform_quantize (spec, "uniform_quantize") of reals or of other quantized values.
func MakeQuantize(s *Signature) Kernel {
	SameShape(s)
	from, to, dt, shape := s.In[0].Quant, s.Out[0].Quant, s.In[0].DType, s.Out[0].Shape
	FailIf(to == nil, "expects a quantized result")
	decode := Decode64
	if from != nil {
		dt, decode = from.Expressed, from.reals(shape)
	}
	return ElementKernel(s.Out[0].N, s.Out[0].DType.Size(), 10, blockwise(dt, decode, func(out *tensor.Tensor, i int, x, _ []float64) {
		to.store(out, shape, i, x, dt)
	}), 0)
}

// MakeDequantize compiles uniform_dequantize (spec, "uniform_dequantize").
func MakeDequantize(s *Signature) Kernel {
	SameShape(s)
	q, shape := s.In[0].Quant, s.Out[0].Shape
	FailIf(q == nil || s.Out[0].DType != q.Expressed, "expects a quantized operand and a result of its expressed type")
	return ElementKernel(s.Out[0].N, s.Out[0].DType.Size(), 10, blockwise(q.Expressed, q.reals(shape), func(out *tensor.Tensor, i int, x, _ []float64) {
		Encode64(q.Expressed, out, i, x)
	}), 0)
}
