package plan

import (
	"fmt"
	"slices"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

func quantumOf(t ir.Type) (*kernel.Quantum, error) {
	u := quant.Of(t)
	if u == nil {
		return nil, fmt.Errorf("elements of type %s are not executed", t)
	}
	q := &kernel.Quantum{Expressed: elementDType(u.Expressed), Min: u.Min, Max: u.Max, Axis: u.Axis, Scales: u.Scales, ZeroPoints: u.ZeroPoints}
	if it, ok := u.Storage.(*ir.IntegerType); ok {
		q.Storage = integerDType(it.Width(), u.Signed)
	}
	if q.Storage == tensor.Invalid || !q.Expressed.IsFloat() || len(u.Scales) == 0 || len(u.ZeroPoints) != len(u.Scales) {
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

// movesElements reports whether an op only moves elements; such an op can move stored integers unchanged.
func movesElements(d *ir.Def) bool {
	switch d {
	case stablehlo.BroadcastInDim, stablehlo.Transpose, stablehlo.Reverse, stablehlo.Slice, stablehlo.DynamicSlice,
		stablehlo.DynamicUpdateSlice, stablehlo.Concatenate, stablehlo.Pad, stablehlo.Gather, stablehlo.Select, stablehlo.DynamicReshape,
		stablehlo.DynamicBroadcastInDim, stablehlo.DynamicPad, stablehlo.DynamicGather, stablehlo.RealDynamicSlice:
		return true
	}
	return false
}

// kernel builds the kernel of a row. If an operand or result is quantized, the kernel computes on the reals that it
// represents (spec, "dequantize_op_quantize"), unless the op only moves elements of one type.
func (p *Planner) kernel(r Row, s *Spec) (kernel.Kernel, error) {
	if len(s.Out) > 0 && !slices.ContainsFunc(s.Out, func(t kernel.Type) bool { return t.N != 0 }) {
		// An empty result needs no work, but a kernel may loop over the dimensions of tensor<1000000000000x0xf32>.
		return kernel.Kernel{Family: "empty", Run: func(_, _ []*tensor.Tensor) {}}, nil
	}
	var q *kernel.Quantum
	quantized, uniform := false, true
	for _, t := range append(s.In[:len(s.In):len(s.In)], s.Out...) {
		if t.Quant == nil {
			continue
		}
		quantized = true
		if q == nil {
			q = t.Quant
		}
		uniform = uniform && q.Same(t.Quant)
	}
	if !quantized || uniform && movesElements(OpKind(s.Op)) {
		return r.Make(s)
	}
	switch OpKind(s.Op) {
	case stablehlo.UniformQuantize, stablehlo.UniformDequantize, stablehlo.BitcastConvert:
		return r.Make(s)
	}
	real := NewSpec(s.Planner, s.Op, nil, nil)
	express := func(ts []kernel.Type) (out []kernel.Type) {
		for _, t := range ts {
			if t.Quant != nil {
				t.DType, t.Quant = t.Quant.Expressed, nil
			}
			out = append(out, t)
		}
		return out
	}
	real.In, real.Out = express(s.In), express(s.Out)
	k, err := r.Make(real)
	if err != nil {
		return kernel.Kernel{}, err
	}
	// Each quantized tensor is held three times: as integers, as float64s and in its expressed type.
	scratch := k.Scratch
	for i, t := range append(s.In[:len(s.In):len(s.In)], s.Out...) {
		if t.Quant != nil {
			scratch += int64(t.N) * int64(16+append(real.In[:len(real.In):len(real.In)], real.Out...)[i].DType.Size())
		}
	}
	return kernel.Kernel{Family: "dequantized " + k.Family, Scratch: scratch, Run: func(in, out []*tensor.Tensor) {
		fin, fout := make([]*tensor.Tensor, len(in)), make([]*tensor.Tensor, len(out))
		for i, t := range in {
			if fin[i] = t; s.In[i].Quant != nil {
				fin[i] = s.In[i].Quant.Dequantize(t)
			}
		}
		for i, t := range out {
			if fout[i] = t; s.Out[i].Quant != nil {
				fout[i] = tensor.New(real.Out[i].DType, t.Shape())
			}
		}
		k.Run(fin, fout)
		for i, t := range out {
			if s.Out[i].Quant != nil {
				s.Out[i].Quant.Quantize(t, fout[i])
			}
		}
	}}, nil
}

func elementDType(t ir.Type) tensor.DType {
	if f, ok := t.(*ir.FloatType); ok {
		return f.DType()
	}
	return tensor.Invalid
}
