package main

import "math"

// magic is 1.5 * 2^52. Adding it to a number below 2^51 leaves the nearest integer in the low bits.
const magic = 0x1.8p52

const (
	signBit = 1 << 63
	oneBits = 0x3ff0000000000000
	// ln 2 in two parts. The first has 32 bits, which makes its products with exponents exact.
	ln2hi = 6.93147180369123816490e-01
	ln2lo = 1.90821492927058770002e-10
)

// whole returns the integer nearest to v, as a float and in the low bits of an integer.
func (p *program) whole(v *node) (f, i *node) {
	i = p.sum(v, c(magic))
	return p.sub(i, c(magic)), i
}

// power2 returns 2^k for k in the low bits of an integer, from -1022 to 1023.
func (p *program) power2(k *node) *node { return p.iadd(p.shl(k, 52), bits(oneBits)) }

// reduced returns r and k with x = k ln 2 + r, |r| < 0.35.
func (p *program) reduced(x *node) (r, kf *node) {
	kf, _ = p.whole(p.mul(x, c(math.Log2E)))
	r = p.fma(kf, c(-ln2hi), x)
	return p.fma(kf, c(-ln2lo), r), kf
}

// factorials returns 1/n!, ..., 1/m! for a polynomial.
func factorials(n, m int) []float64 {
	var out []float64
	for k := n; k >= m; k-- {
		f := 1.0
		for i := 2; i <= k; i++ {
			f *= float64(i)
		}
		out = append(out, 1/f)
	}
	return out
}

// scaled returns v * 2^k in two steps, since 2^k itself may overflow or underflow.
func (p *program) scaled(v, kf *node) *node {
	hf, hi := p.whole(p.mul(kf, c(0.5)))
	rest := p.sum(p.sub(kf, hf), c(magic))
	return p.mul(p.mul(v, p.power2(hi)), p.power2(rest))
}

func (p *program) clamp(x *node, lo, hi float64) *node {
	x = p.sel(p.lt(x, c(lo)), c(lo), x)
	return p.sel(p.lt(c(hi), x), c(hi), x)
}

func (p *program) expOf(x *node) *node {
	r, k := p.reduced(p.clamp(x, -750, 710))
	q := p.horner(r, factorials(13, 1)...)
	return p.scaled(p.fma(q, r, c(1)), k)
}

// expm1Of returns e^x - 1 for x from -60 to 710.
func (p *program) expm1Of(x *node) *node {
	r, kf := p.reduced(x)
	q := p.horner(r, factorials(14, 2)...)
	em := p.fma(p.mul(r, r), q, r)
	// Compute 2 (2^(k-1) em + (2^(k-1) - 1/2)), since 2^k alone may overflow.
	half := p.power2(p.sum(p.sub(kf, c(1)), c(magic)))
	return p.mul(p.fma(half, em, p.sub(half, c(0.5))), c(2))
}

func (p *program) absolute(x *node) *node { return p.and(x, bits(^uint64(signBit))) }
func (p *program) sign(x *node) *node     { return p.and(x, bits(signBit)) }

func exp(p *program, x *node) *node { return p.expOf(x) }

func expm1(p *program, x *node) *node {
	y := p.expm1Of(p.clamp(x, -60, 710))
	return p.sel(p.lt(p.absolute(x), c(0x1p-54)), x, y)
}

// tanh computes tanh |x| as e/(e+2) with e = expm1(2|x|).
func tanh(p *program, x *node) *node {
	a := p.absolute(x)
	a = p.sel(p.lt(c(22), a), c(22), a)
	e := p.expm1Of(p.sum(a, a))
	return p.or(p.div(e, p.sum(e, c(2))), p.sign(x))
}

func logistic(p *program, x *node) *node {
	return p.div(c(1), p.sum(p.expOf(p.xor(x, bits(signBit))), c(1)))
}

func rsqrt(p *program, x *node) *node { return p.div(c(1), p.sqrt(x)) }

// log follows fdlibm's e_log.c: x = 2^k (1+f), s = f/(2+f), log(1+f) = f - (f^2/2 - s (f^2/2 + R(s^2))).
func log(p *program, x *node) *node {
	const root = 0x3fe6a09e667f3bcd // sqrt(1/2)
	small := p.lt(x, c(0x1p-1022))
	v := p.sel(small, p.mul(x, c(0x1p54)), x)
	t := p.iadd(v, bits(oneBits-root))
	kf := p.sub(p.or(p.shr(t, 52), bits(0x4330000000000000)), c(0x1p52+1023))
	kf = p.sel(small, p.sub(kf, c(54)), kf)
	m := p.iadd(p.and(t, bits(1<<52-1)), bits(root))
	f := p.sub(m, c(1))
	s := p.div(f, p.sum(f, c(2)))
	z := p.mul(s, s)
	r := p.mul(z, p.horner(z, 1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
		2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01))
	h := p.mul(p.mul(f, f), c(0.5))
	inner := p.fma(s, p.sum(h, r), p.mul(kf, c(ln2lo)))
	y := p.sub(p.mul(kf, c(ln2hi)), p.sub(p.sub(h, inner), f))
	y = p.sum(y, p.mul(x, c(0))) // keeps NaN
	y = p.sel(p.lt(c(math.MaxFloat64), x), x, y)
	zero := p.sel(p.lt(x, c(0)), bits(0x7ff8000000000001), bits(0xfff0000000000000))
	return p.sel(p.lt(x, c(0x1p-1074)), zero, y)
}

// angle returns sine and cosine of the remainder of x by pi/2, and the quotient in the low bits of an integer. pi/2 is
// subtracted in three parts (Cody and Waite), so |x| is at most 2^20. The polynomials are fdlibm's (k_sin.c, k_cos.c).
func (p *program) angle(x *node) (s, co, n *node) {
	const p1, p2, p3 = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
	nf, n := p.whole(p.mul(x, c(2/math.Pi)))
	t := p.fma(nf, c(-p1), x)
	w := p.mul(nf, c(p2))
	we := p.fma(nf, c(p2), p.xor(w, bits(signBit)))
	r := p.sub(t, w)
	lo := p.sub(p.sub(p.sub(t, r), w), p.fma(nf, c(p3), we))
	z := p.mul(r, r)
	sp := p.horner(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04,
		8.33333333332248946124e-03, -1.66666666666666324348e-01)
	s = p.fma(p.mul(z, r), sp, r)
	cp := p.horner(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05,
		-1.38888888888741095749e-03, 4.16666666666666019037e-02)
	h := p.mul(z, c(0.5))
	one := p.sub(c(1), h)
	co = p.sum(one, p.fma(p.mul(z, z), cp, p.sub(p.sub(c(1), one), h)))
	return p.fma(lo, co, s), p.fma(p.xor(lo, bits(signBit)), s, co), n
}

// turned returns the sine of an angle plus n quarter turns, from the angle's sine and cosine.
func (p *program) turned(s, co, n *node) *node {
	odd := p.lt(p.or(p.shl(n, 63), bits(oneBits)), c(0)) // the lowest bit as a sign
	v := p.sel(odd, co, s)
	return p.xor(v, p.and(p.shl(n, 62), bits(signBit)))
}

func sin(p *program, x *node) *node {
	s, co, n := p.angle(x)
	return p.sel(p.lt(p.absolute(x), c(0x1p-27)), x, p.turned(s, co, n))
}

func cos(p *program, x *node) *node {
	s, co, n := p.angle(x)
	return p.turned(s, co, p.iadd(n, bits(1)))
}
