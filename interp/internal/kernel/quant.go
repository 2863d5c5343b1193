package kernel

import (
	"errors"
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

// Dequantize returns the reals that stored integers represent, in the expressed type.
func (q *Quantum) Dequantize(stored *tensor.Tensor) *tensor.Tensor {
	n := stored.NumElements()
	v := make([]int64, n)
	decodeInt(q.Storage, v, stored, 0)
	x := make([]float64, n)
	for i := range x {
		scale, zero := q.at(stored.Shape(), i)
		x[i] = float64(v[i]-zero) * scale
		if q.Expressed == tensor.F32 {
			x[i] = float64(float32(v[i]-zero) * float32(scale))
		}
	}
	out := tensor.New(q.Expressed, stored.Shape())
	Encode64(q.Expressed, out, 0, x)
	return out
}

// Quantize rounds reals to the nearest stored integers, ties to even, and clamps them.
func (q *Quantum) Quantize(out, reals *tensor.Tensor) {
	n := reals.NumElements()
	x := make([]float64, n)
	Decode64(reals.DType(), x, reals, 0)
	v := make([]int64, n)
	for i := range v {
		scale, zero := q.at(out.Shape(), i)
		r := x[i] / scale
		if reals.DType() == tensor.F32 { // the reference interpreter uses f32 scales
			r = float64(float32(x[i]) / float32(scale))
		}
		r = math.RoundToEven(r) + float64(zero)
		switch {
		case math.IsNaN(r):
			v[i] = 0
		case r <= float64(q.Min):
			v[i] = q.Min
		case r >= float64(q.Max):
			v[i] = q.Max
		default:
			v[i] = int64(r)
		}
	}
	EncodeInt(q.Storage, out, 0, v)
}

func (a *Quantum) Same(b *Quantum) bool {
	return a == b || a != nil && b != nil && a.Storage == b.Storage && a.Expressed == b.Expressed && a.Min == b.Min && a.Max == b.Max &&
		a.Axis == b.Axis && slices.Equal(a.Scales, b.Scales) && slices.Equal(a.ZeroPoints, b.ZeroPoints)
}

// MakeQuantize compiles uniform_quantize (spec, "uniform_quantize") of reals or of other quantized values.
func MakeQuantize(s *Signature) (Kernel, error) {
	if err := SameShape(s); err != nil {
		return Kernel{}, err
	}
	from, to := s.In[0].Quant, s.Out[0].Quant
	if to == nil {
		return Kernel{}, errors.New("expects a quantized result")
	}
	scratch := 16 * int64(s.In[0].N)
	if from != nil {
		scratch += int64(s.In[0].N) * int64(16+from.Expressed.Size())
	}
	return Kernel{Family: "quantize", Scratch: scratch, Run: func(in, out []*tensor.Tensor) {
		x := in[0]
		if from != nil {
			x = from.Dequantize(x)
		}
		to.Quantize(out[0], x)
	}}, nil
}

// MakeDequantize compiles uniform_dequantize (spec, "uniform_dequantize").
func MakeDequantize(s *Signature) (Kernel, error) {
	if err := SameShape(s); err != nil {
		return Kernel{}, err
	}
	q := s.In[0].Quant
	if q == nil || s.Out[0].DType != q.Expressed {
		return Kernel{}, errors.New("expects a quantized operand and a result of its expressed type")
	}
	return Kernel{Family: "dequantize", Scratch: int64(s.In[0].N) * int64(16+q.Expressed.Size()), Run: func(in, out []*tensor.Tensor) {
		copy(out[0].Bytes(), q.Dequantize(in[0]).Bytes())
	}}, nil
}
