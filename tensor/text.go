package tensor

import (
	"bytes"
	"math"
	"strconv"
)

// ElementText returns element i for a person to read: true, -3, 0.5, nan, 1.+2.i.
func (t *Tensor) ElementText(i int) string { return string(t.appendText(nil, i)) }

// appendText appends element i for a person to read.
func (t *Tensor) appendText(dst []byte, i int) []byte {
	switch t.dtype.Kind() {
	case KindBool:
		return strconv.AppendBool(dst, t.data[i] != 0)
	case KindFloat:
		return appendFloatText(dst, t.FloatAt(i), floatDigits(t.dtype), textDigits(t.dtype))
	case KindComplex:
		v := t.ComplexAt(i)
		dst = appendFloatText(dst, real(v), t.dtype.Bits()/2, 8)
		if !math.Signbit(imag(v)) || math.IsNaN(imag(v)) {
			dst = append(dst, '+')
		}
		return append(appendFloatText(dst, imag(v), t.dtype.Bits()/2, 8), 'i')
	case KindSigned:
		return strconv.AppendInt(dst, t.IntAt(i), 10)
	}
	return strconv.AppendUint(dst, uint64(t.IntAt(i)), 10)
}

// textDigits returns the number of significant digits to show for a type.
func textDigits(d DType) int {
	switch d {
	case F64, F32:
		return 8
	case F16:
		return 4
	}
	return 3
}

// appendFloatText writes the shortest text that reads back as v, or digits significant digits if that is shorter.
func appendFloatText(dst []byte, v float64, bits, digits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "nan"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', -1, bits)
	if n := len(dst) - start; n > digits+1 {
		dst = strconv.AppendFloat(dst[:start], v, 'g', digits, 64)
		dst = trimZeros(dst, start)
	}
	if bytes.IndexByte(dst[start:], '.') < 0 && bytes.IndexByte(dst[start:], 'e') < 0 {
		dst = append(dst, '.')
	}
	return dst
}

// trimZeros removes trailing zeros of the fraction from a number with a fixed number of digits.
func trimZeros(dst []byte, start int) []byte {
	num := dst[start:]
	exp := bytes.IndexByte(num, 'e')
	tail := []byte(nil)
	if exp >= 0 {
		tail = append(tail, num[exp:]...)
		num = num[:exp]
	}
	if bytes.IndexByte(num, '.') >= 0 {
		num = bytes.TrimRight(num, "0")
		num = bytes.TrimSuffix(num, []byte("."))
	}
	return append(dst[:start+len(num)], tail...)
}

// floatDigits returns the bit size to format with: types narrower than f32 are exact in f32.
func floatDigits(d DType) int {
	if d == F64 {
		return 64
	}
	return 32
}

// Normalize makes the bytes of the elements valid, see NormalizeBytes.
func (t *Tensor) Normalize() { NormalizeBytes(t.data, t.dtype) }

// NormalizeBytes makes the bytes of elements of less than 8 bits valid. An i1 is 1 if its byte is not 0. Other types
// are defined by their low bits, as in ml_dtypes; i2 and i4 are sign-extended. Types of 8 bits and more have no invalid
// bytes.
func NormalizeBytes(data []byte, d DType) {
	unused := 8 - d.Bits()
	switch {
	case unused <= 0:
	case d == I1:
		for i, b := range data {
			if b > 1 {
				data[i] = 1
			}
		}
	case d.Kind() == KindSigned:
		for i, b := range data {
			data[i] = byte(int8(b<<unused) >> unused)
		}
	default:
		for i, b := range data {
			data[i] = b << unused >> unused
		}
	}
}
