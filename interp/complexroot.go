package interp

import "math"

// complexCbrt is the principal cube root (spec, "cbrt"), that of the least angle: as upstream's interpreter has it, not the real
// root of negative reals. The root of the modulus and a third of the angle are taken by themselves, so that nothing cancels.
func complexCbrt(v complex128) complex128 {
	x, y := real(v), imag(v)
	scale, m := 1.0, max(math.Abs(x), math.Abs(y))
	switch {
	case m > 0x1p+1020: // the modulus may overflow
		x, y, scale = x*0x1p-6, y*0x1p-6, 4
	case m < 0x1p-1000: // and must have all its digits
		x, y, scale = x*0x1p+150, y*0x1p+150, 0x1p-50
	}
	r := scale * cbrt(hypot(x, y))
	angle := atan2(y, x) / 3
	if angle == 0 {
		return complex(r, angle)
	}
	if r == 0 {
		return complex(0, math.Copysign(0, y))
	}
	sin, cos := sincos(angle)
	return complex(r*cos, r*sin)
}
