package verify

import (
	"math"

	"github.com/hlocb/hlocb/tensor"
)

// NoDistance is the distance between numbers that cannot be compared: one of them is NaN.
const NoDistance = math.MaxUint64

// Distance returns the distance in units in the last place (ULPs) between element i of a and element i of b: the number
// of steps from one number of the type to the next. Zeros of both signs are one number, all NaNs are one number, and an
// infinity is one step after the largest number. The distance of complex numbers is the larger distance of their
// parts; of other types it is the difference. Both tensors must have the same type.
func Distance(a, b *tensor.Tensor, i int) uint64 {
	d := a.DType()
	switch d.Kind() {
	case tensor.KindFloat:
		return floatDistance(d, a.Bits(i), b.Bits(i))
	case tensor.KindComplex:
		part := d.Part()
		var out uint64
		for k := range 2 {
			out = max(out, floatDistance(part, partBits(a, 2*i+k), partBits(b, 2*i+k)))
		}
		return out
	}
	x, y := a.IntAt(i), b.IntAt(i)
	if d.Kind() == tensor.KindSigned && x > y || d.Kind() != tensor.KindSigned && uint64(x) > uint64(y) {
		x, y = y, x
	}
	return uint64(y) - uint64(x)
}

// partBits returns part i of a complex tensor, real and imaginary parts counted alternately.
func partBits(t *tensor.Tensor, i int) uint64 {
	part := t.DType().Part()
	var v tensor.Tensor
	v.Borrow(part, tensor.Shape{int64(2 * t.NumElements())}, t.Bytes())
	return v.Bits(i)
}

func floatDistance(d tensor.DType, x, y uint64) uint64 {
	nx, ny := math.IsNaN(tensor.DecodeFloat(d, x)), math.IsNaN(tensor.DecodeFloat(d, y))
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
func place(d tensor.DType, bits uint64) int64 {
	if d == tensor.F8E8M0FNU { // has no sign
		return int64(bits)
	}
	sign := uint64(1) << (d.Bits() - 1)
	if bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}
