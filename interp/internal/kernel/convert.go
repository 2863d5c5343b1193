package kernel

import (
	"math"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// MakeConvert compiles convert (spec, "convert").
func MakeConvert(s *Signature) Kernel {
	SameShape(s)
	run := convertLoop(s.In[0].DType, s.Out[0].DType)
	k := ElementKernel(s.Out[0].N, 4, 4, run, 0).with(convertLanes(s.In[0].DType, s.Out[0].DType))
	if s.In[0].DType == s.Out[0].DType {
		k.Inplace = 1
	}
	return k
}

// convertLanes returns the conversion on lanes, or nil.
func convertLanes(from, to tensor.DType) *Lanes {
	switch {
	case from == to:
		return unchanged(to)
	case from == tensor.I32 && to == tensor.UI32, from == tensor.UI32 && to == tensor.I32, from == tensor.BF16 && to == tensor.F32:
		return unchanged(to)
	case from == tensor.I64 && to == tensor.UI64, from == tensor.UI64 && to == tensor.I64:
		return unchanged(to)
	case from == tensor.F32 && to == tensor.BF16:
		return rounded(unchanged(tensor.F32))
	case from == tensor.I32 && to == tensor.F32:
		return lanesOf(vec.F32FromI32Loop)
	case from == tensor.F32 && to == tensor.I32:
		return lanesOf(vec.I32FromF32Loop)
	case from == tensor.I1 && to == tensor.F32:
		return lanesOf(vec.F32FromI1Loop)
	case from == tensor.I1 && (to == tensor.I32 || to == tensor.UI32):
		return numbered
	}
	return nil
}

// convertLoop returns the loop that converts elements:
//   - to i1: by comparison with zero; from i1: 0 or 1
//   - between integers: modulo 2^width
//   - to floats: rounded once, to nearest even
//   - from floats to integers: truncated; values out of range saturate, NaN becomes zero
//   - from complex: the real part
func convertLoop(from, to tensor.DType) ElementLoop {
	if from == to {
		size := from.Size()
		return func(in, out []*tensor.Tensor, lo, hi int) {
			if o, x := out[0].Bytes()[lo*size:hi*size], in[0].Bytes()[lo*size:hi*size]; lo < hi && &o[0] != &x[0] {
				copy(o, x)
			}
		}
	}
	if f := convertFast(from, to); f != nil {
		return f
	}
	switch {
	case from.IsComplex() && to == tensor.I1:
		return blockwise(from, DecodeComplex, func(out *tensor.Tensor, lo int, x, _ []complex128) {
			for i, v := range x {
				out.Bytes()[lo+i] = bit(v != 0)
			}
		})
	case from.IsComplex() && to.IsComplex():
		return blockwise(from, DecodeComplex, func(out *tensor.Tensor, lo int, x, _ []complex128) { EncodeComplex(to, out, lo, x) })
	case from.IsComplex():
		parts := func(_ tensor.DType, dst []float64, t *tensor.Tensor, lo int) {
			for i := range dst {
				dst[i] = real(t.ComplexAt(lo + i))
			}
		}
		return blockwise(from, parts, func(out *tensor.Tensor, lo int, x, _ []float64) { fromFloats(to, out, lo, x) })
	case from.IsFloat():
		return blockwise(from, Decode64, func(out *tensor.Tensor, lo int, x, _ []float64) { fromFloats(to, out, lo, x) })
	case to.Size() == 0 || from.Size() == 0:
		Fail(TypeMismatch(from, to))
	case !to.IsFloat() && !to.IsComplex():
		return blockwise(from, decodeInt, func(out *tensor.Tensor, lo int, x, _ []int64) { EncodeInt(to, out, lo, x) })
	}
	direct := to == tensor.F64 || to == tensor.Complex128
	floats := func(_ tensor.DType, dst []float64, t *tensor.Tensor, lo int) {
		for i := range dst {
			dst[i] = intToFloat(t.IntAt(lo+i), from == tensor.UI64, direct)
		}
	}
	return blockwise(from, floats, func(out *tensor.Tensor, lo int, x, _ []float64) { fromFloats(to, out, lo, x) })
}

// convertFast returns loops for the most frequent conversions.
func convertFast(from, to tensor.DType) ElementLoop {
	switch {
	case from == tensor.F32 && to == tensor.F64:
		return convertView(vec.Unary[float64, float32](vec.F64FromF32Loop))
	case from == tensor.F64 && to == tensor.F32:
		return convertView(vec.Unary[float32, float64](vec.F32FromF64Loop))
	case from == tensor.I32 && to == tensor.F32:
		return convertView(vec.Unary[float32, int32](vec.F32FromI32Loop))
	case from == tensor.F32 && to == tensor.I32:
		return convertView(vec.Unary[int32, float32](vec.I32FromF32Loop))
	case from == tensor.I64 && to == tensor.F32:
		return cast[int64, float32]
	case from == tensor.I32 && (to == tensor.I64 || to == tensor.UI64):
		return cast[int32, int64]
	case from == tensor.UI32 && (to == tensor.I64 || to == tensor.UI64):
		return cast[uint32, int64]
	case (from == tensor.I64 || from == tensor.UI64) && (to == tensor.I32 || to == tensor.UI32):
		return cast[int64, int32]
	case from == tensor.I64 && to == tensor.UI64, from == tensor.UI64 && to == tensor.I64:
		return cast[int64, int64]
	case from == tensor.I1 && to == tensor.F32:
		return convertView(vec.Unary[float32, uint8](vec.F32FromI1Loop))
	case from == tensor.I1 && to == tensor.I32:
		return cast[uint8, int32]
	case from == tensor.I8:
		return widening[int8](to)
	case from == tensor.UI8:
		return widening[uint8](to)
	case from == tensor.I16:
		return widening[int16](to)
	case from == tensor.UI16:
		return widening[uint16](to)
	case from == tensor.UI32 && to == tensor.I32, from == tensor.I32 && to == tensor.UI32:
		return cast[uint32, uint32]
	case from == tensor.F32 && (to == tensor.BF16 || to == tensor.F16):
		return func(in, out []*tensor.Tensor, lo, hi int) {
			encode32(to, out[0], lo, tensor.View[float32](in[0])[lo:hi])
		}
	case (from == tensor.BF16 || from == tensor.F16) && to == tensor.F32:
		return func(in, out []*tensor.Tensor, lo, hi int) {
			decode32(from, tensor.View[float32](out[0])[lo:hi], in[0], lo)
		}
	}
	return nil
}

// widening returns the conversion of integers of up to 16 bits, which is exact, or nil.
func widening[A integer](to tensor.DType) ElementLoop {
	switch to {
	case tensor.I32, tensor.UI32:
		return cast[A, int32]
	case tensor.I64, tensor.UI64:
		return cast[A, int64]
	case tensor.F32:
		return cast[A, float32]
	case tensor.F64:
		return cast[A, float64]
	}
	return nil
}

func convertView[R, X tensor.Element](f func(o []R, x []X)) ElementLoop {
	return func(in, out []*tensor.Tensor, lo, hi int) {
		f(tensor.View[R](out[0])[lo:hi], tensor.View[X](in[0])[lo:hi])
	}
}

func cast[A, B integer | float](in, out []*tensor.Tensor, lo, hi int) {
	o := tensor.View[B](out[0])[lo:hi]
	for i, v := range tensor.View[A](in[0])[lo:hi] {
		o[i] = B(v)
	}
}

// intToFloat returns a float64 that rounds to any narrower float type as v itself rounds. If the integer has more than
// 53 bits and direct is not set, the lowest bit collects the lost bits (round to odd).
func intToFloat(v int64, wide, direct bool) float64 {
	if wide && v < 0 {
		u := uint64(v)
		if !direct && u&0xFFF != 0 {
			u = u&^0xFFF | 0x1000&^(u&0x1000) | u&0x1000
			u |= 0x800
		}
		return float64(u)
	}
	if direct || v < 1<<53 && v > -1<<53 {
		return float64(v)
	}
	neg := v < 0
	u := uint64(v)
	if neg {
		u = -u
	}
	if u&0x7FF != 0 {
		u = u&^0x7FF | 0x800
	}
	f := float64(u)
	if neg {
		return -f
	}
	return f
}

// fromFloats stores up to a chunk of floats as any type.
func fromFloats(to tensor.DType, out *tensor.Tensor, lo int, x []float64) {
	switch {
	case to.IsFloat():
		Encode64(to, out, lo, x)
	case to.IsComplex():
		for i, v := range x {
			out.SetComplex(lo+i, complex(v, 0))
		}
	case to == tensor.I1:
		for i, v := range x {
			out.Bytes()[lo+i] = bit(v != 0)
		}
	default:
		var ints [chunk]int64
		for i, v := range x {
			ints[i] = floatToInt(to, v)
		}
		EncodeInt(to, out, lo, ints[:len(x)])
	}
}

// floatToInt truncates and saturates.
func floatToInt(to tensor.DType, v float64) int64 {
	if math.IsNaN(v) {
		return 0
	}
	v = math.Trunc(v)
	n := to.Bits()
	if to.Kind() == tensor.KindUnsigned {
		if v <= 0 {
			return 0
		}
		if v >= math.Ldexp(1, n) {
			return int64(uint64(math.MaxUint64) >> (64 - n))
		}
		return int64(uint64(v))
	}
	if v >= math.Ldexp(1, n-1) {
		return int64(uint64(math.MaxInt64) >> (64 - n))
	}
	if v < -math.Ldexp(1, n-1) {
		return math.MinInt64 >> (64 - n)
	}
	return int64(v)
}

func decodeInt(dt tensor.DType, dst []int64, t *tensor.Tensor, lo int) {
	switch dt {
	case tensor.I64, tensor.UI64, tensor.Index:
		copy(dst, tensor.View[int64](t)[lo:])
	case tensor.I32:
		widenInts(dst, tensor.View[int32](t)[lo:])
	case tensor.UI32:
		widenInts(dst, tensor.View[uint32](t)[lo:])
	case tensor.I16:
		widenInts(dst, tensor.View[int16](t)[lo:])
	case tensor.UI16:
		widenInts(dst, tensor.View[uint16](t)[lo:])
	case tensor.I8, tensor.I4, tensor.I2:
		widenInts(dst, tensor.View[int8](t)[lo:])
	default:
		widenInts(dst, t.Bytes()[lo:])
	}
}

func widenInts[T integer](dst []int64, src []T) {
	for i := range dst {
		dst[i] = int64(src[i])
	}
}

func EncodeInt(dt tensor.DType, t *tensor.Tensor, lo int, src []int64) {
	switch dt {
	case tensor.I1:
		for i, v := range src {
			t.Bytes()[lo+i] = bit(v != 0)
		}
	case tensor.I64, tensor.UI64, tensor.Index:
		copy(tensor.View[int64](t)[lo:], src)
	case tensor.I32, tensor.UI32:
		truncateInts(tensor.View[int32](t)[lo:], src)
	case tensor.I16, tensor.UI16:
		truncateInts(tensor.View[int16](t)[lo:], src)
	default:
		truncateInts(t.Bytes()[lo:], src)
		if dt.Bits() < 8 {
			wrapNarrow(dt, t.Bytes()[lo:lo+len(src)])
		}
	}
}

func truncateInts[T integer](dst []T, src []int64) {
	for i, v := range src {
		dst[i] = T(v)
	}
}

func DecodeComplex(dt tensor.DType, dst []complex128, t *tensor.Tensor, lo int) {
	if dt == tensor.Complex128 {
		copy(dst, tensor.View[complex128](t)[lo:])
		return
	}
	for i, v := range tensor.View[complex64](t)[lo : lo+len(dst)] {
		dst[i] = complex128(v)
	}
}

func EncodeComplex(dt tensor.DType, t *tensor.Tensor, lo int, src []complex128) {
	if dt == tensor.Complex128 {
		copy(tensor.View[complex128](t)[lo:], src)
		return
	}
	o := tensor.View[complex64](t)[lo:]
	for i, v := range src {
		o[i] = complex64(v)
	}
}

// MakeBitcast compiles bitcast_convert (spec, "bitcast_convert") if it involves elements narrower than a byte. The
// other conversions only change the type (planBitcast).
func MakeBitcast(s *Signature) Kernel {
	a, b := s.In[0], s.Out[0]
	FailIf(a.N*a.DType.Bits() != b.N*b.DType.Bits(), "cannot convert the bits of %s to %s", a, b)
	return Kernel{Family: "bits", Run: func(in, out []*tensor.Tensor) {
		repack(in[0].Bytes(), a.DType, out[0].Bytes(), b.DType)
	}}
}

// repack copies a bit string, low bits first, between elements of different widths.
func repack(src []byte, from tensor.DType, dst []byte, to tensor.DType) {
	wa, wb := from.Bits(), to.Bits()
	sa, sb := from.Size(), to.Size()
	clear(dst)
	total := len(src) / sa * wa
	for i := 0; i < total; i++ {
		e, k := i/wa, i%wa
		v := src[e*sa+k/8] >> (k % 8) & 1
		e, k = i/wb, i%wb
		dst[e*sb+k/8] |= v << (k % 8)
	}
	if to.Kind() == tensor.KindSigned && wb < 8 {
		wrapNarrow(to, dst)
	}
}
