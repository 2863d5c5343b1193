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
		return complex(exp(a), b)
	case !finite(b) || math.IsNaN(a): // even if a is infinite: C99 returns 0 or infinity, upstream's tests expect NaN
		return cmplx.NaN()
	}
	s, c := Sincos(b)
	if a > 709 {
		// Use two steps: the result may be finite although exp(a) is not.
		e := exp(a / 2)
		return complex(e*c*e, e*s*e)
	}
	e := exp(a)
	return complex(e*c, e*s)
}

// ComplexExpm1 returns e^v - 1. With v = a + ib, the real part is e^a cos b - 1 = expm1(a) cos b - 2 sin^2(b/2).
func ComplexExpm1(v complex128) complex128 {
	a, b := real(v), imag(v)
	switch {
	case b == 0:
		return complex(expm1(a), b)
	case math.IsInf(a, -1) && !finite(b):
		return complex(-1, math.Copysign(0, b))
	case a > 700 || !finite(a) || !finite(b):
		w := ComplexExp(v)
		return complex(real(w)-1, imag(w))
	}
	s, c := Sincos(b)
	h := Sine(b / 2)
	return complex(float64(expm1(a)*c)-float64(2*h*h), exp(a)*s)
}

// ComplexLogistic returns 1/(1+e^-z). It multiplies numerator and denominator by the conjugate of the denominator.
// With E = e^-|a|, the new denominator is (1-E)^2 + 4 E cos^2(b/2), a sum without cancellation.
func ComplexLogistic(v complex128) complex128 {
	a, b := real(v), imag(v)
	switch {
	case b == 0 && !math.IsNaN(a):
		if a > 40 {
			return complex(1, b*exp(-a))
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
	e, m := exp(-math.Abs(a)), -expm1(-math.Abs(a))
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
	return Log(x) + float64(0.5*vec.Log1p(r*r))
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
		e := exp(math.Abs(x) / 2)
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
		e := exp(math.Abs(x) / 2)
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
		return complex(tanh(x), y)
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
		e := exp(-math.Abs(x))
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

// Inverse trigonometric functions of complex numbers, with the branch cuts of C99.

// ComplexAsinh follows Hull, Fairgrieve and Tang ("Implementing the complex arcsine and arccosine functions using
// exception handling", 1997), which rewrites the formulas to avoid cancellation.
func ComplexAsinh(z complex128) complex128 {
	// asinh(z) = i asin(-i z) with -i z = (imag z, -real z)
	w := ComplexAsin(complex(imag(z), -real(z)))
	return complex(-imag(w), real(w))
}

func ComplexAsin(z complex128) complex128 {
	re, im := hull(z)
	if math.IsNaN(imag(z)) {
		return complex(math.Copysign(re, real(z)), im)
	}
	return complex(math.Copysign(re, real(z)), math.Copysign(im, imag(z)))
}

func ComplexAcos(z complex128) complex128 {
	if cmplx.IsNaN(z) && !cmplx.IsInf(z) && real(z) != 0 {
		return cmplx.NaN()
	}
	re, im := hullAcos(z)
	return complex(re, -math.Copysign(im, imag(z)))
}

func ComplexAcosh(z complex128) complex128 {
	w := ComplexAcos(z)
	// acosh(z) is +-i acos(z), with the sign that makes the real part positive.
	return complex(math.Abs(imag(w)), math.Copysign(real(w), imag(z)))
}

// hull returns |real asin z| and |imag asin z|.
func hull(z complex128) (re, im float64) {
	x, y := math.Abs(real(z)), math.Abs(imag(z))
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		if x == 0 {
			return x, math.NaN()
		}
		if math.IsInf(x, 0) || math.IsInf(y, 0) {
			return math.NaN(), math.Inf(1)
		}
		return math.NaN(), math.NaN()
	case math.IsInf(x, 0) && math.IsInf(y, 0):
		return math.Pi / 4, math.Inf(1)
	case math.IsInf(x, 0):
		return math.Pi / 2, math.Inf(1)
	case math.IsInf(y, 0):
		return 0, math.Inf(1)
	}
	if y < 1e-150 && x < 1e-150 {
		return x, y
	}
	if x > 1e150 || y > 1e150 {
		return vec.Atan2(x, y), math.Ln2 + Log(math.Max(x, y)) + float64(0.5*vec.Log1p(Square(math.Min(x, y)/math.Max(x, y))))
	}
	a, am1, b, root := hullParts(x, y)
	switch {
	case b <= 0.6417:
		re = vec.Asin(b)
	default:
		re = vec.Atan2(x, root)
	}
	if y < 1e-100 && x < 1 {
		im = y / math.Sqrt((1-x)*(1+x))
	} else if y < 1e-100 && x == 1 {
		im = math.Sqrt(y)
	} else if a <= 1.5 {
		im = vec.Log1p(am1 + math.Sqrt(am1*(a+1)))
	} else {
		im = Log(a + math.Sqrt(float64(a*a)-1))
	}
	return re, im
}

func hullAcos(z complex128) (re, im float64) {
	x, y := math.Abs(real(z)), math.Abs(imag(z))
	switch {
	case math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || math.IsInf(y, 0):
		r, i := hull(z)
		return math.Pi/2 - math.Copysign(r, real(z)), i
	case x < 1e-150 && y < 1e-150:
		return math.Pi/2 - real(z), y
	case x > 1e150 || y > 1e150:
		_, im = hull(z)
		return vec.Atan2(y, real(z)), im
	}
	_, im = hull(z)
	_, _, b, root := hullParts(x, y)
	if b <= 0.6417 {
		re = vec.Acos(math.Copysign(b, real(z)))
	} else {
		re = vec.Atan2(root, real(z))
	}
	return re, im
}

// hullParts returns a = (r+s)/2, a-1, b = x/a and the square root of a^2 - x^2, with the distances r and s of x + iy
// from -1 and 1.
func hullParts(x, y float64) (a, am1, b, root float64) {
	r, s := Hypot(x+1, y), Hypot(x-1, y)
	a = float64((r + s) / 2)
	b = x / a
	apx := a + x
	// r - (x+1) and s - |1-x| without cancellation.
	rx := y * y / (r + (x + 1))
	if x <= 1 {
		sx := y * y / (s + (1 - x))
		am1 = (rx + sx) / 2
		if s+(1-x) == 0 {
			am1 = rx / 2
		}
		root = math.Sqrt(0.5 * apx * (rx + (s + (1 - x))))
		return a, am1, b, root
	}
	sx := s + (x - 1)
	am1 = (rx + sx) / 2
	root = y * math.Sqrt(0.5*(apx/(r+(x+1))+apx/(s+(x-1))))
	return a, am1, b, root
}

// ComplexAtan returns -i atanh(i z).
func ComplexAtan(z complex128) complex128 {
	w := ComplexAtanh(complex(-imag(z), real(z)))
	return complex(imag(w), -real(w))
}

// ComplexAtanh returns atanh z. The real part is log1p(4x / ((1-x)^2 + y^2)) / 4; the imaginary part is half the angle
// of the point (1 - x^2 - y^2, 2y).
func ComplexAtanh(z complex128) complex128 {
	x, y := math.Abs(real(z)), imag(z)
	switch {
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		im := math.Copysign(math.Pi/2, y)
		if math.IsNaN(y) {
			im = math.NaN()
		}
		return complex(math.Copysign(0, real(z)), im)
	case math.IsNaN(x) || math.IsNaN(y):
		if x == 0 {
			return complex(real(z), math.NaN())
		}
		return cmplx.NaN()
	}
	ay := math.Abs(y)
	if x > 1e150 || ay > 1e150 {
		// The real part of 1/z, scaled to avoid overflow.
		m := math.Max(x, ay)
		u, v := x/m, ay/m
		return complex(math.Copysign(u/(float64(u*u)+float64(v*v))/m, real(z)), math.Copysign(math.Pi/2, y))
	}
	d := 1 - x
	re := 0.25 * vec.Log1p(4*x/(float64(d*d)+float64(y*y)))
	if d == 0 && ay < 1e-150 {
		re = 0.5 * (math.Ln2 - Log(ay))
	}
	im := 0.5 * vec.Atan2(2*ay, float64(d*(1+x))-float64(y*y))
	return complex(math.Copysign(re, real(z)), math.Copysign(im, y))
}

// ComplexAbs returns the modulus of z.
func ComplexAbs(z complex128) float64 { return Hypot(real(z), imag(z)) }

// AsinAcosKernel is the common part of CHLO's asin, acos, asinh and acosh of complex numbers (CHLO,
// "_asin_acos_kernel"): asin z = atan2(Re z, Re w) + i sign(Im z) Im w, with Re w = Re sqrt(1 - z^2).
func AsinAcosKernel(z complex128) complex128 {
	x, y := math.Abs(real(z)), math.Abs(imag(z))
	w := ComplexAsin(complex(x, y))
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return complex(math.NaN(), imag(w))
	case x > 1e150 || y > 1e150: // sqrt(1 - z^2) is z rotated by 90 degrees
		return complex(y, imag(w))
	}
	_, _, _, root := hullParts(x, y)
	return complex(root, imag(w))
}
