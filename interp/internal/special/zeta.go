package special

import (
	"math"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// Zeta is the Hurwitz zeta function, the sum over k >= 0 of (q+k)^-x. For q < 0 it is defined only if x is an integer:
// with q = -m-f, the terms above 0 sum to zeta(x, 1-f); the m+1 terms below 0 are, up to sign, the terms of zeta(x, f)
// without the terms of zeta(x, m+1+f). As in XLA, digits are lost if these sums cancel.
func Zeta(x, q float64) float64 { return zeta(x, q, vec.Pow) }

// Zeta32 is Zeta to the digits of f32.
func Zeta32(x, q float64) float64 { return zeta(x, q, shortPow) }

func shortPow(x, y float64) float64 { return exp(y * Log(x)) }

func zeta(x, q float64, pow func(x, y float64) float64) float64 {
	whole, even := x == math.Floor(x), math.Mod(x, 2) == 0
	switch {
	case math.IsNaN(x) || math.IsNaN(q) || x < 1:
		return math.NaN()
	case x == 1:
		return math.Inf(1)
	case q <= 0 && q == math.Floor(q):
		if even {
			return math.Inf(1)
		}
		return math.NaN()
	case q < 0 && !whole:
		return math.NaN()
	case q < 0:
		f := -q - math.Floor(-q)
		below := zeta(x, f, pow) - zeta(x, 1-q, pow)
		if !even {
			below = -below
		}
		return zeta(x, 1-f, pow) + below
	case math.IsInf(q, 1) || math.IsInf(x, 1) && q > 1:
		return 0
	case math.IsInf(x, 1):
		if q == 1 {
			return 1
		}
		return math.Inf(1)
	case q > 1e18:
		return pow(q, 1-x) / (x - 1) // the omitted terms are below one unit in the last place, or 0
	}
	// The Euler-Maclaurin formula. If x is above a, the terms shrink fast, but the terms of the series for the rest do
	// not.
	total, a, t := 0.0, q, pow(q, -x)
	for n := 0.0; n < 10 && q < 1e4 || a <= 9 || a < x; {
		total += t
		if !(t*(1+a/(x-1)) > 1e-18*total) || math.IsInf(t, 1) {
			return total
		}
		n++
		a = q + n
		t = pow(a, -x)
	}
	total += float64(t*a)/(x-1) + float64(0.5*t)
	// Terms B_2k / (2k)! * x (x+1) ... (x+2k-2) * a^(-x-2k+1)
	coeff := [...]float64{12, -720, 30240, -1209600, 47900160, -1.8924375803183791606e9, 7.47242496e10,
		-2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15, 1.8152105401943546773e17, -7.1661652561756670113e18}
	fac := 1.0
	for k, c := range coeff {
		fac *= x + float64(2*k)
		t /= a
		d := fac * t / c
		total += d
		if math.Abs(d) < 1e-17*math.Abs(total) {
			break
		}
		fac *= x + float64(2*k+1)
		t /= a
	}
	return total
}

// Polygamma is the n-th derivative of digamma: (-1)^(n+1) n! zeta(n+1, x). As in XLA, it is infinite or NaN if the
// factorial is infinite.
func Polygamma(n, x float64) float64 { return polygamma(n, x, vec.Pow) }

// Polygamma32 is Polygamma to the digits of f32.
func Polygamma32(n, x float64) float64 { return polygamma(n, x, shortPow) }

func polygamma(n, x float64, pow func(x, y float64) float64) float64 {
	switch {
	case n == 0:
		return Digamma(x)
	case n < 0 || n != math.Floor(n) || math.IsNaN(x) || math.IsInf(n, 0) || math.IsInf(x, -1):
		return math.NaN()
	}
	v := exp(Lgamma(n+1)) * zeta(n+1, x, pow)
	if math.Mod(n, 2) == 0 {
		return -v
	}
	return v
}
