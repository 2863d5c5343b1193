package special

import (
	"math"
	"sync"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// Zeta is the Hurwitz zeta function, the sum over k >= 0 of (q+k)^-x. For q < 0 it is defined only if x is an integer.
func Zeta(x, q float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsNaN(q):
		return math.NaN()
	case x == 1:
		return math.Inf(1)
	case x < 1:
		return math.NaN()
	case q <= 0:
		even := math.Mod(x, 2) == 0
		if q == math.Floor(q) {
			if x == math.Floor(x) && even {
				return math.Inf(1)
			}
			return math.NaN()
		}
		if x != math.Floor(x) {
			return math.NaN()
		}
		return zetaBelow(x, q, !even)
	case math.IsInf(q, 1):
		return 0
	case q > 1e18:
		return Pow(q, 1-x) / (x - 1) // the omitted terms are below one unit in the last place, or 0
	}
	return zetaSum(x, q, func(k float64) float64 {
		a := word{q, 0}.add(word{k, 0})
		t := Pow(a.hi, -x)
		if a.lo != 0 && finite(t) {
			t -= float64(t * (x * a.lo / a.hi)) // corrects for the rounding of q+k
		}
		return t
	})
}

// zetaSum returns the sum of (q+k)^-x for q > 0 by the Euler-Maclaurin formula. term returns the terms, which may all
// have the same scale factor.
func zetaSum(x, q float64, term func(k float64) float64) float64 {
	total, a, n := word{}, q, 0.0
	// If x is above a, the terms shrink fast, but the terms of the series for the rest do not.
	for ; n < 10 && q < 1e4 || a <= 9 || a < x; n++ {
		t := term(n)
		if !finite(t) {
			return t
		}
		total = total.add(word{t, 0})
		if t*(1+a/(x-1)) <= 1e-18*total.hi {
			return total.hi
		}
		a = q + (n + 1)
	}
	t := term(n)
	if t == 0 {
		return total.hi
	}
	total = total.add(word{float64(t*a) / (x - 1), 0}).add(word{0.5 * t, 0})
	// Terms B_2k / (2k)! * x (x+1) ... (x+2k-2) * a^(-x-2k+1)
	coeff := [...]float64{12, -720, 30240, -1209600, 47900160, -1.8924375803183791606e9, 7.47242496e10,
		-2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15, 1.8152105401943546773e17, -7.1661652561756670113e18}
	fac := 1.0
	k := 0.0
	for _, c := range coeff {
		fac *= x + k
		t /= a
		d := fac * t / c
		total = total.add(word{d, 0})
		if math.Abs(d) < 1e-17*math.Abs(total.hi) {
			break
		}
		k++
		fac *= x + k
		t /= a
		k++
	}
	return total.hi
}

// zetaBelow is zeta of an integer x and a negative q that is not an integer. With q = -m-f, the terms above 0 sum to
// zeta(x, 1-f). The m+1 terms below 0 are, up to sign, the terms of zeta(x, f) without the terms of zeta(x, m+1+f).
// They are negative if x is odd. There is then a zero near f = 1/2, where each of them nearly cancels a term above 0.
func zetaBelow(x, q float64, odd bool) float64 {
	m := math.Floor(-q)
	f := -q - m
	rest := Zeta(x, 1-q)
	switch {
	case odd && f == 0.5:
		return rest
	case odd && x > maxOddOrder:
		// The two terms next to 0 determine the result: (1/2-e)^-x (1 - ((1/2-e)/(1/2+e))^x).
		a := math.Min(f, 1-f)
		ratio := -expm1(-x * vec.Log1p(float64(2*(0.5-a))/a))
		d := Pow(a, -x) * ratio
		if math.IsInf(d, 0) {
			h := Pow(a, -x/2)
			d = float64(h*ratio) * h
		}
		return math.Copysign(d, f-0.5) + rest
	case odd:
		return zetaRest(x, f) - Zeta(x, f) + rest
	case m > 8:
		return zetaRest(x, f) + (Zeta(x, f) - rest)
	}
	first := zetaRest(x, f)
	if math.IsInf(first, 0) {
		return first
	}
	sum := word{first, 0}
	for j := m; j >= 0; j-- {
		t := Pow(f+j, -x)
		if math.IsInf(t, 0) {
			return t
		}
		sum = sum.add(word{t, 0})
	}
	return sum.hi
}

// zetaRest is zeta(x, 1-f) for 0 < f < 1. It corrects for the rounding of 1-f.
func zetaRest(x, f float64) float64 {
	c := 1 - f
	v := Zeta(x, c)
	if lost := (1 - c) - f; lost != 0 && finite(v) {
		v -= float64(x * lost / c * Pow(c, -x))
	}
	return v
}

// maxOddOrder is the order above which the two terms next to 0 are the result.
const maxOddOrder = 41

var factorials = sync.OnceValue(func() []float64 {
	var out []float64
	v := word{1, 0}
	for n := range 171 {
		v = v.times(float64(max(n, 1)))
		out = append(out, v.hi)
	}
	return out
})

// Polygamma is the n-th derivative of digamma: (-1)^(n+1) n! zeta(n+1, x).
func Polygamma(n, x float64) float64 {
	switch {
	case n == 0:
		return Digamma(x)
	case n < 0 || n != math.Floor(n) || math.IsNaN(n) || math.IsInf(n, 0) || math.IsNaN(x) || math.IsInf(x, -1):
		return math.NaN()
	}
	even := math.Mod(n, 2) == 0
	v := math.Inf(1)
	switch {
	case x > 0:
		v = polygammaAbove(n, x)
	case x == math.Floor(x):
		if even {
			return math.NaN()
		}
	case even && -x-math.Floor(-x) == 0.5:
		v = polygammaAbove(n, 1-x)
	default:
		z := zetaBelow(n+1, x, even)
		if n <= 170 {
			v = factorials()[int(n)] * z
		} else {
			v = math.Copysign(v, z)
		}
	}
	if even {
		return -v
	}
	return v
}

// polygammaAbove is n! zeta(n+1, x) for x > 0.
func polygammaAbove(n, x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	if n <= 170 {
		if z := Zeta(n+1, x); z > 0x1p-960 {
			return factorials()[int(n)] * z
		}
	}
	// Multiply n! x^(-n-1), computed as the exponential of its logarithm, by x^(n+1) zeta(n+1, x).
	s := n + 1
	g, l := Lgamma(s), float64(s*Log(x))
	about, doubt := g-l, 4000+float64(0x1p-45*(g+math.Abs(l)))
	if math.IsInf(g, 0) || math.IsInf(l, 0) {
		about, doubt = Log(s)-1-Log(x), 0
	}
	switch {
	case about > doubt:
		return math.Inf(1)
	case about < -doubt:
		return 0
	}
	e := word{g, 0}.add(word{-l, 0})
	switch {
	case e.hi > 4000:
		return math.Inf(1)
	case e.hi < -4000:
		return 0
	}
	v, k := wordExpScaled(e)
	v *= zetaSum(s, x, func(k float64) float64 { return exp(-s * vec.Log1p(k/x)) }) / 4
	return math.Ldexp(v, k+2)
}
