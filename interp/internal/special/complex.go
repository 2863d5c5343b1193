package special

import (
	"math"
	"math/cmplx"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// Functions of complex numbers on complex128. Some functions of math/cmplx overflow although their result is finite,
// lose digits to cancellation, or differ from C99 (annex G) at infinities. This file replaces those functions.

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func ComplexExp(v complex128) complex128 {
	a, b := real(v), imag(v)
	switch {
	case b == 0:
		return complex(vec.Exp(a), b)
	case !finite(b) || math.IsNaN(a): // even if a is infinite: C99 returns 0 or infinity, upstream's tests expect NaN
		return cmplx.NaN()
	}
	s, c := Sincos(b)
	if a > 709 {
		// Use two steps: the result may be finite although exp(a) is not.
		e := vec.Exp(a / 2)
		return complex(e*c*e, e*s*e)
	}
	e := vec.Exp(a)
	return complex(e*c, e*s)
}

// ComplexExpm1 returns e^v - 1. With v = a + ib, the real part is e^a cos b - 1 = expm1(a) cos b - 2 sin^2(b/2).
func ComplexExpm1(v complex128) complex128 {
	a, b := real(v), imag(v)
	switch {
	case b == 0:
		return complex(vec.Expm1(a), b)
	case a > 700 || !finite(a) || !finite(b):
		w := ComplexExp(v)
		return complex(real(w)-1, imag(w))
	}
	s, c := Sincos(b)
	h := Sine(b / 2)
	return complex(float64(vec.Expm1(a)*c)-float64(2*h*h), vec.Exp(a)*s)
}

// ComplexLogistic returns 1/(1+e^-z). It multiplies numerator and denominator by the conjugate of the denominator.
// With E = e^-|a|, the new denominator is (1-E)^2 + 4 E cos^2(b/2), a sum without cancellation.
func ComplexLogistic(v complex128) complex128 {
	a, b := real(v), imag(v)
	switch {
	case b == 0 && !math.IsNaN(a):
		if a > 40 {
			return complex(1, b*vec.Exp(-a))
		}
		f := vec.Logistic(a)
		return complex(f, b*f*vec.Logistic(-a))
	case math.IsInf(a, 1):
		return complex(1, math.Copysign(0, b))
	case math.IsInf(a, -1):
		return complex(0, math.Copysign(0, b))
	case !finite(b) || math.IsNaN(a):
		return cmplx.NaN()
	}
	s, c := Sincos(b)
	_, ch := Sincos(b / 2)
	e, m := vec.Exp(-math.Abs(a)), -vec.Expm1(-math.Abs(a))
	d := float64(m*m) + float64(4*e*ch*ch)
	re := 1 + float64(e*c)
	if a < 0 {
		re = e * (e + c)
	}
	return complex(re/d, e*s/d)
}

// logAbs returns log |x + iy|.
func logAbs(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	if x < y {
		x, y = y, x
	}
	switch {
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Inf(1)
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > 0.5 && x < 2:
		// log1p((x-1)(x+1) + y^2) / 2, with the products' rounding errors added back.
		p := float64((x - 1) * (x + 1))
		pe := math.FMA(x-1, x+1, -p)
		q := float64(y * y)
		qe := math.FMA(y, y, -q)
		s := p + q
		t := s - p
		se := (p - (s - t)) + (q - t)
		// x+1 is itself rounded.
		xe := float64((x - ((x + 1) - 1)) * (x - 1))
		return 0.5 * vec.Log1p(s+(se+pe+qe+xe))
	}
	r := y / x
	return vec.Log(x) + float64(0.5*vec.Log1p(r*r))
}

func ComplexLog(v complex128) complex128 {
	return complex(logAbs(real(v), imag(v)), vec.Atan2(imag(v), real(v)))
}

// ComplexLog1p keeps its precision near zero: the real part is log1p(2a + a^2 + b^2) / 2.
func ComplexLog1p(v complex128) complex128 {
	a, b := real(v), imag(v)
	im := vec.Atan2(b, 1+a)
	if math.Abs(a) < 0.5 && math.Abs(b) < 1.5 {
		p := float64(a * (2 + a))
		pe := math.FMA(a, 2+a, -p) + float64(a*(a-((2+a)-2)))
		q := float64(b * b)
		qe := math.FMA(b, b, -q)
		s := p + q
		t := s - p
		se := (p - (s - t)) + (q - t)
		return complex(0.5*vec.Log1p(s+(se+pe+qe)), im)
	}
	return complex(logAbs(1+a, b), im)
}

func ComplexSqrt(v complex128) complex128 {
	x, y := real(v), imag(v)
	switch {
	case math.IsInf(y, 0):
		return complex(math.Inf(1), y)
	case math.IsInf(x, 1):
		if math.IsNaN(y) {
			return v
		}
		return complex(x, math.Copysign(0, y))
	case math.IsInf(x, -1):
		if math.IsNaN(y) {
			return complex(math.NaN(), math.Inf(1))
		}
		return complex(0, math.Copysign(math.Inf(1), y))
	case math.IsNaN(x) || math.IsNaN(y):
		return cmplx.NaN()
	case x == 0 && y == 0:
		return complex(0, y)
	}
	// Scale by an even power of two to avoid overflow and underflow in between.
	m := math.Max(math.Abs(x), math.Abs(y))
	_, e := math.Frexp(m)
	e &^= 1
	a, b := math.Ldexp(math.Abs(x), -e), math.Ldexp(math.Abs(y), -e)
	u := math.Sqrt((a + Hypot(a, b)) / 2)
	u = math.Ldexp(u, e/2)
	w := math.Abs(y) / u / 2
	if x >= 0 {
		return complex(u, math.Copysign(w, y))
	}
	return complex(w, math.Copysign(u, y))
}

// ComplexCosh and ComplexSinh multiply a real function of one part by a real function of the other part.
func ComplexCosh(v complex128) complex128 {
	x, y := real(v), imag(v)
	sign := math.Copysign(1, x) * math.Copysign(1, y)
	switch {
	case y == 0:
		return complex(vec.Cosh(x), math.Copysign(0, sign))
	case x == 0 && !finite(y):
		return complex(math.NaN(), math.Copysign(0, sign))
	case math.IsInf(x, 0) && !finite(y):
		return complex(math.Inf(1), math.NaN())
	case math.IsNaN(x) || !finite(y):
		return cmplx.NaN()
	}
	s, c := Sincos(y)
	if math.Abs(x) > 700 {
		// Use two steps: the products may be finite although cosh(x) is not.
		e := vec.Exp(math.Abs(x) / 2)
		return complex(0.5*e*c*e, math.Copysign(0.5*e, x)*s*e)
	}
	return complex(vec.Cosh(x)*c, vec.Sinh(x)*s)
}

func ComplexSinh(v complex128) complex128 {
	x, y := real(v), imag(v)
	switch {
	case y == 0:
		return complex(vec.Sinh(x), y)
	case x == 0 && !finite(y):
		return complex(x, math.NaN())
	case math.IsInf(x, 0) && !finite(y):
		return complex(x, math.NaN())
	case math.IsNaN(x) || !finite(y):
		return cmplx.NaN()
	}
	s, c := Sincos(y)
	if math.Abs(x) > 700 {
		e := vec.Exp(math.Abs(x) / 2)
		return complex(math.Copysign(0.5*e, x)*c*e, 0.5*e*s*e)
	}
	return complex(vec.Sinh(x)*c, vec.Cosh(x)*s)
}

// ComplexTanh returns (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y), a formula without cancellation.
func ComplexTanh(v complex128) complex128 {
	x, y := real(v), imag(v)
	switch {
	case math.IsInf(x, 0):
		im := y
		if finite(y) {
			im = Sine(2 * y)
		}
		return complex(math.Copysign(1, x), math.Copysign(0, im))
	case y == 0:
		return complex(vec.Tanh(x), y)
	case math.IsNaN(x):
		return cmplx.NaN()
	case !finite(y):
		if x == 0 {
			return complex(x, math.NaN())
		}
		return cmplx.NaN()
	}
	s, c := Sincos(y)
	if math.Abs(x) > 22 {
		e := vec.Exp(-math.Abs(x))
		return complex(math.Copysign(1, x), 4*s*c*e*e)
	}
	h := vec.Sinh(x)
	d := float64(h*h) + float64(c*c)
	return complex(h*math.Sqrt(1+float64(h*h))/d, s*c/d)
}

// ComplexCos returns the cosine. The trigonometric functions are the hyperbolic functions of the argument turned by a
// right angle.
func ComplexCos(v complex128) complex128 { return ComplexCosh(complex(-imag(v), real(v))) }

func ComplexSin(v complex128) complex128 {
	w := ComplexSinh(complex(-imag(v), real(v)))
	return complex(imag(w), -real(w))
}

func ComplexTan(v complex128) complex128 {
	w := ComplexTanh(complex(-imag(v), real(v)))
	return complex(imag(w), -real(w))
}

// ComplexAbs returns the modulus of z.
func ComplexAbs(z complex128) float64 { return Hypot(real(z), imag(z)) }
