package legalize

import (
	"math"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Inverse trigonometric and hyperbolic functions. The algorithms are those of StableHLO's math library, which
// derives them from Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine functions using
// exception handling".

// greatest returns the greatest finite number of a float type.
func greatest(d tensor.DType) float64 {
	switch d {
	case tensor.F64:
		return math.MaxFloat64
	case tensor.F32:
		return math.MaxFloat32
	}
	best := 0.0
	for code := range 1 << d.Bits() {
		if v := tensor.DecodeFloat(d, uint64(code)); v > best && !math.IsInf(v, 0) {
			best = v
		}
	}
	return best
}

// smallestNormal returns the least positive normal number of a float type.
func smallestNormal(d tensor.DType) float64 {
	switch d {
	case tensor.F64:
		return 0x1p-1022
	case tensor.F32, tensor.BF16:
		return 0x1p-126
	case tensor.F16:
		return 0x1p-14
	}
	return smallest(d)
}

func (e *emitter) greatest(like *ir.Value) *ir.Value { return e.num(greatest(dtypeOf(like)), like) }

// hypotenuse computes sqrt(a*a + b*b) of a, b >= 0 without overflow.
func (c *constants) hypotenuse(e *emitter, a, b *ir.Value) *ir.Value {
	mx := e.max(a, b)
	mn := e.min(a, b)
	equal := e.eq(mx, mn)
	diagonal := e.mul(c.get(e, &c.rootTwo, math.Sqrt2), mx)
	one := c.get(e, &c.one, 1)
	q := e.div(mn, mx)
	r := e.mul(q, q)
	root := e.sqrt(e.add(one, r))
	rounded := e.eq(root, one)
	small := e.and(rounded, e.gt(r, c.get(e, &c.zero, 0)))
	scaled := e.mul(mx, r)
	near := e.add(mx, e.div(scaled, c.get(e, &c.two, 2)))
	return e.sel(equal, diagonal, e.sel(small, near, e.mul(mx, root)))
}

// constants holds the constants that the parts of an expansion share. Each is inserted before its first use.
type constants struct{ like, one, rootTwo, zero, two *ir.Value }

// get returns the constant at p, whose value is v.
func (c *constants) get(e *emitter, p **ir.Value, v float64) *ir.Value {
	if *p == nil {
		*p = e.num(v, c.like)
	}
	return *p
}

// asinAcosKernel computes sqrt(a*a - x*x) + i log(a + sqrt(a*a - 1)) of z = x + iy, where
// a = (hypot(x + 1, y) + hypot(x - 1, y))/2. Asin, acos and their hyperbolic counterparts follow from it.
func asinAcosKernel(e *emitter, z *ir.Value) *ir.Value {
	signedX := e.real(z)
	x := e.abs(signedX)
	signedY := e.imag(z)
	y := e.abs(signedY)
	mx := e.max(x, y)
	root := e.sqrt(e.greatest(signedX))
	safeMax := e.div(root, e.num(8, signedX))
	huge := e.ge(mx, safeMax)

	c := &constants{like: signedX, one: e.num(1, signedX)}
	one := c.one
	inside := e.le(x, one)
	half := e.num(0.5, signedX)
	xp1 := e.add(x, one)
	r := c.hypotenuse(e, e.abs(xp1), y)
	xm1 := e.sub(x, one)
	s := c.hypotenuse(e, e.abs(xm1), y)
	a := e.mul(half, e.add(r, s))
	halfApx := e.mul(half, e.add(a, x))
	yy := e.mul(y, y)
	rpxp1 := e.add(r, xp1)
	fraction := e.div(yy, rpxp1)
	smxm1 := e.sub(s, xm1)
	low := e.sqrt(e.mul(halfApx, e.add(fraction, smxm1)))
	left := e.div(halfApx, rpxp1)
	spxm1 := e.add(s, xm1)
	high := e.mul(y, e.sqrt(e.add(left, e.div(halfApx, spxm1))))
	re := e.sel(huge, y, e.sel(inside, low, high))

	wide := e.lt(x, e.mul(safeMax, e.num(1e12, signedX)))
	near := e.mul(safeMax, e.num(1e-6, signedX))
	limit := e.sel(wide, near, e.mul(safeMax, e.num(100, signedX)))
	tall := e.ge(y, limit)
	larger := e.sel(tall, y, x)
	far := e.ge(larger, e.sel(tall, limit, safeMax))
	logs := e.add(e.log(c.two), e.log(larger))
	finite := e.not(e.eq(y, e.inf(1, signedY)))
	quotient := e.sel(e.and(tall, finite), e.div(x, y), c.zero)
	big := e.add(logs, e.mul(half, e.log1p(e.mul(quotient, quotient))))
	tiny := e.sqrt(e.num(smallestNormal(dtypeOf(signedX)), signedX))
	flat := e.lt(y, e.mul(tiny, e.num(4, signedX)))
	flat = e.and(flat, e.lt(x, one))
	product := e.mul(xp1, xm1)
	ap1 := e.add(a, one)
	first := e.neg(e.div(product, ap1))
	outside := e.ge(x, one)
	halfYY := e.mul(half, yy)
	share := e.div(halfYY, rpxp1)
	second := e.add(share, e.mul(half, spxm1))
	close := e.le(a, e.num(1.5, signedX))
	third := e.add(share, e.div(halfYY, smxm1))
	am1 := e.sel(flat, first, e.sel(outside, second, e.sel(close, third, e.sub(a, one))))
	sq := e.sqrt(e.mul(am1, ap1))
	line := e.div(y, sq)
	im := e.sel(far, big, e.sel(flat, line, e.log1p(e.add(am1, sq))))
	return e.complex(re, im)
}

func (e *emitter) kernel(z *ir.Value) *ir.Value { return e.typed(chlo.AsinAcosKernel, z.Type(), z) }

// asinComplex computes atan2(re z, re w) + i sign(im z) im w with w = asinAcosKernel(z).
func asinComplex(e *emitter, z *ir.Value) *ir.Value {
	x := e.real(z)
	w := e.kernel(z)
	re := e.atan2(x, e.real(w))
	y := e.imag(z)
	negative := e.lt(y, e.num(0, x))
	im := e.imag(w)
	return e.complex(re, e.sel(negative, e.neg(im), im))
}

// asinReal computes 2 atan2(x, 1 + sqrt((1 - x)(1 + x))).
func asinReal(e *emitter, x *ir.Value) *ir.Value {
	one := e.num(1, x)
	left := e.sub(one, x)
	root := e.sqrt(e.mul(left, e.add(one, x)))
	half := e.atan2(x, e.add(one, root))
	return e.add(half, half)
}

// acosComplex computes atan2(re w, re z) - i sign(im z) im w with w = asinAcosKernel(z).
func acosComplex(e *emitter, z *ir.Value) *ir.Value {
	w := e.kernel(z)
	re := e.real(w)
	re = e.atan2(re, e.real(z))
	y := e.imag(z)
	negative := e.lt(y, e.num(0, y))
	im := e.imag(w)
	return e.complex(re, e.sel(negative, im, e.neg(im)))
}

// acosReal computes atan2(sqrt((1 - x)(1 + x)), x).
func acosReal(e *emitter, x *ir.Value) *ir.Value {
	one := e.num(1, x)
	left := e.sub(one, x)
	return e.atan2(e.sqrt(e.mul(left, e.add(one, x))), x)
}

// acoshComplex computes im w + i sign(im z) atan2(re w, re z) with w = asinAcosKernel(z).
func acoshComplex(e *emitter, z *ir.Value) *ir.Value {
	w := e.kernel(z)
	re := e.imag(w)
	y := e.imag(z)
	negative := e.lt(y, e.num(0, y))
	reW := e.real(w)
	im := e.atan2(reW, e.real(z))
	return e.complex(re, e.sel(negative, e.neg(im), im))
}

// acoshReal computes log1p(sqrt(x - 1) (sqrt(x + 1) + sqrt(x - 1))), and log(2) + log(x) if the product may overflow.
func acoshReal(e *emitter, x *ir.Value) *ir.Value {
	max := e.greatest(x)
	two := e.num(2, x)
	large := e.ge(x, e.div(max, two))
	logs := e.add(e.log(two), e.log(x))
	one := e.num(1, x)
	root := e.sqrt(e.sub(x, one))
	return e.sel(large, logs, e.log1p(e.mul(root, e.add(e.sqrt(e.add(x, one)), root))))
}

// asinhComplex computes sign(re z) im w + i atan2(im z, re w) with w = asinAcosKernel(iz).
func asinhComplex(e *emitter, z *ir.Value) *ir.Value {
	x := e.real(z)
	negative := e.lt(x, e.num(0, x))
	y := e.imag(z)
	w := e.kernel(e.complex(e.neg(y), x))
	im := e.imag(w)
	re := e.sel(negative, e.neg(im), im)
	return e.complex(re, e.atan2(y, e.real(w)))
}

// asinhReal computes sign(x) log1p(|x| + x*x/(1 + sqrt(1 + x*x))), and sign(x) (log(2) + log|x|) if x*x overflows.
func asinhReal(e *emitter, x *ir.Value) *ir.Value {
	sign := e.sign(x)
	abs := e.abs(x)
	large := e.ge(abs, e.sqrt(e.greatest(x)))
	logs := e.log(e.num(2, x))
	logs = e.add(logs, e.log(abs))
	sq := e.mul(abs, abs)
	one := e.num(1, x)
	fraction := e.div(sq, e.add(one, e.sqrt(e.add(one, sq))))
	return e.mul(sign, e.sel(large, logs, e.log1p(e.add(abs, fraction))))
}

func atanReal(e *emitter, x *ir.Value) *ir.Value { return e.atan2(x, e.num(1, x)) }

// atanComplex computes -i atanh(iz).
func atanComplex(e *emitter, z *ir.Value) *ir.Value {
	turned := e.neg(e.imag(z))
	turned = e.complex(turned, e.real(z))
	w := e.typed(chlo.Atanh, z.Type(), turned)
	re := e.imag(w)
	return e.complex(re, e.neg(e.real(w)))
}

// atanhReal computes (log1p(x) - log1p(-x))/2, and NaN if |x| > 1.
func atanhReal(e *emitter, x *ir.Value) *ir.Value {
	abs := e.abs(x)
	outside := e.gt(abs, e.num(1, x))
	nan := e.nan(x)
	up := e.log1p(x)
	diff := e.sub(up, e.log1p(e.neg(x)))
	return e.sel(outside, nan, e.mul(diff, e.num(0.5, x)))
}

// atanhComplex computes
//
//	re = sign(x) log1p(4|x|/((|x| - 1)^2 + y^2))/4
//	im = atan2(2y, (1 - |x|)(1 + |x|) - y^2)/2
//
// and their limits for large |x| or |y|.
func atanhComplex(e *emitter, z *ir.Value) *ir.Value {
	x := e.real(z)
	zero := e.num(0, x)
	right := e.ge(x, zero)
	one, minusOne := e.num(1, x), e.num(-1, x)
	sign := e.sel(right, one, minusOne)
	four := e.num(4, x)
	ax := e.abs(x)
	max := e.greatest(x)
	double := e.gt(max, e.num(1e308, x))
	eps64 := e.num(9007199254740994, x)
	single := e.gt(max, e.num(1e38, x))
	eps32 := e.num(16777218, x)
	inverse := e.sel(double, eps64, e.sel(single, eps32, e.num(2050, x))) // 1/epsilon of the type
	safe := e.mul(inverse, inverse)
	near := e.lt(ax, safe)
	y := e.imag(z)
	ay := e.abs(y)
	near = e.and(near, e.lt(ay, safe))
	gap := e.sub(one, ax)
	gapSq := e.mul(gap, gap)
	ySq := e.mul(y, y)
	main := e.div(ax, e.add(gapSq, ySq))
	flat := e.lt(e.mul(ay, inverse), ax)
	flatValue := e.div(one, ax)
	posInf := e.inf(1, x)
	infX := e.eq(x, posInf)
	negInf := e.inf(-1, x)
	infX = e.or(infX, e.eq(x, negInf))
	infY := e.eq(y, posInf)
	infinite := e.or(infX, e.or(infY, e.eq(y, negInf)))
	slope := e.div(ax, y)
	limit := e.div(e.div(one, e.add(slope, e.div(y, ax))), y)
	argument := e.sel(near, main, e.sel(flat, flatValue, e.sel(infinite, zero, limit)))
	re := e.mul(sign, e.log1p(e.mul(four, argument)))
	re = e.mul(re, e.num(0.25, x))
	twice := e.add(y, y)
	angle := e.atan2(twice, e.sub(e.mul(gap, e.add(one, ax)), ySq))
	upper := e.ge(y, e.num(0, y))
	quarter := e.sel(upper, one, minusOne)
	im := e.sel(near, angle, e.mul(quarter, e.num(math.Pi, x)))
	return e.complex(re, e.mul(im, e.num(0.5, x)))
}

// squareComplex computes (x - y)(x + y) + 2ixy; the real part of |x| = |y| is 0.
func squareComplex(e *emitter, z *ir.Value) *ir.Value {
	x := e.real(z)
	finite := e.isFinite(x)
	abs := e.abs(x)
	y := e.imag(z)
	diagonal := e.and(finite, e.eq(abs, e.abs(y)))
	zero := e.num(0, x)
	diff := e.sub(x, y)
	re := e.sel(diagonal, zero, e.mul(diff, e.add(x, y)))
	two := e.num(2, x)
	return e.complex(re, e.mul(two, e.mul(x, y)))
}

func squareReal(e *emitter, x *ir.Value) *ir.Value { return e.mul(x, x) }

func conjComplex(e *emitter, z *ir.Value) *ir.Value {
	re := e.real(z)
	return e.complex(re, e.neg(e.imag(z)))
}

func conjReal(_ *emitter, x *ir.Value) *ir.Value { return x }
