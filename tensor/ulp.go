package tensor

import "math"

// ULPs returns the distance in values of the element type between element i of t and of u, which must have the same
// type. Equal elements have distance 0; 0 and -0 are equal, and so are two NaNs. The distance between a NaN and a
// number is math.MaxUint64. For booleans and integers it is the difference. For complex numbers it is the larger
// distance of the parts.
func (t *Tensor) ULPs(u *Tensor, i int) uint64 {
	switch t.dtype.Kind() {
	case KindFloat:
		return floatULPs(t.dtype, t.Bits(i), u.Bits(i))
	case KindComplex:
		part := F32
		if t.dtype == Complex128 {
			part = F64
		}
		a, b := t.ComplexAt(i), u.ComplexAt(i)
		return max(floatULPs(part, EncodeFloat(part, real(a)), EncodeFloat(part, real(b))),
			floatULPs(part, EncodeFloat(part, imag(a)), EncodeFloat(part, imag(b))))
	}
	a, b := t.IntAt(i), u.IntAt(i)
	if t.dtype.Kind() != KindSigned && uint64(a) > uint64(b) || t.dtype.Kind() == KindSigned && a > b {
		a, b = b, a
	}
	return uint64(b) - uint64(a)
}

func floatULPs(d DType, a, b uint64) uint64 {
	x, y := DecodeFloat(d, a), DecodeFloat(d, b)
	switch nanX, nanY := math.IsNaN(x), math.IsNaN(y); {
	case x == y || nanX && nanY:
		return 0
	case nanX || nanY:
		return math.MaxUint64
	}
	i, j := floatRank(d, a), floatRank(d, b)
	if i > j {
		i, j = j, i
	}
	return uint64(j) - uint64(i)
}

// floatRank maps codes to integers in the order of their values. 0 and -0 have the same rank.
func floatRank(d DType, bits uint64) int64 {
	if d == F8E8M0FNU {
		return int64(bits)
	}
	sign := uint64(1) << (d.Bits() - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}
