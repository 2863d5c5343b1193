package special

import (
	"math"
	"math/big"
	"sync"
)

// digits is arithmetic with more digits than float64 has. Near their zeros, some functions are a difference of large
// terms. They are written once and used with two types: a word, whose 100 bits suffice except right next to a zero, and
// a wide number, which is slow but has enough bits there too.
type digits[T any] interface {
	of(v float64) T // v as a T, whatever the receiver
	add(T) T
	mul(T) T
	quo(T) T
	neg() T
	scale(k int) T // times 2^k
	value() float64
	bits() int // number of correct bits of a result
	edge() float64
	constants() *constants[T]
}

// constants holds the constants of the series, in the precision of T.
type constants[T any] struct {
	pi, ln2 T
	// bernoulli holds the Bernoulli numbers of even index, from 2 on.
	bernoulli []T
}

func (word) of(v float64) word { return word{v, 0} }

// quo returns x/y, computed by three steps of long division.
func (x word) quo(y word) word {
	q := x.hi / y.hi
	r := x.add(y.times(-q))
	q2 := r.hi / y.hi
	r = r.add(y.times(-q2))
	w := fastSum(q, q2)
	return fastSum(w.hi, w.lo+r.hi/y.hi)
}

func (x word) scale(k int) word { return word{math.Ldexp(x.hi, k), math.Ldexp(x.lo, k)} }

func (x word) value() float64 { return x.hi }

func (word) bits() int { return 106 }

func (word) edge() float64 { return 20 }

func (word) constants() *constants[word] { return wordConstants() }

// wide is a number of 256 bits. It uses math/big, whose results are the same on every processor.
type wide struct{ f *big.Float }

const wideBits = 256

func newWide() *big.Float { return new(big.Float).SetPrec(wideBits) }

func (wide) of(v float64) wide { return wide{newWide().SetFloat64(v)} }

func (x wide) add(y wide) wide { return wide{newWide().Add(x.f, y.f)} }

func (x wide) mul(y wide) wide { return wide{newWide().Mul(x.f, y.f)} }

func (x wide) quo(y wide) wide { return wide{newWide().Quo(x.f, y.f)} }

func (x wide) neg() wide { return wide{newWide().Neg(x.f)} }

func (x wide) scale(k int) wide { return wide{newWide().SetMantExp(x.f, k)} }

func (x wide) value() float64 { v, _ := x.f.Float64(); return v }

func (wide) bits() int { return 200 }

func (wide) edge() float64 { return 32 }

func (wide) constants() *constants[wide] { return wideConstants() }

var wideConstants = sync.OnceValue(func() *constants[wide] {
	c := &constants[wide]{pi: wide{newWide().SetMantExp(newWide().SetInt(halfPi()), 1-piBits)}}
	// ln 2 = 2 atanh(1/3)
	one, nine := c.pi.of(1), c.pi.of(9)
	p, sum := c.pi.of(2).quo(c.pi.of(3)), c.pi.of(0)
	for k := 1.0; k < 180; k += 2 {
		sum = sum.add(p.quo(one.of(k)))
		p = p.quo(nine)
	}
	c.ln2 = sum
	for _, b := range bernoulliNumbers(36) {
		c.bernoulli = append(c.bernoulli, wide{newWide().SetRat(b)})
	}
	return c
})

var wordConstants = sync.OnceValue(func() *constants[word] {
	w := wideConstants()
	two := func(x wide) word {
		hi := x.value()
		return word{hi, x.add(x.of(-hi)).value()}
	}
	c := &constants[word]{pi: two(w.pi), ln2: two(w.ln2)}
	for _, b := range w.bernoulli[:20] {
		c.bernoulli = append(c.bernoulli, two(b))
	}
	return c
})

// bernoulliNumbers returns the first n of B_2, B_4, .... It uses the recurrence that their sums weighted with binomial
// coefficients vanish.
func bernoulliNumbers(n int) []*big.Rat {
	all := []*big.Rat{big.NewRat(1, 1)}
	var out []*big.Rat
	for m := 1; m <= 2*n; m++ {
		sum := new(big.Rat)
		for k, b := range all {
			c := new(big.Rat).SetInt(new(big.Int).Binomial(int64(m+1), int64(k)))
			sum.Add(sum, c.Mul(c, b))
		}
		b := sum.Mul(sum, big.NewRat(-1, int64(m+1)))
		all = append(all, b)
		if m%2 == 0 {
			out = append(out, b)
		}
	}
	return out
}

// negligible reports whether term is too small to change sum.
func negligible[T digits[T]](term, sum T) bool {
	t, s := math.Abs(term.value()), math.Abs(sum.value())
	return t == 0 || math.Ldexp(t, term.bits()+4) <= s
}

