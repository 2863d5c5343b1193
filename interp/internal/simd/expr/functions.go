package expr

import "math"

// lane holds the constants of a width.
type lane struct {
	sign, one, nan, minusInf uint64
	mantissa                 uint64     // bits
	magic                    float64    // added to a small number, it leaves the nearest integer in the low bits
	max, normal, least       float64    // largest, smallest normal and smallest number
	ln2                      [2]float64 // ln 2 in two parts; the first times an exponent is exact

	exp, expm1   []float64 // (e^r - 1)/r and (e^r - 1 - r)/r^2, |r| < 0.35
	expMin       float64   // e^x is 0 below and infinite above
	expMax       float64
	expm1Min     float64 // e^x - 1 is -1 below
	expm1Tiny    float64 // e^x - 1 is x below
	tanhMax      float64 // tanh is 1 above
	root, count  uint64  // sqrt(1/2); the bits that make an exponent a number
	offset, lift float64 // the number that count adds to an exponent; a power of two that makes small numbers normal
	lifted       float64 // the exponent of lift
	log          []float64
}

// lane returns the constants of the Program's width. The polynomials of f32 interpolate at Chebyshev's points.
func (p *Program) lane() lane {
	if p.Width == 4 {
		return lane{
			sign: 1 << 31, one: 0x3f800000, nan: 0x7fc00000, minusInf: 0xff800000, mantissa: 23, magic: 0x1.8p23,
			max: math.MaxFloat32, normal: 0x1p-126, least: 0x1p-149, ln2: [2]float64{6.9313812256e-01, 9.0580006145e-06},
			exp:    []float64{0.0013933673732931852, 0.008369174671254346, 0.04166646471137908, 0.16666505024508912, 0.5000000013487226, 1},
			expm1:  []float64{0.0001989101718430203, 0.0013933673732931852, 0.00833331090172597, 0.04166646471137908, 0.16666666681647016, 0.5},
			expMin: -104, expMax: 89, expm1Min: -18, expm1Tiny: 0x1p-25, tanhMax: 10,
			root: 0x3f3504f3, count: 0x4b000000, offset: 0x1p23 + 127, lift: 0x1p25, lifted: 25,
			log: []float64{0.24279078841, 0.28498786688, 0.40000972152, 0.66666662693},
		}
	}
	return lane{
		sign: 1 << 63, one: 0x3ff0000000000000, nan: 0x7ff8000000000001, minusInf: 0xfff0000000000000, mantissa: 52, magic: 0x1.8p52,
		max: math.MaxFloat64, normal: 0x1p-1022, least: 0x1p-1074, ln2: [2]float64{6.93147180369123816490e-01, 1.90821492927058770002e-10},
		exp: factorials(13, 1), expm1: factorials(14, 2),
		expMin: -750, expMax: 710, expm1Min: -60, expm1Tiny: 0x1p-54, tanhMax: 22,
		root: 0x3fe6a09e667f3bcd, count: 0x4330000000000000, offset: 0x1p52 + 1023, lift: 0x1p54, lifted: 54,
		log: []float64{1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
			2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01},
	}
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

// whole returns the integer nearest to v, as a float and in the low bits of an integer.
func (p *Program) whole(v *Node) (f, i *Node) {
	i = p.sum(v, p.c(p.lane().magic))
	return p.sub(i, p.c(p.lane().magic)), i
}

// power2 returns 2^k for k in the low bits of an integer.
func (p *Program) power2(k *Node) *Node {
	return p.iadd(p.shl(k, p.lane().mantissa), p.bits(p.lane().one))
}

// reduced returns r and k with x = k ln 2 + r, |r| < 0.35.
func (p *Program) reduced(x *Node) (r, kf *Node) {
	kf, _ = p.whole(p.mul(x, p.c(math.Log2E)))
	r = p.fma(kf, p.c(-p.lane().ln2[0]), x)
	return p.fma(kf, p.c(-p.lane().ln2[1]), r), kf
}

// scaled returns v * 2^k in two steps, since 2^k itself may overflow or underflow.
func (p *Program) scaled(v, kf *Node) *Node {
	hf, hi := p.whole(p.mul(kf, p.c(0.5)))
	rest := p.sum(p.sub(kf, hf), p.c(p.lane().magic))
	return p.mul(p.mul(v, p.power2(hi)), p.power2(rest))
}

func (p *Program) clamp(x *Node, lo, hi float64) *Node {
	x = p.sel(p.lt(x, p.c(lo)), p.c(lo), x)
	return p.sel(p.lt(p.c(hi), x), p.c(hi), x)
}

// expOf returns 2^shift e^x.
func (p *Program) expOf(x *Node, shift float64) *Node {
	l := p.lane()
	r, k := p.reduced(p.clamp(x, l.expMin, l.expMax+1))
	if shift != 0 {
		k = p.sum(k, p.c(shift))
	}
	return p.scaled(p.fma(p.horner(r, l.exp...), r, p.c(1)), k)
}

// halfExpm1Of returns (e^x - 1)/2 for x above -60, or -18 in f32. It does not overflow before e^x does.
func (p *Program) halfExpm1Of(x *Node) *Node {
	l := p.lane()
	r, kf := p.reduced(x)
	em := p.fma(p.mul(r, r), p.horner(r, l.expm1...), r)
	half := p.power2(p.sum(p.sub(kf, p.c(1)), p.c(l.magic)))
	return p.fma(half, em, p.sub(half, p.c(0.5)))
}

func (p *Program) expm1Of(x *Node) *Node {
	l := p.lane()
	y := p.mul(p.halfExpm1Of(p.clamp(x, l.expm1Min, l.expMax)), p.c(2))
	return p.sel(p.lt(p.absolute(x), p.c(l.expm1Tiny)), x, y)
}

func (p *Program) absolute(x *Node) *Node { return p.and(x, p.bits(p.lane().sign-1)) }
func (p *Program) signOf(x *Node) *Node   { return p.and(x, p.bits(p.lane().sign)) }
func (p *Program) negative(x *Node) *Node { return p.xor(x, p.bits(p.lane().sign)) }

// tanhOf computes tanh |x| as e/(e+2) with e = expm1(2|x|).
func (p *Program) tanhOf(x *Node) *Node {
	l := p.lane()
	a := p.absolute(x)
	a = p.sel(p.lt(p.c(l.tanhMax), a), p.c(l.tanhMax), a)
	e := p.mul(p.halfExpm1Of(p.sum(a, a)), p.c(2))
	return p.or(p.div(e, p.sum(e, p.c(2))), p.signOf(x))
}

// logisticOf computes e/(1+e) or 1/(1+e) with e = e^-|x|.
func (p *Program) logisticOf(x *Node) *Node {
	e := p.expOf(p.or(x, p.bits(p.lane().sign)), 0)
	y := p.div(p.sel(p.lt(x, p.c(0)), e, p.c(1)), p.sum(e, p.c(1)))
	return p.sel(p.unord(x, x), x, y)
}

// split returns m and k with x = 2^k m and m from sqrt(1/2) to sqrt(2), for a positive finite number.
func (p *Program) split(x *Node) (m, kf *Node) {
	l := p.lane()
	small := p.lt(x, p.c(l.normal))
	v := p.sel(small, p.mul(x, p.c(l.lift)), x)
	t := p.iadd(v, p.bits(l.one-l.root))
	kf = p.sub(p.or(p.shr(t, l.mantissa), p.bits(l.count)), p.c(l.offset))
	kf = p.sel(small, p.sub(kf, p.c(l.lifted)), kf)
	return p.iadd(p.and(t, p.bits(1<<l.mantissa-1)), p.bits(l.root)), kf
}

// logOf follows fdlibm's e_log.c and e_logf.c: x = 2^k (1+f), s = f/(2+f), log(1+f) = f - (f^2/2 - s (f^2/2 + R(s^2))).
func (p *Program) logOf(x *Node) *Node {
	l := p.lane()
	m, kf := p.split(x)
	f := p.sub(m, p.c(1))
	s := p.div(f, p.sum(f, p.c(2)))
	z := p.mul(s, s)
	r := p.mul(z, p.horner(z, l.log...))
	h := p.mul(p.mul(f, f), p.c(0.5))
	inner := p.fma(s, p.sum(h, r), p.mul(kf, p.c(l.ln2[1])))
	y := p.sub(p.mul(kf, p.c(l.ln2[0])), p.sub(p.sub(h, inner), f))
	y = p.sum(y, p.mul(x, p.c(0))) // keeps NaN
	y = p.sel(p.lt(p.c(l.max), x), x, y)
	zero := p.sel(p.lt(x, p.c(0)), p.bits(l.nan), p.bits(l.minusInf))
	return p.sel(p.lt(x, p.c(l.least)), zero, y)
}

// log1pOf corrects the logarithm of 1+x by the rounding error of the sum.
func (p *Program) log1pOf(x *Node) *Node {
	u := p.sum(x, p.c(1))
	lost := p.sub(x, p.sub(u, p.c(1)))
	l := p.logOf(u)
	y := p.sum(l, p.div(lost, u))
	y = p.sel(p.lt(p.absolute(x), p.c(p.lane().expm1Tiny)), x, y)
	return p.sel(p.mand(p.lt(p.c(p.lane().normal), u), p.le(u, p.c(p.lane().max))), y, p.sel(p.eq(u, x), l, p.sel(p.unord(x, x), x, l)))
}

// sinhOf computes h + h/(2h+1) with h = (e^a - 1)/2.
func (p *Program) sinhOf(x *Node) *Node {
	a := p.absolute(x)
	h := p.halfExpm1Of(p.clamp(a, -1, p.lane().expMax))
	y := p.sum(h, p.div(h, p.fma(h, p.c(2), p.c(1))))
	y = p.sel(p.lt(a, p.c(0x1p-28)), a, y)
	y = p.sel(p.lt(p.c(709), a), p.expOf(a, -1), y)
	return p.or(y, p.signOf(x))
}

func (p *Program) coshOf(x *Node) *Node {
	w := p.expOf(p.absolute(x), -1)
	return p.sum(w, p.div(p.c(0.25), w))
}

// angle returns sine and cosine of the remainder of x by pi/2, and the quotient in the low bits of an integer. pi/2 is
// subtracted in three parts (Cody and Waite), so |x| is at most 2^20. The polynomials are fdlibm's (k_sin.c, k_cos.c).
func (p *Program) angle(x *Node) (s, co, n *Node) {
	const p1, p2, p3 = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
	nf, n := p.whole(p.mul(x, p.c(2/math.Pi)))
	t := p.fma(nf, p.c(-p1), x)
	w := p.mul(nf, p.c(p2))
	we := p.fma(nf, p.c(p2), p.xor(w, p.bits(1<<63)))
	r := p.sub(t, w)
	lo := p.sub(p.sub(p.sub(t, r), w), p.fma(nf, p.c(p3), we))
	z := p.mul(r, r)
	sp := p.horner(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06, -1.98412698298579493134e-04,
		8.33333333332248946124e-03, -1.66666666666666324348e-01)
	s = p.fma(p.mul(z, r), sp, r)
	cp := p.horner(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07, 2.48015872894767294178e-05,
		-1.38888888888741095749e-03, 4.16666666666666019037e-02)
	h := p.mul(z, p.c(0.5))
	one := p.sub(p.c(1), h)
	co = p.sum(one, p.fma(p.mul(z, z), cp, p.sub(p.sub(p.c(1), one), h)))
	return p.fma(lo, co, s), p.fma(p.xor(lo, p.bits(1<<63)), s, co), n
}

// turned returns the sine of an angle plus n quarter turns, from the angle's sine and cosine.
func (p *Program) turned(s, co, n *Node) *Node {
	odd := p.lt(p.or(p.shl(n, 63), p.bits(p.lane().one)), p.c(0)) // the lowest bit as a sign
	v := p.sel(odd, co, s)
	return p.xor(v, p.and(p.shl(n, 62), p.bits(1<<63)))
}

// sineOf returns x itself if the sine rounds to x.
func (p *Program) sineOf(x *Node) *Node {
	s, co, n := p.angle(x)
	return p.sel(p.lt(p.absolute(x), p.c(0x1p-27)), x, p.turned(s, co, n))
}

func (p *Program) cosineOf(x *Node) *Node {
	s, co, n := p.angle(x)
	return p.turned(s, co, p.iadd(n, p.bits(1)))
}

func (p *Program) tangentOf(x *Node) *Node {
	s, co, n := p.angle(x)
	odd := p.lt(p.or(p.shl(n, 63), p.bits(p.lane().one)), p.c(0))
	y := p.div(p.sel(odd, p.negative(co), s), p.sel(odd, s, co))
	return p.sel(p.lt(p.absolute(x), p.c(0x1p-27)), x, y)
}

// angleOf returns the angle of the point (x, y): with n the smaller part and d the larger one, n/d or, above tan(pi/8),
// pi/4 plus the angle of (n-d)/(n+d).
func (p *Program) angleOf(y, x *Node) *Node {
	ax, ay := p.absolute(x), p.absolute(y)
	steep := p.lt(ax, ay)
	n, d := p.sel(steep, ax, ay), p.sel(steep, ay, ax)
	same := p.eq(n, d)                                      // also zeros and infinities
	half := p.sel(p.lt(p.c(0x1p1000), d), p.c(0.5), p.c(1)) // their sum must not overflow
	n, d = p.mul(n, half), p.mul(d, half)
	upper := p.lt(p.mul(d, p.c(math.Sqrt2-1)), n)
	q := p.div(p.sel(upper, p.sub(n, d), n), p.sel(upper, p.sum(n, d), d))
	z := p.mul(q, q)
	t := p.fma(p.mul(q, z), p.horner(z, 0.015099884864821963, -0.03337410224289962, 0.04498908246781451, -0.052171658995952996, 0.05876811026121022,
		-0.06666202887746199, 0.07692280936984261, -0.09090908051683606, 0.1111111108511275, -0.142857142853262, 0.19999999999996984, -0.33333333333333326), q)
	t = p.sel(upper, p.sum(p.sum(t, p.c(3.061616997868383e-17)), p.c(math.Pi/4)), t)
	t = p.sel(same, p.sel(p.lt(p.c(0), d), p.c(math.Pi/4), p.c(0)), t)
	t = p.sel(steep, p.sub(p.c(math.Pi/2), p.sub(t, p.c(6.123233995736766e-17))), t)
	left := p.ilt(x, p.bits(0))
	t = p.sel(left, p.sub(p.c(math.Pi), p.sub(t, p.c(1.2246467991473532e-16))), t)
	t = p.or(t, p.signOf(y))
	return p.sel(p.unord(x, y), p.sum(x, y), t)
}

// cubeRoot computes the root of the mantissa and of a third of the exponent, with two steps of Halley's method.
func (p *Program) cubeRoot(x *Node) *Node { return p.cubeRootOf(x, 2) }

func (p *Program) cubeRootOf(x *Node, steps int) *Node {
	l := p.lane()
	a := p.absolute(x)
	v := a
	small := p.lt(a, p.c(l.normal))
	if steps > 1 { // else a has the range of f32
		v = p.sel(small, p.mul(a, p.c(l.lift)), a)
	}
	t := p.iadd(v, p.bits(l.one-l.root))
	kf := p.sub(p.or(p.shr(t, l.mantissa), p.bits(l.count)), p.c(l.offset))
	m := p.iadd(p.and(t, p.bits(1<<l.mantissa-1)), p.bits(l.root))
	qf := p.round(1, p.mul(p.sum(kf, p.c(0.5)), p.c(1.0/3)))
	rest := p.fma(qf, p.c(-3), kf) // 0, 1 or 2
	one, two := p.lt(rest, p.c(1)), p.lt(rest, p.c(2))
	m2 := p.mul(m, p.sel(one, p.c(1), p.sel(two, p.c(2), p.c(4))))
	y := p.horner(m, -0.03620010175855689, 0.2103513032100199, -0.5256005450566293, 0.8981809263807481, 0.4532758395601006)
	y = p.mul(y, p.sel(one, p.c(1), p.sel(two, p.c(1.2599210498948732), p.c(1.5874010519681994))))
	for range steps {
		cube := p.mul(p.mul(y, y), y)
		y = p.fma(y, p.div(p.sub(m2, cube), p.fma(p.c(2), cube, m2)), y)
	}
	scale := p.power2(p.sum(qf, p.c(l.magic)))
	if steps > 1 {
		scale = p.sel(small, p.mul(scale, p.c(0x1p-18)), scale) // the cube root of 1/lift in f64
	}
	y = p.mul(y, scale)
	special := p.mor(p.eq(a, p.c(0)), p.mnot(p.le(a, p.c(l.max))))
	return p.or(p.sel(special, a, y), p.signOf(x))
}

// errorFunction32 computes x times a polynomial of x^2 for |x| below 1, and 1 - 2^q with a polynomial q of |x| above 1.
// The power is below 0.16, so its last digits do not matter.
func (p *Program) errorFunction32(x *Node) *Node {
	a := p.absolute(x)
	z := p.mul(x, x)
	small := p.mul(x, p.horner(z, 7.875875062685488e-05, -0.000801686428716587, 0.005189087423433974, -0.026854212010626412, 0.11283594715160218, -0.37612626666720334, 1.1283791658483509))
	b := p.sel(p.lt(p.c(4), a), p.c(4), a)
	q := p.horner(b, 2.3704397879297447e-06, -6.660036990693954e-05, 0.0008621340272169688, -0.006871016670176164, 0.038127021063810475, -0.1588222091685761,
		-0.9115292333662137, -1.6305787384291925, 0.00045955559128860624)
	kf, k := p.whole(q)
	e := p.horner(p.sub(q, kf), 0.0013390863364671234, 0.009676031918322054, 0.05550357114219078, 0.2402210748530834, 0.6931471880262288, 1.0000000754548972)
	large := p.or(p.sub(p.c(1), p.iadd(e, p.shl(k, p.lane().mantissa))), p.signOf(x))
	y := p.sel(p.lt(a, p.c(1)), small, large)
	return p.sel(p.unord(x, x), x, y)
}

// tailOf returns erfc(a) for a of 0.5 and more: e^(-a^2)/(1+2a) times a minimax polynomial in (a-4)/(a+4).
func (p *Program) tailOf(a *Node) *Node {
	a = p.clamp(a, 0.5, 28)
	t := p.div(p.sub(a, p.c(4)), p.sum(a, p.c(4)))
	q := p.horner(t, 1.5219277812612269e-09, 2.409489044428507e-09, -1.4704421774400366e-08, -1.9736872590355543e-08,
		1.105584872255078e-07, 7.714626220432877e-08, -8.255322259262831e-07, 2.9184665855580794e-07, 5.709619407460769e-06,
		-1.1221081791490601e-05, -2.439911565558233e-05, 0.00015062138417805605, -0.0001992567302266955, -0.0007577732313710945,
		0.005031969984911938, -0.016197734064788704, 0.03716751553673969, -0.06633036581171674, 0.09373283499839091,
		-0.10103906603632293, 0.06809705425469167, 0.015379652102620016, -0.1396211168405625, 1.2329951186255526)
	h := p.mul(a, a)
	lost := p.fma(a, a, p.negative(h))
	e := p.expOf(p.negative(h), 0)
	e = p.sub(e, p.mul(e, lost))
	return p.mul(e, p.div(q, p.fma(a, p.c(2), p.c(1))))
}

// errorFunction computes a polynomial in x^2 for |x| below 1, else 1 - erfc(x).
func (p *Program) errorFunction(x *Node) *Node { return p.errorOf(x, p.tailOf(p.absolute(x))) }

// errorOf returns the error function, given tailOf(|x|).
func (p *Program) errorOf(x, tail *Node) *Node {
	a := p.absolute(x)
	z := p.mul(x, x)
	small := p.fma(x, p.horner(z, 5.957176147748911e-11, -1.1372848856791674e-09, 1.4659775274047436e-08, -1.6350312701054695e-07,
		1.6461000484121368e-06, -1.4925595266831182e-05, 0.0001205533111164271, -0.000854832698083379, 0.0052239776248180145,
		-0.026866170645076792, 0.11283791670954879, -0.3761263890318375, 0.1283791670955126), x)
	y := p.sel(p.lt(a, p.c(1)), small, p.or(p.sub(p.c(1), tail), p.signOf(x)))
	return p.sel(p.unord(x, x), x, y)
}

func (p *Program) complementOf(x *Node) *Node {
	tail := p.tailOf(p.absolute(x))
	y := p.sel(p.lt(x, p.c(0.5)), p.sub(p.c(1), p.errorOf(x, tail)), tail)
	y = p.sel(p.lt(p.c(28), x), p.c(0), y)
	return p.sel(p.unord(x, x), x, y)
}

// complement32 computes erfc to the digits of f32. Below 1/2 it is one minus x times a polynomial of x^2, else the form
// of tailOf, in which the square of an f32 is exact. The polynomials interpolate at Chebyshev's points.
func (p *Program) complement32(x *Node) *Node {
	x2, a := p.mul(x, x), p.clamp(p.absolute(x), 0.5, 11)
	small := p.mul(x, p.horner(x2, -0.0007694534279142308, 0.005200413724335493, -0.026863143032249386, 0.11283774013179539, -0.37612638525650693, 1.1283791670824095))
	n, d := p.fma(a, p.c(2), p.c(1)), p.sum(a, p.c(4))
	w := p.div(p.c(1), p.mul(n, d)) // one division for both quotients
	t := p.mul(p.mul(p.sub(a, p.c(4)), n), w)
	q := p.horner(t, -0.0004902844401672182, -0.0008210023700135498, 0.005181013736325449, -0.016129335902126563, 0.0371406192293942, -0.06634658640234112,
		0.09373482839550223, -0.1010375857069465, 0.06809699707542591, 0.015379605223464434, -0.1396211163070447, 1.2329951188624557)
	tail := p.mul(p.exp32(p.negative(p.mul(a, a))), p.mul(q, p.mul(d, w)))
	tail = p.sel(p.lt(x, p.c(0)), p.sub(p.c(2), tail), tail)
	y := p.sel(p.lt(p.absolute(x), p.c(0.5)), p.sub(p.c(1), small), tail)
	return p.sel(p.unord(x, x), x, y)
}

// inverseError computes x times a polynomial of w = -log(1 - x^2), or above 6.25 and 16 of its root (Giles).
func (p *Program) inverseError(x *Node) *Node {
	w := p.negative(p.log1pOf(p.negative(p.mul(x, x))))
	root := p.sqrt(w)
	central := p.horner(p.sub(w, p.c(3.125)), -3.6444120640178196996e-21, -1.685059138182016589e-19, 1.2858480715256400167e-18, 1.115787767802518096e-17,
		-1.333171662854620906e-16, 2.0972767875968561637e-17, 6.6376381343583238325e-15, -4.0545662729752068639e-14, -8.1519341976054721522e-14,
		2.6335093153082322977e-12, -1.2975133253453532498e-11, -5.4154120542946279317e-11, 1.051212273321532285e-09, -4.1126339803469836976e-09,
		-2.9070369957882005086e-08, 4.2347877827932403518e-07, -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352,
		-0.00074070253416626697512, -0.0060336708714301490533, 0.24015818242558961693, 1.6536545626831027356)
	middle := p.horner(p.sub(root, p.c(3.25)), 2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07, 1.8239629214389227755e-08,
		1.5027403968909827627e-06, -4.013867526981545969e-06, 2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
		6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796, 0.00095328937973738049703, -0.0016882755560235047313,
		0.0024914420961078508066, -0.0037512085075692412107, 0.005370914553590063617, 1.0052589676941592334, 3.0838856104922207635)
	tail := p.horner(p.sub(root, p.c(5)), -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09, -3.7894654401267369937e-09,
		7.6157012080783393804e-09, -1.4960026627149240478e-08, 2.9147953450901080826e-08, -6.7711997758452339498e-08, 2.2900482228026654717e-07,
		-9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05, 7.5995277030017761139e-05, -0.00021503011930044477347,
		-0.00013871931833623122026, 1.0103004648645343977, 4.8499064014085844221)
	return p.inverseErrorOf(x, p.sel(p.lt(w, p.c(6.25)), central, p.sel(p.lt(w, p.c(16)), middle, tail)))
}

// chebyshev returns a series of Chebyshev's polynomials (Cephes, chbevl.c), highest coefficient first, without the
// first terms below least.
func (p *Program) chebyshev(least float64, x *Node, coefficients ...float64) *Node {
	for math.Abs(coefficients[0]) < least {
		coefficients = coefficients[1:]
	}
	b0, b1, b2 := p.c(coefficients[0]), p.c(0), p.c(0)
	for _, v := range coefficients[1:] {
		b0, b1, b2 = p.fma(x, b0, p.sub(p.c(v), b1)), b0, b1
	}
	return p.mul(p.sub(b0, b2), p.c(0.5))
}

// bessel1Of computes e^-|x| I1(x) (Cephes, i1.c), without the terms of the series below least.
func (p *Program) bessel1Of(x *Node, least float64) *Node {
	a := p.absolute(x)
	near := p.mul(a, p.chebyshev(least, p.sub(p.mul(a, p.c(0.5)), p.c(2)), 2.77791411276104639959e-18, -2.11142121435816608115e-17, 1.55363195773620046921e-16,
		-1.10559694773538630805e-15, 7.60068429473540693410e-15, -5.04218550472791168711e-14, 3.22379336594557470981e-13, -1.98397439776494371520e-12,
		1.17361862988909016308e-11, -6.66348972350202774223e-11, 3.62559028155211703701e-10, -1.88724975172282928790e-9, 9.38153738649577178388e-9,
		-4.44505912879632808065e-8, 2.00329475355213526229e-7, -8.56872026469545474066e-7, 3.47025130813767847674e-6, -1.32731636560394358279e-5,
		4.78156510755005422638e-5, -1.61760815825896745588e-4, 5.12285956168575772895e-4, -1.51357245063125314899e-3, 4.15642294431288815669e-3,
		-1.05640848946261981558e-2, 2.47264490306265168283e-2, -5.29459812080949914269e-2, 1.02643658689847095384e-1, -1.76416518357834055153e-1,
		2.52587186443633654823e-1))
	b := p.sel(p.lt(a, p.c(8)), p.c(8), a)
	far := p.div(p.chebyshev(least, p.sub(p.div(p.c(32), b), p.c(2)), 7.51729631084210481353e-18, 4.41434832307170791151e-18, -4.65030536848935832153e-17,
		-3.20952592199342395980e-17, 2.96262899764595013876e-16, 3.30820231092092828324e-16, -1.88035477551078244854e-15, -3.81440307243700780478e-15,
		1.04202769841288027642e-14, 4.27244001671195135429e-14, -2.10154184277266431302e-14, -4.08355111109219731823e-13, -7.19855177624590851209e-13,
		2.03562854414708950722e-12, 1.41258074366137813316e-11, 3.25260358301548823856e-11, -1.89749581235054123450e-11, -5.58974346219658380687e-10,
		-3.83538038596423702205e-9, -2.63146884688951950684e-8, -2.51223623787020892529e-7, -3.88256480887769039346e-6, -1.10588938762623716291e-4,
		-9.76109749136146840777e-3, 7.78576235018280120474e-1), p.sqrt(b))
	y := p.or(p.sel(p.lt(p.c(8), a), far, near), p.signOf(x))
	return p.sel(p.unord(x, x), x, y)
}

// integerPower computes x^y by squaring, for exponents below 2^bits. A negative power of a base other than 1 and -1 is
// 0.
func (p *Program) integerPower(x, y *Node, bits uint64) *Node {
	one, minus := p.bits(1), p.bits(0xffffffff)
	odd := p.ilt(p.shl(y, 31), p.bits(0))
	r, base := p.sel(odd, x, one), x
	small := p.sel(p.mor(p.ieq(x, one), p.ieq(x, minus)), r, p.bits(0))
	for k := uint64(1); k < bits; k++ {
		base = p.imul(base, base)
		bit := p.vsar(p.shl(y, 31-k), p.bits(31))
		r = p.imul(r, p.iadd(p.and(p.isub(base, one), bit), one))
	}
	return p.sel(p.ilt(y, p.bits(0)), small, r)
}

// reducedOf rounds the bits of an f32 to 23-shift mantissa bits, then to eb exponent bits if they are fewer than 8.
func (p *Program) reducedOf(x, shift, eb *Node) *Node {
	u, inf, one := p.absolute(x), p.bits(0x7f800000), p.bits(1)
	unit := p.vshl(one, shift)
	r := p.iadd(u, p.iadd(p.isub(p.shr(unit, 1), one), p.and(p.vshr(u, shift), one)))
	r = p.sel(p.ieq(shift, p.bits(0)), u, p.and(r, p.isub(p.bits(0), unit)))
	reduced, narrow := p.isub(p.vshl(one, p.isub(eb, one)), one), p.ilt(eb, p.bits(8))
	least, most := p.shl(p.isub(p.bits(128), reduced), 23), p.shl(p.iadd(p.bits(128), reduced), 23)
	r = p.sel(p.mand(narrow, p.ilt(r, least)), p.bits(0), p.sel(p.mand(narrow, p.mnot(p.ilt(r, most))), inf, r))
	r = p.sel(p.ilt(u, inf), r, p.sel(p.ieq(shift, p.bits(23)), inf, u)) // infinities and NaN
	return p.or(r, p.signOf(x))
}

// power64 computes e^(y log |x|), with the logarithm and the product as sums of two numbers. With s = f/(2+f), the
// logarithm of 1+f is 2s + 2s (z/3 + z^2/5 + ...), z = s^2.
func (p *Program) power64(x, y *Node) *Node {
	l, inf := p.lane(), p.bits(0x7ff0000000000000)
	a := p.absolute(x)
	m, kf := p.split(a)
	f := p.sub(m, p.c(1))
	d := p.sum(f, p.c(2))
	s := p.div(f, d)
	sl := p.div(p.sub(p.fma(p.negative(s), d, f), p.mul(s, p.sub(f, p.sub(d, p.c(2))))), d)
	z := p.mul(s, s)
	zl := p.fma(p.sum(s, s), sl, p.fma(s, s, p.negative(z)))
	t := p.mul(z, p.horner(z, 1.0/27, 1.0/25, 1.0/23, 1.0/21, 1.0/19, 1.0/17, 1.0/15, 1.0/13, 1.0/11, 1.0/9, 1.0/7, 1.0/5))
	q, ql := p.fastSum(p.c(1.0/3), t)
	h, hl := p.product(z, q, p.fma(z, p.sum(ql, p.c(1.850371707708594e-17)), p.mul(zl, q)))
	h, hl = p.product(s, h, p.fma(s, hl, p.mul(sl, h)))
	u, ul := p.fastSum(s, h)
	ul = p.sum(ul, p.sum(sl, hl))
	v, vl := p.fastSum(p.mul(kf, p.c(l.ln2[0])), p.sum(u, u)) // the first is exact
	v, vl = p.fastSum(v, p.sum(vl, p.fma(kf, p.c(l.ln2[1]), p.sum(ul, ul))))
	v = p.sel(p.lt(a, p.c(l.least)), p.bits(l.minusInf), p.sel(p.lt(a, inf), v, a))

	w, wl := p.product(y, v, p.mul(y, vl))
	near := p.lt(p.absolute(w), p.c(800))
	w = p.clamp(w, l.expMin, l.expMax+1)
	kf, _ = p.whole(p.mul(w, p.c(math.Log2E)))
	r := p.fma(kf, p.c(-l.ln2[0]), w)
	r, rl := p.fastSum(r, p.sum(p.mul(kf, p.c(-l.ln2[1])), p.sel(near, wl, p.c(0))))
	e := p.horner(r, l.exp[:len(l.exp)-1]...)
	e = p.sum(p.c(1), p.sum(r, p.fma(p.mul(r, r), e, rl)))
	return p.powerOf(x, y, p.scaled(e, kf))
}

// fastSum returns a+b and its rounding error, for |a| >= |b| or a = 0.
func (p *Program) fastSum(a, b *Node) (sum, rest *Node) {
	sum = p.sum(a, b)
	return sum, p.sum(p.sub(a, sum), b)
}

// product returns a*b and its rounding error plus c.
func (p *Program) product(a, b, c *Node) (product, rest *Node) {
	product = p.mul(a, b)
	return product, p.sum(p.fma(a, b, p.negative(product)), c)
}

// powerOf returns x^y, given |x|^y: IEEE 754's signs and special values.
func (p *Program) powerOf(x, y, r *Node) *Node {
	a := p.absolute(x)
	whole := p.eq(p.round(3, y), y)
	half := p.mul(y, p.c(0.5))
	odd := p.mand(whole, p.mnot(p.eq(p.round(3, half), half)))
	r = p.sel(odd, p.or(r, p.signOf(x)), r)
	r = p.sel(p.mand(p.lt(x, p.c(0)), p.mnot(p.mor(whole, p.mnot(p.lt(a, p.bits(0x7ff0000000000000)))))), p.bits(p.lane().nan), r)
	r = p.sel(p.unord(x, y), p.bits(p.lane().nan), r)
	minus := p.mand(p.eq(x, p.c(-1)), p.eq(p.absolute(y), p.bits(0x7ff0000000000000)))
	return p.sel(p.mor(p.mor(p.eq(y, p.c(0)), p.eq(x, p.c(1))), minus), p.c(1), r)
}
