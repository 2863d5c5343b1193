package legalize

import (
	"math"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Lanczos's approximation of the gamma function:
//
//	lgamma(z + 1) = (log(2) + log(pi))/2 + (z + 1/2) log(t) - t + log(a)
//	digamma(z + 1) = log(t) + a'/a - g/t
//	t = z + g + 1/2, a = base + sum lanczos[k]/(z + k + 1), a' = da/dz
const (
	lanczosG    = 7
	lanczosBase = 0.99999999999980993227684700473478
)

// reflected reports whether x < 1/2, and returns the argument of the approximation: z = -x or z = x - 1.
func reflected(e *emitter, x *ir.Value) (half, reflect, one, z *ir.Value) {
	half = e.num(0.5, x)
	reflect = e.lt(x, half)
	neg := e.neg(x)
	one = e.num(1, x)
	return half, reflect, one, e.sel(reflect, neg, e.sub(x, one))
}

// logT returns t and log(t) = log(g + 1/2) + log1p(z/(g + 1/2)).
func logT(e *emitter, x, z *ir.Value) (t, log *ir.Value) {
	c := e.num(lanczosG+0.5, x)
	t = e.add(c, z)
	constant := e.num(math.Log(lanczosG+0.5), x)
	return t, e.add(constant, e.log1p(e.div(z, c)))
}

// lgamma computes the logarithm of |gamma(x)|.
func lgamma(e *emitter, x *ir.Value) *ir.Value {
	half, reflect, one, z := reflected(e, x)
	a := e.num(lanczosBase, x)
	for i, c := range lanczos {
		coefficient, k := e.num(c, x), e.num(float64(i+1), x)
		a = e.add(a, e.div(coefficient, e.add(z, k)))
	}
	t, log := logT(e, x, z)
	// (z + 1/2) log(t) - t overflows later as (z + 1/2 - t/log(t)) log(t).
	quotient := e.div(t, log)
	r := e.mul(e.sub(e.add(z, half), quotient), log)
	logA := e.log(a)
	y := e.add(e.add(e.num((math.Log(2)+math.Log(math.Pi))/2, x), r), logA)

	// lgamma(x) = log(pi) - lgamma(1 - x) - log|sin(pi x)|, with x reduced to [0, 1/2].
	abs := e.abs(x)
	frac := e.sub(abs, e.floor(abs))
	upper := e.lt(half, frac)
	frac = e.sel(upper, e.sub(one, frac), frac)
	sine := e.log(e.sin(e.mul(e.num(math.Pi, x), frac)))
	mirror := e.sub(e.sub(e.num(math.Log(math.Pi), x), sine), y)
	// If the logarithm of the sine is infinite, it is the result; -inf - inf would be NaN.
	finite := e.isFinite(sine)
	infinite := e.neg(sine)
	mirror = e.sel(finite, mirror, infinite)
	y = e.sel(reflect, mirror, y)
	isInf := e.typed(chlo.IsInf, withElem(e.ctx, x.Type(), ir.Int(1)), x)
	return e.sel(isInf, e.inf(1, x), y)
}

// digamma computes the derivative of lgamma.
func digamma(e *emitter, x *ir.Value) *ir.Value {
	_, reflect, _, z := reflected(e, x)
	zero := e.num(0, x)
	a, da := e.num(lanczosBase, x), zero
	for i, c := range lanczos {
		coefficient, k := e.num(c, x), e.num(float64(i+1), x)
		term := e.add(z, k)
		da = e.sub(da, e.div(coefficient, e.mul(term, term)))
		a = e.add(a, e.div(coefficient, term))
	}
	t, log := logT(e, x, z)
	slope := e.div(da, a)
	shift := e.div(e.num(lanczosG, x), t)
	y := e.sub(e.add(log, slope), shift)

	// digamma(x) = digamma(1 - x) - pi cot(pi x), with x reduced to [-1/2, 1/2].
	reduced := e.add(x, e.abs(e.floor(e.add(x, e.num(0.5, x)))))
	pi := e.num(math.Pi, x)
	angle := e.mul(pi, reduced)
	cos, sin := e.cos(angle), e.sin(angle)
	mirror := e.sub(y, e.div(e.mul(pi, cos), sin))
	y = e.sel(reflect, mirror, y)

	// The poles are NaN: 0 and the negative integers.
	negative := e.le(x, zero)
	whole := e.eq(x, e.floor(x))
	pole := e.and(negative, whole)
	return e.sel(pole, e.nan(x), y)
}

// zeta computes Hurwitz's zeta function by the formula of Euler and Maclaurin with 9 and 12 terms (Johansson, "Rigorous
// high-precision computation of the Hurwitz zeta function and its derivatives", formula 5).
func zeta(e *emitter, x, q *ir.Value) *ir.Value {
	zero, one := e.num(0, q), e.num(1, q)
	a, negX := q, e.neg(x)
	sum := e.pow(q, negX)
	for range 9 {
		a = e.add(a, one)
		sum = e.add(sum, e.pow(a, negX))
	}
	a = e.add(a, one)
	power := e.pow(a, negX)
	oneX := e.num(1, x)
	correction := e.div(e.mul(power, a), e.sub(x, oneX))
	inverse := e.div(one, e.mul(a, a))

	horner := zero
	last := len(zetaTail) - 1
	for i, c := range zetaTail[:last] {
		k := 2*len(zetaTail) - 2 - 2*i
		left := e.add(x, e.num(float64(k), x))
		right := e.add(x, e.num(float64(k-1), x))
		product := e.mul(left, right)
		horner = e.mul(product, e.mul(inverse, e.add(horner, e.num(1/c, a))))
	}
	half := e.num(0.5, power)
	ratio := e.div(x, a)
	tail := e.mul(power, e.add(half, e.mul(ratio, e.add(e.num(1/zetaTail[last], a), horner))))
	accurate := e.add(e.add(sum, correction), tail)

	// If the last power is negligible, the sum is accurate enough.
	absPower, absSum := e.abs(power), e.abs(sum)
	y := e.sel(e.lt(absPower, e.mul(absSum, e.num(smallest(dtypeOf(a)), a))), sum, accurate)

	nan := e.nan(x)
	y = e.sel(e.lt(x, oneX), nan, y) // undefined for x < 1
	// For q <= 0, x must be an integer.
	low := e.le(q, zero)
	broken := e.ne(x, e.floor(x))
	y = e.sel(e.and(low, broken), nan, y)
	// Integers q <= 0 are poles; the limit is infinity for even x.
	inf := e.inf(1, x)
	whole := e.eq(q, e.floor(q))
	pole := e.and(low, whole)
	two := e.num(2, x)
	wholeX := e.eq(x, e.floor(x))
	even := e.eq(e.rem(x, two), zero)
	evenX := e.and(wholeX, even)
	y = e.sel(pole, e.sel(evenX, inf, nan), y)
	return e.sel(e.eq(x, one), inf, y) // the harmonic series
}

// polygamma computes the n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x).
func polygamma(e *emitter, n, x *ir.Value) *ir.Value {
	one, two := e.num(1, x), e.num(2, x)
	sign := e.sub(e.mul(two, e.rem(n, two)), one)
	next := e.add(n, one)
	factorial := e.exp(e.typed(chlo.Lgamma, next.Type(), next))
	z := e.typed(chlo.Zeta, next.Type(), next, x)
	y := e.mul(e.mul(sign, factorial), z)
	zero := e.num(0, x)
	first := e.eq(n, zero)
	y = e.sel(first, e.typed(chlo.Digamma, x.Type(), x), y)
	broken := e.ne(n, e.floor(n))
	negative := e.lt(n, zero)
	unnatural := e.or(broken, negative)
	return e.sel(unnatural, e.nan(x), y)
}

// smallest returns the least positive number of a float type.
func smallest(d tensor.DType) float64 { return tensor.DecodeFloat(d, 1) }
