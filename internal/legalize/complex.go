package legalize

import (
	"math"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
)

// Complex expresses exponential, log, log_plus_one and sqrt of complex numbers inside scope by functions of real
// numbers. The real functions avoid overflow and cancellation. Ops that ask for an accuracy other than the default
// stay. Like MLIR's greedy driver, it also erases dead ops, folds, and moves constants to the start of scope.
func Complex(scope *ir.Op, apply rewrite.Driver) error {
	_, err := apply(scope, complexPatterns, rewrite.Options{EraseDead: true, Constants: true, MaxIterations: 10})
	return err
}

var complexPatterns = []*rewrite.Pattern{
	complexPattern(stablehlo.Exponential, expComplex),
	complexPattern(stablehlo.Log, logComplex),
	complexPattern(stablehlo.LogPlusOne, log1pComplex),
	complexPattern(stablehlo.Sqrt, sqrtComplex),
}

func complexPattern(row *ir.Def, f function1) *rewrite.Pattern {
	return pattern(rule{row, func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		if !isComplex(args[0]) || !asksDefault(op) {
			return nil
		}
		e.keepLike = true
		return explicit(f)(e, op, args)
	}}, nil)
}

// asksDefault reports whether op asks for the default accuracy.
func asksDefault(op *ir.Op) bool {
	a := op.Attr(stablehlo.AttrResultAccuracy)
	if a == nil {
		return true
	}
	d, ok := ir.DataOf[stablehlo.ResultAccuracy](a)
	return ok && *d == stablehlo.ResultAccuracy{}
}

// expComplex computes exp(x) cos(y) + i exp(x) sin(y). If exp(x) overflows, it multiplies by exp(x/2) twice. The
// imaginary part of a real number is 0.
func expComplex(e *emitter, z *ir.Value) *ir.Value {
	x := e.real(z)
	exp := e.exp(x)
	overflow := e.eq(exp, e.inf(1, x))
	root := e.exp(e.mul(x, e.num(0.5, x)))
	y := e.imag(z)
	cos := e.cos(y)
	twice := e.mul(e.mul(root, cos), root)
	re := e.sel(overflow, twice, e.mul(exp, cos))
	zero := e.num(0, x)
	flat := e.eq(y, zero)
	sin := e.sin(y)
	twice = e.mul(e.mul(root, sin), root)
	return e.complex(re, e.sel(flat, zero, e.sel(overflow, twice, e.mul(exp, sin))))
}

// splitter is the constant of Veltkamp's splitting of floats into halves: 2^ceil(p/2) + 1 for a precision of p bits.
func splitter(e *emitter, x, greatest *ir.Value) *ir.Value {
	double := e.gt(greatest, e.num(1e308, x))
	split64 := e.num(1<<27+1, x)
	single := e.gt(greatest, e.num(1e38, x))
	split32 := e.num(1<<12+1, x)
	return e.sel(double, split64, e.sel(single, split32, e.num(1<<6+1, x)))
}

// squareLow computes the rounding error of square = v*v by Dekker's algorithm. split returns the splitter.
func squareLow(e *emitter, v, square *ir.Value, split func() *ir.Value) *ir.Value {
	minus := e.neg(square)
	scaled := e.mul(split(), v)
	high := e.add(scaled, e.sub(v, scaled))
	err := e.add(minus, e.mul(high, high))
	low := e.sub(v, high)
	cross := e.mul(high, low)
	err = e.add(e.add(err, cross), cross)
	return e.add(err, e.mul(low, low))
}

// sumLow computes the rounding error of sum = a + b by Knuth's algorithm.
func sumLow(e *emitter, a, b, sum *ir.Value) *ir.Value {
	back := e.sub(sum, a)
	left := e.sub(a, e.sub(sum, back))
	return e.add(left, e.sub(b, back))
}

// log1pComplex computes log|1 + z| + i arg(1 + z). It computes |1 + z|^2 - 1 = 2x + x*x + y*y in double precision if it
// is close to 0.
func log1pComplex(e *emitter, z *ir.Value) *ir.Value {
	x := e.real(z)
	ax := e.abs(x)
	y := e.imag(z)
	ay := e.abs(y)
	mx := e.max(ax, ay)
	max := e.greatest(x)
	root := e.sqrt(max)
	large := e.gt(mx, e.mul(root, e.num(0.01, x)))
	logMax := e.log(mx)
	half := e.num(0.5, x)
	mn := e.min(ax, ay)
	equal := e.eq(mn, mx)
	one := e.num(1, x)
	ratio := e.div(mn, mx)
	far := e.add(logMax, e.mul(half, e.log1p(e.sel(equal, one, e.mul(ratio, ratio)))))

	xp1 := e.add(x, one)
	abs := e.abs(xp1)
	distance := e.add(abs, ay)
	close := e.lt(distance, e.num(0.2, x))
	xp1Sq := e.mul(xp1, xp1)
	ySq := e.mul(y, y)
	pole := e.mul(half, e.log(e.add(xp1Sq, ySq)))

	x2 := e.add(x, x)
	s1 := e.add(x2, ySq)
	xSq := e.mul(x, x)
	s2 := e.add(s1, xSq)
	var split *ir.Value
	yLow := squareLow(e, y, ySq, func() *ir.Value {
		split = splitter(e, x, max)
		return split
	})
	s3 := e.add(s2, yLow)
	xLow := squareLow(e, x, xSq, func() *ir.Value { return split })
	s4 := e.add(s3, xLow)
	low := sumLow(e, x2, ySq, s1)
	low = e.add(low, sumLow(e, s1, xSq, s2))
	low = e.add(low, sumLow(e, s2, yLow, s3))
	low = e.add(low, sumLow(e, s3, xLow, s4))
	near := e.mul(half, e.log1p(e.add(s4, low)))
	re := e.sel(large, far, e.sel(close, pole, near))
	return e.complex(re, e.atan2(y, xp1))
}

