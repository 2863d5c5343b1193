package interp

import "math"

// Special functions of CHLO on float64. Where the standard library has none, the method is given.

// digamma is the derivative of log gamma: reflected for x <= 0, shifted up by recurrence, then the asymptotic
// series in 1/x^2 with Bernoulli numbers. Poles at the integers <= 0 are NaN.
func digamma(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, -1):
		return math.NaN()
	case math.IsInf(x, 1):
		return x
	case x == 0:
		return math.NaN()
	case x < 0.5:
		if x == math.Floor(x) {
			return math.NaN()
		}
		// psi(1-x) - pi cot(pi x); only the fraction of x enters the cotangent.
		f := x - math.Round(x)
		return digamma(1-x) - math.Pi/tangent(math.Pi*f)
	}
	// Near its root the function is a difference of large terms; a Taylor series about it keeps the digits.
	const rootHigh, rootLow = 1.4616321449683622, 9.549995429965697e-17
	if d := (x - rootHigh) - rootLow; math.Abs(d) < 0.05 {
		return digammaNearRoot(d)
	}
	shift := 0.0
	for x < 12 {
		shift += 1 / x
		x++
	}
	inv := 1 / float64(x*x)
	series := inv * polynomial(inv, 1.0/12, -691.0/32760, 1.0/132, -1.0/240, 1.0/252, -1.0/120, 1.0/12)
	return log(x) - 0.5/x - float64(series) - shift
}

// digammaNearRoot sums psi(r+d) = sum over n of the derivatives at the root r, which are Hurwitz zetas.
func digammaNearRoot(d float64) float64 {
	const root = 1.4616321449683622
	sum, p := 0.0, d
	for n := 1; n < 16; n++ {
		// psi^(n)(r)/n! = (-1)^(n+1) zeta(n+1, r)
		term := p * zeta(float64(n+1), root)
		if n%2 == 0 {
			term = -term
		}
		sum += term
		p *= d
		if math.Abs(term) < 1e-18*math.Abs(sum) {
			break
		}
	}
	return sum
}

// zeta is Hurwitz's zeta function, the sum over k >= 0 of (q+k)^-x, by Euler and Maclaurin.
func zeta(x, q float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsNaN(q):
		return math.NaN()
	case x == 1:
		return math.Inf(1)
	case x < 1:
		return math.NaN()
	case q <= 0:
		if q == math.Floor(q) {
			if x == math.Floor(x) && math.Mod(x, 2) == 0 {
				return math.Inf(1)
			}
			return math.NaN()
		}
		if x != math.Floor(x) {
			return math.NaN()
		}
	case math.IsInf(q, 1):
		return 0
	}
	if q > 1e18 {
		return pow(q, 1-x) / (x - 1) // the rest is less than a unit in the last place, or nothing at all
	}
	// Terms on both sides of zero may cancel, so that their sum is kept in two words.
	total, a := word{}, q
	n := 0
	for ; n < 10 || a <= 9; n++ {
		t := pow(a, -x)
		if !finite(t) {
			return t
		}
		total = total.add(word{t, 0})
		a++
		if math.Abs(t) < 1e-18*math.Abs(total.hi) && a > 9 {
			return total.hi
		}
		if n > 1<<20 {
			return math.NaN()
		}
	}
	t := pow(a, -x)
	if t == 0 {
		return total.hi
	}
	total = total.add(word{t * a / (x - 1), 0}).add(word{0.5 * t, 0})
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

// polygamma is the n-th derivative of digamma: (-1)^(n+1) n! zeta(n+1, x).
func polygamma(n, x float64) float64 {
	switch {
	case n == 0:
		return digamma(x)
	case n < 0 || n != math.Floor(n) || math.IsNaN(n):
		return math.NaN()
	}
	f := exp(lgamma(n + 1))
	if n <= 20 {
		f = 1
		for i := 2.0; i <= n; i++ {
			f *= i
		}
	}
	v := f * zeta(n+1, x)
	if n+1 == n && x < 0 && x-math.Floor(x) > 0.5 {
		v = -v // n+1 is odd, but not as a float64; the term that counts is a negative number's power
	}
	if math.Mod(n, 2) == 0 {
		return -v
	}
	return v
}

// besselI1e is exp(-|x|) I1(x): the power series, whose terms are all positive, up to 30, beyond it the
// asymptotic one.
func besselI1e(x float64) float64 {
	a := math.Abs(x)
	var v float64
	switch {
	case math.IsNaN(x):
		return x
	case math.IsInf(x, 0):
		return math.Copysign(0, x)
	case a <= 30:
		h := a / 2
		q := h * h
		term, sum := h, h
		for k := 1.0; k < 500; k++ {
			term = float64(term * (q / (k * (k + 1))))
			sum += term
			if term < 1e-18*sum {
				break
			}
		}
		v = sum * exp(-a)
	default:
		term, sum := 1.0, 1.0
		for k := 1.0; k < 60; k++ {
			next := float64(term * -(4 - float64((2*k-1)*(2*k-1))) / (k * 8 * a))
			if math.Abs(next) >= math.Abs(term) || math.Abs(next) < 1e-18 {
				break
			}
			term = next
			sum += term
		}
		v = sum / (math.Sqrt(2*math.Pi) * math.Sqrt(a))
	}
	return math.Copysign(v, x)
}

func square(x float64) float64 { return float64(x * x) }