// logarithm returns log(x) for positive x: with x = m 2^e and m near 1, it is 2 atanh((m-1)/(m+1)) + e log 2.
func logarithm[T digits[T]](x T) T {
	m, e := math.Frexp(x.value())
	if m < math.Sqrt2/2 {
		e--
	}
	one := x.of(1)
	r := x.scale(-e)
	t := r.add(one.neg()).quo(r.add(one))
	z := t.mul(t)
	sum, p := t, t
	for k := 3.0; ; k += 2 {
		p = p.mul(z)
		term := p.quo(x.of(k))
		sum = sum.add(term)
		if negligible(term, sum) {
			break
		}
	}
	return sum.scale(1).add(x.constants().ln2.mul(x.of(float64(e))))
}

// tangentOf returns tan(x) for |x| up to about pi/4, from the series of sine and cosine.
func tangentOf[T digits[T]](x T) T {
	square := x.mul(x).neg()
	sine, cosine := x, x.of(1)
	odd, even := x, x.of(1)
	for k := 1.0; ; k += 2 {
		even = even.mul(square).quo(x.of(float64(k * (k + 1))))
		odd = odd.mul(square).quo(x.of(float64((k + 1) * (k + 2))))
		cosine, sine = cosine.add(even), sine.add(odd)
		if negligible(even, cosine) && negligible(odd, sine) {
			return sine.quo(cosine)
		}
	}
}

// cotangentPi returns cot(pi f) for |f| up to 1/2.
func cotangentPi[T digits[T]](f T) T {
	pi := f.constants().pi
	if math.Abs(f.value()) <= 0.25 {
		return f.of(1).quo(tangentOf(pi.mul(f)))
	}
	half := f.of(math.Copysign(0.5, f.value()))
	return tangentOf(pi.mul(half.add(f.neg())))
}

// power returns x^n for n >= 0.
func power[T digits[T]](x T, n int) T {
	v := x.of(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			v = v.mul(x)
		}
		x = x.mul(x)
	}
	return v
}

// lgammaOf returns log |gamma(x)|. It shifts x up by the recurrence, applies Stirling's series there, and subtracts the
// logarithm of the product of the factors x, x+1, ....
func lgammaOf[T digits[T]](x T) T {
	one, c := x.of(1), x.constants()
	y, product, shifted := x, one, false
	for y.value() < x.edge() {
		product, y, shifted = product.mul(y), y.add(one), true
	}
	sum := y.add(x.of(-0.5)).mul(logarithm(y)).add(y.neg()).add(logarithm(c.pi.scale(1)).scale(-1))
	inverse := one.quo(y)
	square, p := inverse.mul(inverse), inverse
	for k, b := range c.bernoulli {
		n := float64(2 * (k + 1))
		term := b.mul(p).quo(x.of(float64(n * (n - 1))))
		sum = sum.add(term)
		if negligible(term, sum) {
			break
		}
		p = p.mul(square)
	}
	if !shifted {
		return sum
	}
	if product.value() < 0 {
		product = product.neg()
	}
	return sum.add(logarithm(product).neg())
}

// digammaOf returns digamma(x) for negative x that is not an integer: digamma(1-x) - pi cot(pi x). digamma(1-x) comes
// from the recurrence and the asymptotic series.
func digammaOf[T digits[T]](zero T, x float64) T {
	one, c := zero.of(1), zero.constants()
	y, shift := one.add(zero.of(-x)), zero
	for y.value() < zero.edge() {
		shift, y = shift.add(one.quo(y)), y.add(one)
	}
	inverse := one.quo(y)
	sum := logarithm(y).add(inverse.scale(-1).neg())
	square := inverse.mul(inverse)
	p := square
	for k, b := range c.bernoulli {
		term := b.mul(p).quo(zero.of(float64(-2 * (k + 1))))
		sum = sum.add(term)
		if negligible(term, sum) {
			break
		}
		p = p.mul(square)
	}
	f := x - math.Round(x)
	return sum.add(shift.neg()).add(c.pi.mul(cotangentPi(zero.of(f))).neg())
}

// hurwitzOf returns the sum over k >= 0 of (a+k)^-s for a > 0, by the Euler-Maclaurin formula.
func hurwitzOf[T digits[T]](s int, a T) T {
	one := a.of(1)
	sum := a.of(0)
	for a.value() < a.edge() {
		sum, a = sum.add(one.quo(power(a, s))), a.add(one)
	}
	inverse := one.quo(a)
	p := power(inverse, s)
	sum = sum.add(p.mul(a).quo(a.of(float64(s - 1)))).add(p.scale(-1))
	// B_2k / (2k)! times s (s+1) ... (s+2k-2) a^(-s-2k+1)
	p = p.mul(inverse).mul(a.of(float64(s))).scale(-1)
	n := float64(s)
	for k, b := range a.constants().bernoulli {
		term := p.mul(b)
		sum = sum.add(term)
		if negligible(term, sum) {
			break
		}
		i := float64(2 * (k + 1))
		p = p.mul(inverse).mul(inverse).mul(a.of(float64((n + 1) * (n + 2)))).quo(a.of(float64((i + 1) * (i + 2))))
		n += 2
	}
	return sum
}
