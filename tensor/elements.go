package tensor

import (
	"encoding/binary"
	"math"
)

// Bits returns the code of element i, zero-extended; for complex types, the code of the real part. It is for reports
// and tests. Kernels use a View.
func (t *Tensor) Bits(i int) uint64 {
	size := t.dtype.Size()
	return load(t.data[i*size:][:t.dtype.Part().Size()])
}

// SetBits sets the code of element i. For complex types use SetComplex, which takes both parts as floats.
func (t *Tensor) SetBits(i int, bits uint64) {
	t.reach()
	switch t.dtype.Size() {
	case 1:
		t.data[i] = byte(bits)
	case 2:
		binary.LittleEndian.PutUint16(t.data[2*i:], uint16(bits))
	case 4:
		binary.LittleEndian.PutUint32(t.data[4*i:], uint32(bits))
	case 8:
		binary.LittleEndian.PutUint64(t.data[8*i:], bits)
	default:
		panic("tensor: SetBits of " + t.dtype.String())
	}
}

// ComplexAt returns element i of a complex tensor.
func (t *Tensor) ComplexAt(i int) complex128 {
	if t.dtype == Complex64 {
		re := math.Float32frombits(binary.LittleEndian.Uint32(t.data[8*i:]))
		im := math.Float32frombits(binary.LittleEndian.Uint32(t.data[8*i+4:]))
		return complex(float64(re), float64(im))
	}
	re := math.Float64frombits(binary.LittleEndian.Uint64(t.data[16*i:]))
	im := math.Float64frombits(binary.LittleEndian.Uint64(t.data[16*i+8:]))
	return complex(re, im)
}

// SetComplex sets element i of a complex tensor, rounded to its type.
func (t *Tensor) SetComplex(i int, v complex128) {
	t.reach()
	if t.dtype == Complex64 {
		binary.LittleEndian.PutUint32(t.data[8*i:], math.Float32bits(float32(real(v))))
		binary.LittleEndian.PutUint32(t.data[8*i+4:], math.Float32bits(float32(imag(v))))
		return
	}
	binary.LittleEndian.PutUint64(t.data[16*i:], math.Float64bits(real(v)))
	binary.LittleEndian.PutUint64(t.data[16*i+8:], math.Float64bits(imag(v)))
}

// IntAt returns element i of a boolean, integer or index tensor. It sign-extends signed types; ui64 keeps its bits.
func (t *Tensor) IntAt(i int) int64 {
	bits := t.Bits(i)
	shift := 64 - t.dtype.Bits()
	if t.dtype.Kind() == KindSigned {
		return int64(bits<<shift) >> shift
	}
	return int64(bits << shift >> shift)
}

// FloatAt returns element i as a float64. It is exact for floats up to f64 and integers up to 53 bits, 0 or 1 for i1,
// and the real part for complex types.
func (t *Tensor) FloatAt(i int) float64 {
	switch t.dtype.Kind() {
	case KindFloat:
		return DecodeFloat(t.dtype, t.Bits(i))
	case KindComplex:
		return real(t.ComplexAt(i))
	case KindUnsigned, KindIndex:
		return float64(uint64(t.IntAt(i)))
	}
	return float64(t.IntAt(i))
}

// SetFloat sets element i to v. Floats are rounded to nearest even, integers saturate (NaN becomes 0), i1 becomes v !=
// 0, and complex types get v as the real part.
func (t *Tensor) SetFloat(i int, v float64) {
	switch t.dtype.Kind() {
	case KindFloat:
		t.SetBits(i, EncodeFloat(t.dtype, v))
	case KindComplex:
		t.SetComplex(i, complex(v, 0))
	case KindBool:
		t.SetBits(i, 0)
		if v != 0 {
			t.SetBits(i, 1)
		}
	case KindSigned:
		limit := math.Ldexp(1, t.dtype.Bits()-1)
		switch {
		case v != v:
			t.SetBits(i, 0)
		case v >= limit:
			t.SetBits(i, uint64(1)<<(t.dtype.Bits()-1)-1)
		case v < -limit:
			t.setInt(i, -1<<(t.dtype.Bits()-1))
		default:
			t.setInt(i, int64(v))
		}
	default:
		limit := math.Ldexp(1, t.dtype.Bits())
		switch {
		case !(v > 0):
			t.SetBits(i, 0)
		case v >= limit:
			t.SetBits(i, math.MaxUint64>>(64-t.dtype.Bits()))
		default:
			t.SetBits(i, uint64(v))
		}
	}
}

// SetInt sets element i of an integer, boolean or index tensor to v. It returns false if v is out of range.
func (t *Tensor) SetInt(i int, v int64) bool {
	bits := t.dtype.Bits()
	switch t.dtype.Kind() {
	case KindSigned:
		if shift := 64 - bits; v<<shift>>shift != v {
			return false
		}
	case KindBool, KindUnsigned, KindIndex:
		if v < 0 || bits < 64 && v>>bits != 0 {
			return false
		}
	}
	t.setInt(i, v)
	return true
}

// setInt stores the low bits of v. A type narrower than a byte is stored sign-extended in its byte.
func (t *Tensor) setInt(i int, v int64) { t.SetBits(i, uint64(v)) }
