package special

import (
	"math"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// ComplexCbrt returns the principal cube root (spec, "cbrt"), the root with the smallest angle. As in upstream's
// interpreter, this is not the real root if v is a negative real. The modulus and the angle of the root are computed
// separately, which avoids cancellation.
func ComplexCbrt(v complex128) complex128 {
	x, y := real(v), imag(v)
	scale, m := 1.0, max(math.Abs(x), math.Abs(y))
	switch {
	case m > 0x1p+1020: // the modulus may overflow
		x, y, scale = x*0x1p-6, y*0x1p-6, 4
	case m < 0x1p-1000: // the modulus must have all its digits
		x, y, scale = x*0x1p+150, y*0x1p+150, 0x1p-50
	}
	r := scale * vec.Cbrt(Hypot(x, y))
	angle := vec.Atan2(y, x) / 3
	if angle == 0 {
		return complex(r, angle)
	}
	if r == 0 {
		return complex(0, math.Copysign(0, y))
	}
	sin, cos := Sincos(angle)
	return complex(r*cos, r*sin)
}
