package special

import (
	"math"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// zetaBlock is the number of elements whose terms are computed together.
const zetaBlock = 128

// Zeta sets o to the Hurwitz zeta function of x and q, the sum over k >= 0 of (q+k)^-x. All slices have the same
// length.
func Zeta(o, x, q []float64) {
	const terms = 10
	var minus, at, power, total [zetaBlock]float64
	for len(o) > 0 {
		n := min(zetaBlock, len(o))
		for i := range n {
			minus[i], at[i], total[i] = -x[i], q[i], 0
		}
		// The sum of the first terms. The next term stays in power.
		for k := range terms + 1 {
			if k > 0 {
				for i := range n {
					total[i] += power[i]
					at[i] = q[i] + float64(k)
				}
			}
			vec.Binary[float64, float64](vec.Pow64Loop)(power[:n], at[:n], minus[:n])
		}
		for i := range n {
			o[i] = zeta(x[i], q[i], total[i], at[i], power[i])
		}
		o, x, q = o[n:], x[n:], q[n:]
	}
}

// zeta returns the function of x and q, given the sum of the terms before a^-x = t, if q is positive. For q < 0 it is
// defined only if x is an integer: with q = -m-f, the terms above 0 sum to zeta(x, 1-f); the m+1 terms below 0 are, up
// to sign, the terms of zeta(x, f) without the terms of zeta(x, m+1+f). As in XLA, digits are lost if these terms
// cancel.
func zeta(x, q, total, a, t float64) float64 {
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
		parts := [...]float64{f, 1 - q, 1 - f}
		Zeta(parts[:], []float64{x, x, x}, parts[:])
		below := parts[0] - parts[1]
		if !even {
			below = -below
		}
		return parts[2] + below
	case math.IsInf(q, 1) || math.IsInf(x, 1) && q > 1:
		return 0
	case math.IsInf(x, 1):
		if q == 1 {
			return 1
		}
		return math.Inf(1)
	case q > 1e18:
		return vec.Pow(q, 1-x) / (x - 1) // the omitted terms are below one unit in the last place, or 0
	case t == 0:
		return total
	}
	// The Euler-Maclaurin formula yields the rest, with terms B_2k / (2k)! * x (x+1) ... (x+2k-2) * a^(-x-2k+1). If x
	// is far above a, these terms do not shrink, but they are far below the first terms of the sum.
	total += float64(t*a)/(x-1) + float64(0.5*t)
	t /= a
	step := 1 / (a * a)
	for k, c := range [...]float64{1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -1 / 1.8924375803183791606e9, 1 / 7.47242496e10,
		-1 / 2.950130727918164224e12, 1 / 1.1646782814350067249e14, -1 / 4.5979787224074726105e15, 1 / 1.8152105401943546773e17, -1 / 7.1661652561756670113e18} {
		t *= x + float64(2*k)
		d := float64(t * c)
		total += d
		if math.Abs(d) < 1e-17*math.Abs(total) {
			break
		}
		t *= (x + float64(2*k+1)) * step
	}
	return total
}

// Polygamma sets o to the n-th derivatives of digamma at x: (-1)^(n+1) n! zeta(n+1, x). As in XLA, they are infinite or
// NaN if the factorial is infinite. All slices have the same length.
func Polygamma(o, n, x []float64) {
	var order, z [zetaBlock]float64
	for len(o) > 0 {
		k := min(zetaBlock, len(o))
		for i := range k {
			order[i] = n[i] + 1
		}
		Zeta(z[:k], order[:k], x[:k])
		for i := range k {
			o[i] = polygamma(n[i], x[i], z[i])
		}
		o, n, x = o[k:], n[k:], x[k:]
	}
}

func polygamma(n, x, zeta float64) float64 {
	switch {
	case n == 0:
		return Digamma(x)
	case n < 0 || n != math.Floor(n) || math.IsNaN(x) || math.IsInf(n, 0) || math.IsInf(x, -1):
		return math.NaN()
	}
	v := exp(Lgamma(n+1)) * zeta
	if math.Mod(n, 2) == 0 {
		return -v
	}
	return v
}
