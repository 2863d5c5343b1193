package legalize

import (
	"github.com/hlocb/hlocb/ir"
)

func besselI1e32(e *emitter, x *ir.Value) *ir.Value {
	return besselI1e(e, x, besselSmall32, besselLarge32)
}

func besselI1e64(e *emitter, x *ir.Value) *ir.Value {
	return besselI1e(e, x, besselSmall64, besselLarge64)
}

// besselI1e computes exp(-|x|) I1(x).
func besselI1e(e *emitter, x *ir.Value, small, large []float64) *ir.Value {
	z := e.abs(x)
	half, two, c32, eight := e.num(0.5, x), e.num(2, x), e.num(32, x), e.num(8, x)
	t := e.mul(half, z)
	t = e.sub(t, two)
	le8 := e.chebyshev(t, small)
	le8 = e.mul(z, le8)
	t = e.div(c32, z)
	t = e.sub(t, two)
	gt8 := e.chebyshev(t, large)
	gt8 = e.div(gt8, e.sqrt(z))
	near := e.le(z, eight)
	chosen := e.sel(near, le8, gt8)
	return e.mul(e.sign(x), chosen)
}

// erf64 computes erf(x) as x T(x*x)/U(x*x) if |x| < 1, and as 1 - erfc(x) otherwise.
func erf64(e *emitter, x *ir.Value) *ir.Value {
	near := erfNear64(e, x)
	one := e.num(1, x)
	far := e.sub(one, erfcFar64(e, x))
	return e.sel(e.lt(e.abs(x), one), near, far)
}

// erfc64 computes erfc(x) as 1 - x T(x*x)/U(x*x) if |x| < 1.
func erfc64(e *emitter, x *ir.Value) *ir.Value {
	far := erfcFar64(e, x)
	one := e.num(1, x)
	near := e.sub(one, erfNear64(e, x))
	return e.sel(e.lt(e.abs(x), one), near, far)
}

// erfNear64 computes erf(x) for |x| <= 1.
func erfNear64(e *emitter, x *ir.Value) *ir.Value {
	sq := e.mul(x, x)
	t := e.mul(x, e.polynomial(sq, erfT64))
	return e.div(t, e.polynomial(sq, erfU64))
}

// erfcFar64 computes erfc(x) for |x| >= 1.
func erfcFar64(e *emitter, x *ir.Value) *ir.Value {
	z := e.neg(e.mul(x, x))
	exp := e.exp(z)
	abs := e.abs(x)
	p := e.mul(exp, e.polynomial(abs, erfcP64))
	to8 := e.div(p, e.polynomial(abs, erfcQ64))
	r := e.mul(exp, e.polynomial(abs, erfcR64))
	from8 := e.div(r, e.polynomial(abs, erfcS64))
	y := e.sel(e.lt(abs, e.num(8, x)), to8, from8)
	return reflectErfc(e, x, z, y, 7.09782712893383996843e2, nil)
}

// reflectErfc returns 0 if z = -x*x underflows the exponential, else y; and 2 - y for negative x.
func reflectErfc(e *emitter, x, z, y *ir.Value, maxLog float64, two *ir.Value) *ir.Value {
	tiny := e.lt(z, e.num(-maxLog, x))
	zero := e.num(0, x)
	y = e.sel(tiny, zero, y)
	negative := e.lt(x, zero)
	if two == nil {
		two = e.num(2, x)
	}
	return e.sel(negative, e.sub(two, y), y)
}

// erf32 computes erf(x) as x alpha(x*x)/beta(x*x), with x clamped to [-4, 4] and the result to [-1, 1].
func erf32(e *emitter, x *ir.Value) *ir.Value {
	lo, hi := e.num(-4, x), e.num(4, x)
	x = e.clamp(lo, x, hi)
	sq := e.mul(x, x)
	alpha, beta := e.polynomial(sq, erfAlpha32), e.polynomial(sq, erfBeta32)
	y := e.div(e.mul(x, alpha), beta)
	lo, hi = e.num(-1, x), e.num(1, x)
	return e.clamp(lo, y, hi)
}

// erfc32 computes erfc(x) as 1 - x T(x*x) if |x| < 1.
func erfc32(e *emitter, x *ir.Value) *ir.Value {
	far := erfcFar32(e, x)
	one := e.num(1, x)
	sq := e.mul(x, x)
	near := e.sub(one, e.mul(x, e.polynomial(sq, erfT32)))
	return e.sel(e.lt(e.abs(x), one), near, far)
}

// erfcFar32 computes erfc(x) for |x| >= 1.
func erfcFar32(e *emitter, x *ir.Value) *ir.Value {
	sq := e.mul(x, x)
	z := e.neg(sq)
	abs := e.abs(x)
	one := e.num(1, x)
	inverse := e.div(one, sq)
	scale := e.exp(z)
	scale = e.mul(scale, e.div(one, abs))
	two := e.num(2, x)
	below := e.lt(abs, two)
	p, r := e.polynomial(inverse, erfcP32), e.polynomial(inverse, erfcR32)
	y := e.mul(scale, e.sel(below, p, r))
	return reflectErfc(e, x, z, y, 88.72283905206835, two)
}

// erfInv32 computes the inverse of erf by Giles's approximation, in w = -log(1 - x*x).
func erfInv32(e *emitter, x *ir.Value) *ir.Value {
	w := e.neg(e.log1p(e.mul(x, e.neg(x))))
	central := e.lt(w, e.num(5, x))
	coefficient := func(i int) *ir.Value {
		return e.sel(central, e.num(erfInvCentral32[i], x), e.num(erfInvTail32[i], x))
	}
	w = e.sel(central, e.sub(w, e.num(2.5, x)), e.sub(e.sqrt(w), e.num(3, x)))
	p := coefficient(0)
	for i := 1; i < len(erfInvCentral32); i++ {
		p = e.add(coefficient(i), e.mul(p, w))
	}
	return erfInvEnds(e, x, p)
}

// erfInvEnds returns p*x, and infinity with the sign of x for |x| = 1.
func erfInvEnds(e *emitter, x, p *ir.Value) *ir.Value {
	y := e.mul(p, x)
	return e.sel(e.eq(e.abs(x), e.num(1, x)), e.mul(x, e.inf(1, x)), y)
}

// erfInv64 is erfInv32 with three intervals of w.
func erfInv64(e *emitter, x *ir.Value) *ir.Value {
	w := e.neg(e.log1p(e.mul(x, e.neg(x))))
	central, middle := e.lt(w, e.num(6.25, x)), e.lt(w, e.num(16, x))
	coefficient := func(i int) *ir.Value {
		c := e.num(erfInvCentral64[i], x)
		if i < len(erfInvMiddle64) {
			c = e.sel(central, c, e.num(erfInvMiddle64[i], x))
		}
		if i < len(erfInvTail64) {
			c = e.sel(middle, c, e.num(erfInvTail64[i], x))
		}
		return c
	}
	root := e.sqrt(w)
	inner := e.sub(w, e.num(3.125, x))
	shift := e.sel(middle, e.num(3.25, w), e.num(5, w))
	w = e.sel(central, inner, e.sub(root, shift))
	p := coefficient(0)
	for i := 1; i < len(erfInvCentral64); i++ {
		next := e.add(coefficient(i), e.mul(p, w))
		switch {
		case i < len(erfInvTail64):
			p = next
		case i < len(erfInvMiddle64):
			p = e.sel(middle, next, p)
		default:
			p = e.sel(central, next, p)
		}
	}
	return erfInvEnds(e, x, p)
}
