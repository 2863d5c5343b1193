package special

import (
	"math"
	"math/big"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// word is a double-double: the unevaluated sum of two float64s, with about 104 bits (Dekker, "A floating-point
// technique for extending the available precision", 1971).
type word struct{ hi, lo float64 }

func fastSum(a, b float64) word {
	a, b = float64(a), float64(b) // prevents fusing with an inlined product
	s := a + b
	return word{s, b - (s - a)}
}

func (x word) add(y word) word {
	s := x.hi + y.hi
	t := s - x.hi
	e := (x.hi - (s - t)) + (y.hi - t)
	u := x.lo + y.lo
	t = u - x.lo
	f := (x.lo - (u - t)) + (y.lo - t)
	w := fastSum(s, e+u)
	return fastSum(w.hi, w.lo+f)
}

func (x word) neg() word { return word{-x.hi, -x.lo} }

func (x word) mul(y word) word {
	p := float64(x.hi * y.hi)
	return fastSum(p, math.FMA(x.hi, y.hi, -p)+(float64(x.hi*y.lo)+float64(x.lo*y.hi)))
}

func (x word) times(y float64) word {
	p := float64(x.hi * y)
	return fastSum(p, math.FMA(x.hi, y, -p)+float64(x.lo*y))
}

// Over returns x / n.
func (x word) over(n float64) word {
	q := x.hi / n
	return fastSum(q, (math.FMA(-q, n, x.hi)+x.lo)/n)
}

// pairExpm1 is e^x - 1. For |x| < 0.5 it uses the series, else pairExp minus one.
func pairExpm1(x float64) word {
	if math.Abs(x) >= 0.5 {
		return pairExp(word{x, 0}).add(word{-1, 0})
	}
	return expSeries(word{x, 0})
}

// expSeries is e^x - 1 for |x| < 0.5.
func expSeries(x word) word {
	sum, term := x, x
	for n := 2.0; n < 40; n++ {
		term = term.mul(x).over(n)
		sum = sum.add(term)
		if math.Abs(term.hi) < 0x1p-110*math.Abs(sum.hi) {
			break
		}
	}
	return sum
}

// pairExp is e^x.
func pairExp(x word) word {
	switch {
	case x.hi > 800 || math.IsNaN(x.hi):
		return word{exp(x.hi), 0}
	case x.hi < -800:
		return word{}
	}
	e, k := pairExpScaled(x)
	return word{math.Ldexp(e.hi, k), math.Ldexp(e.lo, k)}
}

// pairExpScaled returns e^x as e times 2^k, for |x| up to 2^12.
func pairExpScaled(x word) (e word, k int) {
	const ln2hi, ln2lo = 0.6931471805599453, 2.3190468138462996e-17
	n := math.Round(x.hi / math.Ln2)
	p := float64(n * ln2hi)
	r := x.add(word{-p, -math.FMA(n, ln2hi, -p)}).add(word{-float64(n * ln2lo), -math.FMA(n, ln2lo, -float64(n*ln2lo))})
	return expSeries(r).add(word{1, 0}), int(n)
}

// pairSincos returns sine and cosine as double-doubles.
func pairSincos(x float64) (sin, cos word) {
	r, n := pairReduce(x)
	r2 := r.mul(r)
	sin, cos = r, word{1, 0}
	term := r
	even := word{1, 0}
	for k := 1.0; k < 40; k += 2 {
		even = even.mul(r2).over(-k * (k + 1))
		cos = cos.add(even)
		term = term.mul(r2).over(-(k + 1) * (k + 2))
		sin = sin.add(term)
		if math.Abs(term.hi) < 0x1p-112*math.Abs(sin.hi) {
			break
		}
	}
	minus := func(w word) word { return word{-w.hi, -w.lo} }
	switch n & 3 {
	case 1:
		sin, cos = cos, minus(sin)
	case 2:
		sin, cos = minus(sin), minus(cos)
	case 3:
		sin, cos = minus(cos), sin
	}
	return sin, cos
}

// pairSincosPair is pairSincos of a double-double.
func pairSincosPair(x word) (sin, cos word) {
	s, c := pairSincos(x.hi)
	if x.lo == 0 {
		return s, c
	}
	u, v := pairSincos(x.lo)
	minus := u.mul(s)
	return s.mul(v).add(c.mul(u)), c.mul(v).add(word{-minus.hi, -minus.lo})
}

// pairReduce returns the remainder of x by pi/2, in [-pi/4, pi/4], as a double-double, and the quotient modulo 4.
func pairReduce(x float64) (word, int64) {
	if math.Abs(x) <= math.Pi/4 {
		return word{x, 0}, 0
	}
	man, exp := math.Frexp(math.Abs(x))
	v := big.NewInt(int64(man * (1 << 53)))
	if shift := exp - 53 + piBits; shift >= 0 {
		v.Lsh(v, uint(shift))
	}
	q, rest := new(big.Int), new(big.Int)
	half := halfPi()
	q.QuoRem(v, half, rest)
	if new(big.Int).Lsh(rest, 1).Cmp(half) > 0 {
		rest.Sub(rest, half)
		q.Add(q, big.NewInt(1))
	}
	f := new(big.Float).SetMantExp(new(big.Float).SetInt(rest), -piBits)
	hi, _ := f.Float64()
	lo, _ := new(big.Float).Sub(f, new(big.Float).SetFloat64(hi)).Float64()
	n := new(big.Int).And(q, big.NewInt(3)).Int64()
	if x < 0 {
		return word{-hi, -lo}, -n
	}
	return word{hi, lo}, n
}

// pairLog returns the logarithm of the modulus and the angle of a finite nonzero complex number, as double-doubles.
func pairLog(z complex128) (modulus, angle word) {
	e := Exponent(real(z), imag(z))
	x, y := math.Ldexp(real(z), -e), math.Ldexp(imag(z), -e)
	square := func(v float64) word {
		p := float64(v * v)
		return word{p, math.FMA(v, v, -p)}
	}
	m2 := square(x).add(square(y))
	// One Newton step on exp(l) = m2.
	l := Log(m2.hi)
	c := m2.mul(pairExp(word{-l, 0})).add(word{-1, 0})
	// log(1+c) = c - c^2/2
	l2 := word{l, 0}.add(c).add(word{-c.hi * c.hi / 2, 0})
	modulus = word{l2.hi / 2, l2.lo / 2}
	if e != 0 {
		const ln2hi, ln2lo = 0.6931471805599453, 2.3190468138462996e-17
		modulus = modulus.add(word{ln2hi, ln2lo}.times(float64(e)))
	}
	t := vec.Atan2(imag(z), real(z))
	s, co := pairSincos(t)
	// The correction to the angle is the sine of the difference.
	d := co.times(y).add(s.times(-x))
	return modulus, word{t, 0}.add(word{d.hi / math.Sqrt(m2.hi), d.lo / math.Sqrt(m2.hi)})
}
