package tensor

import "math"

// NoDistance is the distance between numbers that cannot be compared: one of them is NaN.
const NoDistance = math.MaxUint64

// Distance returns the distance in units in the last place (ULPs) between element i of a and element i of b: the number
// of steps from one number of the type to the next. Zeros of both signs are one number, all NaNs are one number, and an
// infinity is one step after the largest number. The distance of complex numbers is the larger distance of their
// parts; of other types it is the difference. Both tensors must have the same type.
func Distance(a, b *Tensor, i int) uint64 {
	d := a.DType()
	switch d.Kind() {
	case KindFloat:
		return floatDistance(d, a.Bits(i), b.Bits(i))
	case KindComplex:
		x, y := a.Parts(), b.Parts()
		return max(Distance(x, y, 2*i), Distance(x, y, 2*i+1))
	}
	x, y := a.IntAt(i), b.IntAt(i)
	if d.Kind() == KindSigned && x > y || d.Kind() != KindSigned && uint64(x) > uint64(y) {
		x, y = y, x
	}
	return uint64(y) - uint64(x)
}

func floatDistance(d DType, x, y uint64) uint64 {
	nx, ny := math.IsNaN(DecodeFloat(d, x)), math.IsNaN(DecodeFloat(d, y))
	switch {
	case nx && ny:
		return 0
	case nx || ny:
		return NoDistance
	}
	kx, ky := place(d, x), place(d, y)
	if kx > ky {
		kx, ky = ky, kx
	}
	return uint64(ky) - uint64(kx)
}

// place returns the position of a number among the numbers of its type, 0 for both zeros.
func place(d DType, bits uint64) int64 {
	if d == F8E8M0FNU { // has no sign
		return int64(bits)
	}
	sign := uint64(1) << (d.Bits() - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}
