package special

import (
	"math"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// The functions of float64 below return the same bits on every processor, and so does the engine. Go's math package
// does not: some of its functions are assembly on some processors only, and in the rest the compiler uses fused
// multiply-adds if the processor has them. Here a conversion rounds every product before an addition, or math.FMA fuses
// them. A test searches the code compiled for a processor with fused multiply-adds for others. Functions of math that
// round correctly everywhere (Sqrt, FMA, Mod, Ldexp, Floor and the like) are used directly.

func exp(x float64) float64 { return vec.Exp(x) }

func expm1(x float64) float64 { return vec.Expm1(x) }

func Log(x float64) float64 { return vec.Log(x) }

func tanh(x float64) float64 { return vec.Tanh(x) }

// polynomial returns c[0] x^n + ... + c[n], by Horner's rule.
func polynomial(x float64, c ...float64) float64 {
	p := c[0]
	for _, v := range c[1:] {
		p = math.FMA(p, x, v)
	}
	return p
}

// Log1p returns log(1+x). It adds the rounding error of the sum 1+x as the first term of the logarithm's series.
func Log1p(x float64) float64 {
	u := 1 + x
	if x == 0 {
		return x
	}
	if u == 0 || math.IsInf(u, 0) || math.IsNaN(u) {
		return Log(u)
	}
	rest := x - (u - 1)
	if x > 1 || x < -0.5 {
		rest = 1 - (u - x)
	}
	return Log(u) + rest/u
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

// Cbrt returns the cube root of x. It takes one step of Newton's method from the exponential of a third of log |x|.
func Cbrt(x float64) float64 {
	if x == 0 || !finite(x) {
		return x
	}
	m, e := math.Frexp(math.Abs(x))
	k := e % 3
	if k < 0 {
		k += 3
	}
	m, e = math.Ldexp(m, k), (e-k)/3
	y := exp(Log(m) / 3)
	y2 := float64(y * y)
	y3 := float64(y2 * y)
	rest := (y3 - m) + math.FMA(y2, y, -y3) + float64(math.FMA(y, y, -y2)*y)
	y -= rest / float64(3*y2)
	return math.Copysign(math.Ldexp(y, e), x)
}

// Cosh returns (e^x + e^-x)/2.
func Cosh(x float64) float64 {
	x = math.Abs(x)
	if x > 700 {
		e := exp(x / 2)
		return float64(0.5*e) * e
	}
	e := exp(x)
	return 0.5 * (e + 1/e)
}

// Sinh returns (t + t/(t+1))/2, where t = e^x - 1.
func Sinh(x float64) float64 {
	a := math.Abs(x)
	var v float64
	switch {
	case a > 700:
		e := exp(a / 2)
		v = float64(0.5*e) * e
	default:
		t := expm1(a)
		v = 0.5 * (t + t/(t+1))
	}
	return math.Copysign(v, x)
}

func Asinh(x float64) float64 {
	a := math.Abs(x)
	var v float64
	switch {
	case a > 0x1p28:
		v = Log(a) + math.Ln2
	case a > 2:
		v = Log(float64(2*a) + 1/(math.Sqrt(math.FMA(a, a, 1))+a))
	default:
		v = Log1p(a + float64(a*a)/(1+math.Sqrt(math.FMA(a, a, 1))))
	}
	return math.Copysign(v, x)
}

func Acosh(x float64) float64 {
	switch {
	case x < 1:
		return math.NaN()
	case x > 0x1p28:
		return Log(x) + math.Ln2
	case x > 2:
		return Log(float64(2*x) - 1/(x+math.Sqrt(math.FMA(x, x, -1))))
	}
	t := x - 1
	return Log1p(t + math.Sqrt(math.FMA(t, t, float64(2*t))))
}

func Atanh(x float64) float64 {
	a := math.Abs(x)
	var v float64
	switch {
	case a > 1:
		return math.NaN()
	case a < 0.5:
		d := float64(2 * a)
		v = 0.5 * Log1p(d+float64(d*a)/(1-a))
	default:
		v = 0.5 * Log1p(float64(2*a)/(1-a))
	}
	return math.Copysign(v, x)
}
