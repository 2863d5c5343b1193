package special

import (
	"math"
)

// arcs holds the arc tangents of 0, 1/8, ..., 1 in double-double.
var arcs = [...]word{
	{0, 0},
	{0.12435499454676144, -3.1253241424539383e-18},
	{0.24497866312686414, 1.0698755618734451e-17},
	{0.35877067027057225, -2.4623815582638635e-17},
	{0.4636476090008061, 2.2698777452961687e-17},
	{0.5585993153435624, -5.4556305485916264e-18},
	{0.6435011087932844, 1.5834785051444286e-17},
	{0.7188299996216245, -2.1478388444456983e-17},
	{0.7853981633974483, 3.061616997868383e-17},
}

// Atan2 returns the angle of the point (x, y). Zeros and infinities follow IEEE 754. Let n be the smaller part, d the
// larger one, and c the multiple of 1/8 nearest to n/d. The tangent of the remaining angle is (n - c d)/(d + c n). It
// is at most 1/16, small enough for a few terms of the series.
func Atan2(y, x float64) float64 {
	ax, ay := math.Abs(x), math.Abs(y)
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case ay == 0 || math.IsInf(ax, 0) && !math.IsInf(ay, 0):
		if math.Signbit(x) {
			return math.Copysign(math.Pi, y)
		}
		return math.Copysign(0, y)
	case math.IsInf(ax, 0): // y is infinite too
		ax, ay = 1, 1
	case ax == 0 || math.IsInf(ay, 0):
		return math.Copysign(math.Pi/2, y)
	}
	n, d, steep := ay, ax, ay > ax
	if steep {
		n, d = ax, ay
	}
	if d > 0x1p1000 || d < 0x1p-900 {
		_, e := math.Frexp(d)
		n, d = math.Ldexp(n, -e), math.Ldexp(d, -e)
	}
	q := n / d
	if q < 0x1p-60 && !steep && x > 0 {
		return math.Copysign(ay/ax, y)
	}
	k := math.Round(float64(8 * q))
	c := k / 8
	top, bottom := math.FMA(-c, d, n), math.FMA(c, n, d)
	t := top / bottom
	rest := math.FMA(-t, bottom, top) / bottom
	z := float64(t * t)
	rest += float64(float64(t*z) * polynomial(z, 1.0/13, -1.0/11, 1.0/9, -1.0/7, 1.0/5, -1.0/3))
	a := arcs[int(k)].add(fastSum(t, rest))
	if steep {
		a = word{math.Pi / 2, 6.123233995736766e-17}.add(a.neg())
	}
	if math.Signbit(x) {
		a = word{math.Pi, 1.2246467991473532e-16}.add(a.neg())
	}
	return math.Copysign(a.hi, y)
}

func Atan(x float64) float64 { return Atan2(x, 1) }

// Asin returns the angle with sine x; its cosine is the square root of (1-x)(1+x).
func Asin(x float64) float64 {
	if math.Abs(x) > 1 {
		return math.NaN()
	}
	return Atan2(x, cathetus(x))
}

func Acos(x float64) float64 {
	if math.Abs(x) > 1 {
		return math.NaN()
	}
	return Atan2(cathetus(x), x)
}

// cathetus returns the square root of 1 - x^2.
func cathetus(x float64) float64 {
	if math.Abs(x) < 0.5 {
		return math.Sqrt(math.FMA(-x, x, 1))
	}
	return math.Sqrt(float64((1 - x) * (1 + x)))
}
