package kernel

import (
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// Decode64 widens len(dst) elements of a float tensor, starting at element lo.
func Decode64(dt tensor.DType, dst []float64, t *tensor.Tensor, lo int) {
	switch dt {
	case tensor.F64:
		copy(dst, tensor.View[float64](t)[lo:])
	case tensor.F32:
		vec.Unary[float64, float32](vec.F64FromF32Loop)(dst, tensor.View[float32](t)[lo:])
	case tensor.BF16:
		for i, v := range tensor.View[uint16](t)[lo : lo+len(dst)] {
			dst[i] = float64(tensor.BF16ToFloat32(v))
		}
	case tensor.F16:
		for i, v := range tensor.View[uint16](t)[lo : lo+len(dst)] {
			dst[i] = float64(tensor.F16ToFloat32(v))
		}
	default:
		for i, v := range t.Bytes()[lo : lo+len(dst)] {
			dst[i] = tensor.DecodeFloat(dt, uint64(v))
		}
	}
}

// Encode64 rounds src into a float tensor, starting at element lo. It rounds once, to nearest even.
func Encode64(dt tensor.DType, t *tensor.Tensor, lo int, src []float64) {
	switch dt {
	case tensor.F64:
		copy(tensor.View[float64](t)[lo:], src)
	case tensor.F32:
		vec.Unary[float32, float64](vec.F32FromF64Loop)(tensor.View[float32](t)[lo:lo+len(src)], src)
	case tensor.F16, tensor.BF16:
		out := tensor.View[uint16](t)[lo:]
		for i, v := range src {
			out[i] = uint16(tensor.EncodeFloat(dt, v))
		}
	default:
		out := t.Bytes()[lo:]
		for i, v := range src {
			out[i] = uint8(tensor.EncodeFloat(dt, v))
		}
	}
}

// decode32 widens f16 or bf16.
func decode32(dt tensor.DType, dst []float32, t *tensor.Tensor, lo int) {
	widen := vec.F32FromF16Loop
	if dt == tensor.BF16 {
		widen = vec.F32FromBF16Loop
	}
	vec.Unary[float32, uint16](widen)(dst, tensor.View[uint16](t)[lo:])
}

// encode32 rounds to f16 or bf16.
func encode32(dt tensor.DType, t *tensor.Tensor, lo int, src []float32) {
	round := vec.F16FromF32Loop
	if dt == tensor.BF16 {
		round = vec.BF16FromF32Loop
	}
	vec.Unary[uint16, float32](round)(tensor.View[uint16](t)[lo:lo+len(src)], src)
}
