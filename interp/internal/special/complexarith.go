package special

import (
	"math"
	"math/cmplx"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// products returns a*c - b*d to about one unit in the last place, however much the terms cancel (Kahan's method).
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

// ComplexMul returns the plain product of x and y. A term that multiplies infinity by zero is NaN, as in XLA.
func ComplexMul(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	return complex(products(a, b, c, d), products(a, -b, d, c))
}

// ComplexDiv returns x/y to about two units in the last place of each part, for parts of any magnitude. Zeros,
// infinities and NaNs follow C99 (annex G).
func ComplexDiv(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	switch {
	case !finite(a) || !finite(b) || !finite(c) || !finite(d) || y == 0:
		return annexG(a, b, c, d)
	case x == 0:
		return complex(zeroQuotient(a, c, b, d), zeroQuotient(b, c, -a, d))
	case moderate(a) && moderate(b) && moderate(c) && moderate(d):
		n := float64(c*c) + float64(d*d)
		return complex(products(a, -b, c, d)/n, products(b, a, c, d)/n)
	}
	e := Exponent(c, d)
	sc, sd := math.Ldexp(c, -e), math.Ldexp(d, -e)
	n := float64(sc*sc) + float64(sd*sd)
	re, ere := farProducts(a, -b, c, d)
	im, eim := farProducts(b, a, c, d)
	return complex(math.Ldexp(re/n, ere-2*e), math.Ldexp(im/n, eim-2*e))
}

// moderate reports whether the square of v, and products of four such numbers, are far from overflow and underflow.
func moderate(v float64) bool {
	v = math.Abs(v)
	return v < 0x1p200 && (v > 0x1p-200 || v == 0)
}

// farProducts returns products of finite numbers of any magnitude, as v times 2^e.
func farProducts(a, b, c, d float64) (v float64, e int) {
	ma, ea := math.Frexp(a)
	mb, eb := math.Frexp(b)
	mc, ec := math.Frexp(c)
	md, ed := math.Frexp(d)
	p, q := ea+ec, eb+ed
	switch {
	case ma == 0 || mc == 0:
		p = q
	case mb == 0 || md == 0:
		q = p
	}
	e = max(p, q)
	// A product as small as 2^-900 of the other one can change only the sign of a zero.
	v = products(math.Ldexp(ma, max(p-e, -900)), math.Ldexp(mb, max(q-e, -900)), mc, md)
	if v == 0 {
		return v, 0
	}
	return v, e
}

// annexG returns (a + ib)/(c + id) by the rules of C99, G.5.1, if an operand is not finite or the divisor is zero. If
// both parts are NaN, it recovers the parts of an infinity or a zero from the directions of the operands.
func annexG(a, b, c, d float64) complex128 {
	m, e := math.Max(math.Abs(c), math.Abs(d)), 0
	if finite(m) && m != 0 {
		e = Exponent(c, d) - 1
		c, d = math.Ldexp(c, -e), math.Ldexp(d, -e)
	}
	n := float64(c*c) + float64(d*d)
	re := math.Ldexp((float64(a*c)+float64(b*d))/n, -e)
	im := math.Ldexp((float64(b*c)-float64(a*d))/n, -e)
	if !math.IsNaN(re) || !math.IsNaN(im) {
		return complex(re, im)
	}
	inf := math.Inf(1)
	unit := func(v float64) float64 {
		if math.IsInf(v, 0) {
			return math.Copysign(1, v)
		}
		return math.Copysign(0, v)
	}
	switch {
	case n == 0 && (!math.IsNaN(a) || !math.IsNaN(b)):
		return complex(math.Copysign(inf, c)*a, math.Copysign(inf, c)*b)
	case (math.IsInf(a, 0) || math.IsInf(b, 0)) && finite(c) && finite(d):
		a, b = unit(a), unit(b)
		return complex(inf*(float64(a*c)+float64(b*d)), inf*(float64(b*c)-float64(a*d)))
	case (math.IsInf(c, 0) || math.IsInf(d, 0)) && finite(a) && finite(b):
		c, d = unit(c), unit(d)
		return complex(0*(float64(a*c)+float64(b*d)), 0*(float64(b*c)-float64(a*d)))
	}
	return complex(re, im)
}

// Cmul returns x*y with every operation rounded. The compiler may fuse operations in its own complex product.
func Cmul(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	return complex(float64(a*c)-float64(b*d), float64(a*d)+float64(b*c))
}

// zeroQuotient returns a*c + b*d for zero a and b: a zero with the right sign.
func zeroQuotient(a, c, b, d float64) float64 {
	return float64(math.Copysign(0, a)*math.Copysign(1, c)) + float64(math.Copysign(0, b)*math.Copysign(1, d))
}

// Exponent returns the e for which the larger modulus of a and b is in [2^(e-1), 2^e).
func Exponent(a, b float64) int {
	_, e := math.Frexp(math.Max(math.Abs(a), math.Abs(b)))
	return e
}

// ComplexRsqrt returns conj(w)/|z|, with w the square root of z.
func ComplexRsqrt(z complex128) complex128 {
	if !finite(real(z)) || !finite(imag(z)) || z == 0 {
		return ComplexDiv(1, ComplexSqrt(z))
	}
	// Scale by an even power of two: the modulus becomes a normal number, and a much smaller part keeps its digits.
	e := (Exponent(real(z), imag(z)) - 400) &^ 1
	x, y := math.Ldexp(real(z), -e), math.Ldexp(imag(z), -e)
	w := ComplexSqrt(complex(x, y))
	m, k := math.Frexp(Hypot(x, y))
	return complex(math.Ldexp(real(w)/m, -k-e/2), math.Ldexp(-imag(w)/m, -k-e/2))
}

// ComplexAtan2 returns -i log((x + i y) / sqrt(x^2 + y^2)) (spec, "atan2"), computed by this formula, as in XLA.
func ComplexAtan2(y, x complex128) complex128 {
	l := ComplexLog(ComplexDiv(x+complex(-imag(y), real(y)), ComplexSqrt(ComplexMul(x, x)+ComplexMul(y, y))))
	return complex(imag(l), -real(l))
}

// Hypot returns the square root of x^2 + y^2, without overflow or underflow in between. It corrects the root by its
// residual.
func Hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	switch {
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Inf(1)
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	}
	if x < y {
		x, y = y, x
	}
	if y == 0 {
		return x
	}
	e := 0
	if x > 0x1p500 || y < 0x1p-400 {
		_, e = math.Frexp(x)
		x, y = math.Ldexp(x, -e), math.Ldexp(y, -e)
	}
	sum := squares(x, y)
	h := math.Sqrt(sum.hi)
	if h > 0 {
		h += (math.FMA(-h, h, sum.hi) + sum.lo) / float64(2*h)
	}
	return math.Ldexp(h, e)
}