// logComplex computes log|z| + i arg(z). It computes |z|^2 - 1 = x*x + y*y - 1 in double precision if it is close to 0.
func logComplex(e *emitter, z *ir.Value) *ir.Value {
	x := e.real(z)
	minusOne := e.num(-1, x)
	y := e.imag(z)
	ySq := e.mul(y, y)
	xSq := e.mul(x, x)
	greater := e.gt(ySq, xSq)
	high := e.sel(greater, ySq, xSq)
	s1 := e.add(minusOne, high)
	low := e.sel(greater, xSq, ySq)
	s2 := e.add(s1, low)
	var split *ir.Value
	yLow := squareLow(e, y, ySq, func() *ir.Value {
		split = splitter(e, x, e.greatest(x))
		return split
	})
	s3 := e.add(s2, yLow)
	xLow := squareLow(e, x, xSq, func() *ir.Value { return split })
	s4 := e.add(s3, xLow)
	// The terms are in descending order, so that a difference is the rounding error.
	rest := e.sub(high, e.sub(s1, minusOne))
	rest = e.add(rest, e.sub(low, e.sub(s2, s1)))
	rest = e.add(rest, e.sub(yLow, e.sub(s3, s2)))
	rest = e.add(rest, e.sub(xLow, e.sub(s4, s3)))
	sum := e.add(s4, rest)
	abs := e.abs(sum)
	half := e.num(0.5, x)
	close := e.lt(abs, half)
	near := e.mul(half, e.log1p(sum))
	ax, ay := e.abs(x), e.abs(y)
	mx := e.max(ax, ay)
	logMax := e.log(mx)
	mn := e.min(ax, ay)
	equal := e.eq(mn, mx)
	one := e.num(1, x)
	ratio := e.sel(equal, one, e.div(mn, mx))
	far := e.add(logMax, e.mul(half, e.log1p(e.mul(ratio, ratio))))
	re := e.sel(close, near, far)
	return e.complex(re, e.atan2(y, x))
}

// sqrtComplex computes u + iy/(2u) with u = sqrt((hypot(x, y) + |x|)/2) for x >= 0, and |y|/(2u) + i sign(y) u for x <
// 0. It scales if u overflows or underflows.
func sqrtComplex(e *emitter, z *ir.Value) *ir.Value {
	x := e.real(z)
	c := &constants{like: x}
	zero := c.get(e, &c.zero, 0)
	right := e.ge(x, zero)
	ax := e.abs(x)
	y := e.imag(z)
	ay := e.abs(y)
	equal := e.eq(ax, ay)
	rootX := e.sqrt(ax)
	scaled := e.mul(rootX, e.num(1.5537739740300374, x)) // sqrt(1 + sqrt(2))
	rootTwo := c.get(e, &c.rootTwo, math.Sqrt2)
	diagonal := e.div(scaled, rootTwo)
	hypot := c.hypotenuse(e, ax, ay)
	one, two := c.one, c.two
	left := e.div(hypot, two)
	u := e.sqrt(e.add(left, e.div(ax, two)))
	none := e.eq(u, zero)
	extreme := e.or(none, e.eq(u, e.inf(1, x)))
	wide := e.gt(ax, ay)
	tall := e.lt(ax, ay)
	quotient := e.div(ax, ay)
	ratio := e.sel(equal, one, e.sel(tall, quotient, e.div(ay, ax)))
	h := c.hypotenuse(e, one, e.abs(ratio))
	root1 := e.sqrt(e.add(one, h))
	wideU := e.mul(rootX, e.div(root1, rootTwo))
	rootY := e.sqrt(ay)
	rootR := e.sqrt(e.add(ratio, h))
	tallU := e.mul(rootY, e.div(rootR, rootTwo))
	value := e.sel(equal, diagonal, e.sel(extreme, e.sel(wide, wideU, tallU), u))

	half := e.div(rootY, e.num(2.19736822693562, x)) // sqrt(2) sqrt(1 + sqrt(2))
	quotient = e.div(rootX, rootY)
	ratio = e.sel(equal, one, e.sel(tall, quotient, e.div(rootY, rootX)))
	wideHalf := e.mul(rootY, ratio)
	wideHalf = e.div(wideHalf, e.mul(root1, rootTwo))
	tallHalf := e.div(rootY, e.mul(rootR, rootTwo))
	chosen := e.sel(wide, wideHalf, tallHalf)
	plain := e.div(ay, e.mul(u, two))
	half = e.sel(equal, half, e.sel(extreme, chosen, plain))
	re := e.sel(right, value, half)

	negativeX := e.lt(x, zero)
	negativeY := e.lt(y, zero)
	above := e.sel(negativeY, e.neg(value), value)
	return e.complex(re, e.sel(negativeX, above, e.sel(negativeY, e.neg(half), half)))
}
