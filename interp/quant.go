package interp

import (
	"errors"
	"fmt"
	"math"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// quantum describes how the stored integers of a quantized tensor represent reals: (stored - zero point) * scale (spec,
// "Quantized element types"), per tensor or per index of one dimension.
type quantum struct {
	*quant.Uniform
	storage, expressed tensor.DType
}

func quantumOf(t ir.Type) (*quantum, error) {
	u := quant.Of(t)
	if u == nil {
		return nil, fmt.Errorf("elements of type %s are not executed", t)
	}
	q := &quantum{Uniform: u, expressed: elementDType(u.Expressed)}
	if it, ok := u.Storage.(*ir.IntegerType); ok {
		q.storage = integerDType(it.Width(), u.Signed)
	}
	if q.storage == tensor.Invalid || !q.expressed.IsFloat() || len(u.Scales) == 0 || len(u.ZeroPoints) != len(u.Scales) {
		return nil, fmt.Errorf("elements of type %s are not executed", t)
	}
	return q, nil
}

func integerDType(width int, signed bool) tensor.DType {
	signedTypes := map[int]tensor.DType{2: tensor.I2, 4: tensor.I4, 8: tensor.I8, 16: tensor.I16, 32: tensor.I32}
	unsignedTypes := map[int]tensor.DType{2: tensor.UI2, 4: tensor.UI4, 8: tensor.UI8, 16: tensor.UI16, 32: tensor.UI32}
	if signed {
		return signedTypes[width]
	}
	return unsignedTypes[width]
}

// at returns the scale and zero point of element i of a tensor of the given shape.
func (q *quantum) at(shape tensor.Shape, i int) (scale float64, zero int64) {
	k := 0
	if q.Axis >= 0 && q.Axis < len(shape) {
		inner := int(shape[q.Axis+1:].NumElements())
		k = i / max(inner, 1) % int(shape[q.Axis])
	}
	return q.Scales[k], q.ZeroPoints[k]
}

// dequantize returns the reals that stored integers represent, in the expressed type.
func (q *quantum) dequantize(stored *tensor.Tensor) *tensor.Tensor {
	n := stored.NumElements()
	v := make([]int64, n)
	decodeInt(q.storage, v, stored, 0)
	x := make([]float64, n)
	for i := range x {
		scale, zero := q.at(stored.Shape(), i)
		x[i] = float64(v[i]-zero) * scale
		if q.expressed == tensor.F32 {
			x[i] = float64(float32(v[i]-zero) * float32(scale))
		}
	}
	out := tensor.New(q.expressed, stored.Shape())
	encode64(q.expressed, out, 0, x)
	return out
}

// quantize rounds reals to the nearest stored integers, ties to even, and clamps them.
func (q *quantum) quantize(out, reals *tensor.Tensor) {
	n := reals.NumElements()
	x := make([]float64, n)
	decode64(reals.DType(), x, reals, 0)
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
	encodeInt(q.storage, out, 0, v)
}

func (a *quantum) same(b *quantum) bool {
	return a == b || a != nil && b != nil && a.Uniform == b.Uniform
}

// movesElements reports whether an op only moves elements; such an op can move stored integers unchanged.
func movesElements(d *ir.Def) bool {
	switch d {
	case stablehlo.BroadcastInDim, stablehlo.Broadcast, stablehlo.Transpose, stablehlo.Reverse, stablehlo.Slice, stablehlo.DynamicSlice,
		stablehlo.DynamicUpdateSlice, stablehlo.Concatenate, stablehlo.Pad, stablehlo.Gather, stablehlo.Select, stablehlo.DynamicReshape,
		stablehlo.DynamicBroadcastInDim, stablehlo.DynamicPad, stablehlo.DynamicGather, stablehlo.RealDynamicSlice:
		return true
	}
	return false
}

// kernel builds the kernel of a row. If an operand or result is quantized, the kernel computes on the reals that it
// represents (spec, "dequantize_op_quantize"), unless the op only moves elements of one type.
func (p *planner) kernel(r row, s *spec) (kernel, error) {
	var q *quantum
	quantized, uniform := false, true
	for _, t := range append(s.in[:len(s.in):len(s.in)], s.out...) {
		if t.quant == nil {
			continue
		}
		quantized = true
		if q == nil {
			q = t.quant
		}
		uniform = uniform && q.same(t.quant)
	}
	if !quantized || uniform && movesElements(opKind(s.op)) {
		return r.make(s)
	}
	switch opKind(s.op) {
	case stablehlo.UniformQuantize, stablehlo.UniformDequantize, stablehlo.BitcastConvert:
		return r.make(s)
	}
	real := newSpec(s.p, s.op, nil, nil)
	express := func(ts []vtype) (out []vtype) {
		for _, t := range ts {
			if t.quant != nil {
				t.dt, t.quant = t.quant.expressed, nil
			}
			out = append(out, t)
		}
		return out
	}
	real.in, real.out = express(s.in), express(s.out)
	k, err := r.make(real)
	if err != nil {
		return kernel{}, err
	}
	// Each quantized tensor is held three times: as integers, as float64s and in its expressed type.
	scratch := k.scratch
	for i, t := range append(s.in[:len(s.in):len(s.in)], s.out...) {
		if t.quant != nil {
			scratch += int64(t.n) * int64(16+append(real.in[:len(real.in):len(real.in)], real.out...)[i].dt.Size())
		}
	}
	return kernel{scratch: scratch, run: func(in, out []*tensor.Tensor) error {
		fin, fout := make([]*tensor.Tensor, len(in)), make([]*tensor.Tensor, len(out))
		for i, t := range in {
			if fin[i] = t; s.in[i].quant != nil {
				fin[i] = s.in[i].quant.dequantize(t)
			}
		}
		for i, t := range out {
			if fout[i] = t; s.out[i].quant != nil {
				fout[i] = tensor.New(real.out[i].dt, t.Shape())
			}
		}
		if err := k.run(fin, fout); err != nil {
			return err
		}
		for i, t := range out {
			if s.out[i].quant != nil {
				s.out[i].quant.quantize(t, fout[i])
			}
		}
		return nil
	}}, nil
}

// makeQuantize compiles uniform_quantize (spec, "uniform_quantize") of reals or of other quantized values.
func makeQuantize(s *signature) (kernel, error) {
	if err := sameShape(s, 1); err != nil {
		return kernel{}, err
	}
	from, to := s.in[0].quant, s.out[0].quant
	if to == nil {
		return kernel{}, errors.New("expects a quantized result")
	}
	scratch := 16 * int64(s.in[0].n)
	if from != nil {
		scratch += int64(s.in[0].n) * int64(16+from.expressed.Size())
	}
	return kernel{scratch: scratch, run: func(in, out []*tensor.Tensor) error {
		x := in[0]
		if from != nil {
			x = from.dequantize(x)
		}
		to.quantize(out[0], x)
		return nil
	}}, nil
}

// makeDequantize compiles uniform_dequantize (spec, "uniform_dequantize").
func makeDequantize(s *signature) (kernel, error) {
	if err := sameShape(s, 1); err != nil {
		return kernel{}, err
	}
	q := s.in[0].quant
	if q == nil || s.out[0].dt != q.expressed {
		return kernel{}, errors.New("expects a quantized operand and a result of its expressed type")
	}
	return kernel{scratch: int64(s.in[0].n) * int64(16+q.expressed.Size()), run: func(in, out []*tensor.Tensor) error {
		copy(out[0].Bytes(), q.dequantize(in[0]).Bytes())
		return nil
	}}, nil
}

func elementDType(t ir.Type) tensor.DType {
	if f, ok := t.(*ir.FloatType); ok {
		return f.DType()
	}
	return tensor.Invalid
}
