package interp

import (
	"math"
	"math/cmplx"
)

// products returns a*c - b*d to about one unit in the last place, however much of it cancels (Kahan's method).
func products(a, b, c, d float64) float64 {
	w := b * d
	e := math.FMA(b, d, -w)
	f := math.FMA(a, c, -w)
	if v := f - e; finite(v) {
		return v
	}
	v := float64(a*c) - float64(b*d)
	if finite(a) && finite(b) && finite(c) && finite(d) {
		// A product overflows, but their difference may not.
		return math.Ldexp(products(math.Ldexp(a, -600), math.Ldexp(b, -600), c, d), 600)
	}
	return v
}

// complexMul is the plain product: an infinity times a zero in one of its terms is NaN, as in XLA.
func complexMul(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	return complex(products(a, b, c, d), products(a, -b, d, c))
}

// complexSquare factors the real part.
func complexSquare(v complex128) complex128 {
	a, b := real(v), imag(v)
	re := (a - b) * (a + b)
	switch {
	case finite(re):
	case finite(a) && finite(b): // a sum overflows, but the product may not
		re = 4 * ((a/2 - b/2) * (a/2 + b/2))
	case math.IsNaN(re):
		re = float64(a*a) - float64(b*b)
	}
	return complex(re, 2*float64(a*b))
}

// complexDiv scales both operands by powers of two, so that nothing in between overflows or underflows, and follows C99
// (annex G) at zeros and infinities.
func complexDiv(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	switch {
	case !finite(a) || !finite(b) || !finite(c) || !finite(d) || y == 0:
		return x / y
	case x == 0:
		return complex((a*c+b*d)*0+zeroQuotient(a, c, b, d), zeroQuotient(b, c, -a, d))
	}
	// Not to 1: so the smaller part keeps its digits.
	ey, ex := exponent(c, d)-400, exponent(a, b)-400
	c, d = math.Ldexp(c, -ey), math.Ldexp(d, -ey)
	a, b = math.Ldexp(a, -ex), math.Ldexp(b, -ex)
	n, en := math.Frexp(c*c + d*d)
	quotient := func(v float64) float64 {
		v, e := math.Frexp(v)
		return math.Ldexp(v/n, e-en+ex-ey)
	}
	return complex(quotient(products(a, -b, c, d)), quotient(products(b, a, c, d)))
}

// zeroQuotient is a*c + b*d for zero a and b, with its sign.
func zeroQuotient(a, c, b, d float64) float64 {
	return math.Copysign(0, a)*math.Copysign(1, c) + math.Copysign(0, b)*math.Copysign(1, d)
}

// exponent returns e with the larger of the numbers in [2^(e-1), 2^e).
func exponent(a, b float64) int {
	_, e := math.Frexp(math.Max(math.Abs(a), math.Abs(b)))
	return e
}

// complexRsqrt is conj(w)/|z| with w the square root of z.
func complexRsqrt(z complex128) complex128 {
	if !finite(real(z)) || !finite(imag(z)) || z == 0 {
		return 1 / complexSqrt(z)
	}
	// Scaled by an even power of two, so that the modulus and its quotients are ordinary numbers.
	e := exponent(real(z), imag(z)) &^ 1
	x, y := math.Ldexp(real(z), -e), math.Ldexp(imag(z), -e)
	w := complexSqrt(complex(x, y))
	m := math.Hypot(x, y)
	return complex(math.Ldexp(real(w)/m, -e/2), math.Ldexp(-imag(w)/m, -e/2))
}

// complexAtan2 is -i log((x + i y) / sqrt(x^2 + y^2)) (spec, "atan2"). With p = x + i y and q = x - i y, its real part is
// half the angle of p conj(q) = |x|^2 - |y|^2 + 2i Re(x conj(y)), plus or minus pi on the other branch, its imaginary
// part -log|p/q| / 2.
func complexAtan2(y, x complex128) complex128 {
	if cmplx.IsNaN(x) || cmplx.IsNaN(y) || cmplx.IsInf(x) || cmplx.IsInf(y) || x == 0 && y == 0 {
		return -1i * complexLog(complexDiv(x+complex(-imag(y), real(y)), complexSqrt(complexMul(x, x)+complexMul(y, y))))
	}
	e := max(exponent(real(x), imag(x)), exponent(real(y), imag(y))) - 400
	scale := func(v complex128) complex128 {
		return complex(math.Ldexp(real(v), -e), math.Ldexp(imag(v), -e))
	}
	a, b := scale(x), scale(y)
	xr, xi, yr, yi := real(a), imag(a), real(b), imag(b)
	dot := products(xr, -xi, yr, yi)  // Re(x conj(y))
	cross := products(xi, xr, yr, yi) // Im(x conj(y))
	ax, ay := math.Hypot(xr, xi), math.Hypot(yr, yi)
	diff, sum := (ax-ay)*(ax+ay), ax*ax+ay*ay
	re := 0.5 * atan2(2*dot, diff)
	p, q := complex(xr-yi, xi+yr), complex(xr+yi, xi-yr)
	pp, qq := real(p)*real(p)+imag(p)*imag(p), real(q)*real(q)+imag(q)*imag(q)
	var im float64
	switch ratio := 2 * cross / sum; {
	case math.Abs(ratio) < 0.5:
		im = -0.5 * math.Atanh(ratio)
	default:
		im = -0.25 * (logOf(pp) - logOf(qq))
	}
	// The branch: the angle of p less half the angle of p q = x^2 + y^2.
	rough := atan2(imag(p), real(p)) - 0.5*atan2(2*products(xr, -yr, xi, yi), (xr-xi)*(xr+xi)+(yr-yi)*(yr+yi))
	k := math.Round((rough - re) / math.Pi)
	if k == -1 && re < 0 || k == 1 && re > 0 {
		k = -k // beyond a half turn
	}
	return complex(re+k*math.Pi, im)
}

// complexPow is exp(y log x), the product and the logarithm in two words: its imaginary part is an angle, of which the
// whole turns count for nothing.
func complexPow(x, y complex128) complex128 {
	if x == 0 {
		switch {
		case y == 0:
			return 1
		case real(y) > 0:
			return 0
		case imag(y) == 0:
			return complex(math.Inf(1), 0)
		}
		return cmplx.NaN()
	}
	if cmplx.IsNaN(x) || cmplx.IsInf(x) || cmplx.IsNaN(y) || cmplx.IsInf(y) {
		return complexExp(complexMul(y, complexLog(x)))
	}
	l, t := pairLog(x)
	c, d := real(y), imag(y)
	re := l.times(c).add(t.times(-d))
	im := l.times(d).add(t.times(c))
	switch {
	case re.hi > 1500:
		s, c := pairSincosPair(im)
		return complex(math.Copysign(math.Inf(1), c.hi), math.Copysign(math.Inf(1), s.hi))
	case re.hi < -1500:
		s, c := pairSincosPair(im)
		return complex(math.Copysign(0, c.hi), math.Copysign(0, s.hi))
	case !finite(re.hi) || !finite(im.hi):
		return complexExp(complexMul(y, complexLog(x)))
	}
	s, co := pairSincosPair(im)
	half := pairExp(word{re.hi / 2, re.lo / 2})
	twice := func(v word) float64 {
		v = v.mul(half)
		if p := v.mul(half).hi; !math.IsNaN(p) {
			return p
		}
		return v.hi * half.hi // overflows
	}
	return complex(twice(co), twice(s))
}