// squares returns a^2 + b^2 in double-double.
func squares(a, b float64) word {
	p, q := float64(a*a), float64(b*b)
	return word{p, math.FMA(a, a, -p)}.add(word{q, math.FMA(b, b, -q)})
}

// word is a double-double: the unevaluated sum of two float64s, with about 104 bits (Dekker, "A floating-point
// technique for extending the available precision", 1971).
type word struct{ hi, lo float64 }

func fastSum(a, b float64) word {
	a, b = float64(a), float64(b) // prevents fusing with an inlined product
	s := a + b
	return word{s, b - (s - a)}
}

func (x word) add(y word) word {
	s := x.hi + y.hi
	t := s - x.hi
	e := (x.hi - (s - t)) + (y.hi - t)
	u := x.lo + y.lo
	t = u - x.lo
	f := (x.lo - (u - t)) + (y.lo - t)
	w := fastSum(s, e+u)
	return fastSum(w.hi, w.lo+f)
}

// ComplexPow returns exp(y log x), computed by this formula, as in XLA.
func ComplexPow(x, y complex128) complex128 {
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
	return ComplexExp(ComplexMul(y, ComplexLog(x)))
}

// ComplexCbrt returns the principal cube root (spec, "cbrt"), the root with the smallest angle. As in upstream's
// interpreter, this is not the real root if v is a negative real.
func ComplexCbrt(v complex128) complex128 {
	r, angle := vec.Cbrt(Hypot(real(v), imag(v))), vec.Atan2(imag(v), real(v))/3
	if angle == 0 || r == 0 {
		return complex(r, math.Copysign(0, imag(v)))
	}
	sin, cos := Sincos(angle)
	return complex(r*cos, r*sin)
}
