package special

import "math"

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

func (x word) mul(y word) word {
	p := float64(x.hi * y.hi)
	return fastSum(p, math.FMA(x.hi, y.hi, -p)+(float64(x.hi*y.lo)+float64(x.lo*y.hi)))
}

func (x word) times(y float64) word {
	p := float64(x.hi * y)
	return fastSum(p, math.FMA(x.hi, y, -p)+float64(x.lo*y))
}

// ln2 is the logarithm of 2.
func ln2() word { return word{0.6931471805599453, 2.3190468138462996e-17} }

// Pow is x^y as IEEE 754 defines it, with an error of about half a unit in the last place. It computes e^(y log |x|),
// with the logarithm and the product as double-doubles.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	case y == 1:
		return x
	case y == 2:
		return x * x
	}
	whole := math.Trunc(y) == y
	odd := whole && math.Abs(y) < 1<<53 && int64(y)&1 == 1
	sign := 1.0
	if odd {
		sign = math.Copysign(1, x)
	}
	a := math.Abs(x)
	switch {
	case a == 0 || math.IsInf(a, 0):
		if (a == 0) == (y > 0) {
			return math.Copysign(0, sign)
		}
		return math.Copysign(math.Inf(1), sign)
	case math.IsInf(y, 0):
		switch {
		case a == 1:
			return 1
		case (a > 1) == (y > 0):
			return math.Inf(1)
		}
		return 0
	case x < 0 && !whole:
		return math.NaN()
	case a == 1:
		return sign
	}
	l := wordLog(a)
	p := float64(y * l.hi)
	switch {
	case p > 720:
		return math.Copysign(math.Inf(1), sign)
	case p < -760:
		return math.Copysign(0, sign)
	}
	return sign * wordExp(word{p, math.FMA(y, l.hi, -p) + float64(y*l.lo)})
}

// wordLog is the logarithm of a positive finite number to about 68 bits: 2 atanh(s) with s = (m-1)/(m+1). The first
// three terms of the series are double-doubles.
func wordLog(x float64) word {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	f := m - 1
	d := word{1, 0}.add(word{m, 0})
	s := f / d.hi
	sw := fastSum(s, (math.FMA(-s, d.hi, f)-float64(s*d.lo))/d.hi)
	z := sw.mul(sw)
	tail := polynomial(z.hi, 1.0/33, 1.0/31, 1.0/29, 1.0/27, 1.0/25, 1.0/23, 1.0/21, 1.0/19, 1.0/17, 1.0/15, 1.0/13, 1.0/11, 1.0/9, 1.0/7)
	q := word{0.2, -1.1102230246251566e-17}.add(word{float64(z.hi * tail), 0})
	q = word{1.0 / 3, 1.850371707708594e-17}.add(z.mul(q))
	l := sw.add(sw.mul(z.mul(q)))
	return ln2().times(float64(e)).add(word{2 * l.hi, 2 * l.lo})
}

// wordExp is e^x, rounded once from a sum whose last terms are small.
func wordExp(x word) float64 {
	v, k := wordExpScaled(x)
	return math.Ldexp(v, k)
}

// wordExpScaled returns e^x as v times 2^k.
func wordExpScaled(x word) (v float64, k int) {
	n := math.RoundToEven(x.hi / math.Ln2)
	r := x.add(ln2().times(-n))
	q := polynomial(r.hi, 1.0/6227020800, 1.0/479001600, 1.0/39916800, 1.0/3628800, 1.0/362880, 1.0/40320, 1.0/5040, 1.0/720, 1.0/120, 1.0/24, 1.0/6)
	square := float64(r.hi * r.hi)
	tail := 0.5*math.FMA(r.hi, r.hi, -square) + float64(float64(square*r.hi)*q) + float64(r.lo*(1+r.hi))
	w := word{1, 0}.add(word{r.hi, 0}).add(word{0.5 * square, 0}).add(word{tail, 0})
	return w.hi, int(n)
}
