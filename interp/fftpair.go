package interp

import "math"

// Transforms of f64 lines up to pairLength are computed in double-double, about 106 bits. Every element is then right
// to its last bit, however much its terms cancel. Computing f32 in f64 has the same effect.

// pairLength is the longest line that is transformed in double-double, which costs twenty times as much.
const pairLength = 2048

// pairComplex is a complex number with double-double parts.
type pairComplex struct{ re, im word }

func (x pairComplex) add(y pairComplex) pairComplex {
	return pairComplex{x.re.add(y.re), x.im.add(y.im)}
}

func (x pairComplex) sub(y pairComplex) pairComplex {
	return pairComplex{x.re.add(y.re.neg()), x.im.add(y.im.neg())}
}

func (x pairComplex) mul(y pairComplex) pairComplex {
	return pairComplex{x.re.mul(y.re).add(x.im.mul(y.im).neg()), x.re.mul(y.im).add(x.im.mul(y.re))}
}

func (x pairComplex) conj() pairComplex { return pairComplex{x.re, x.im.neg()} }

func (x pairComplex) over(n float64) pairComplex { return pairComplex{x.re.over(n), x.im.over(n)} }

// rootOfUnity returns e^(2 pi i k/n) for 0 <= k < n. It reduces the angle to an eighth of the circle, where the series
// of sine and cosine converge fast.
func rootOfUnity(k, n int) pairComplex {
	// k/n = octant/8 + r/(8n), with 0 <= r < n. In odd octants, measure back from the octant's end.
	octant, r := 8*k/n, 8*k%n
	if octant%2 == 1 {
		r = n - r
	}
	twoPi := word{2 * math.Pi, 2.4492935982947064e-16}
	x := twoPi.mul(word{float64(r), 0}).over(8 * float64(n))
	x2 := x.mul(x)
	sin, cos := x, word{1, 0}
	s, c := x, cos
	for i := 1.0; i < 40 && math.Abs(c.hi) > 1e-36; i += 2 {
		c = c.mul(x2).over(-i * (i + 1))
		cos = cos.add(c)
		s = s.mul(x2).over(-(i + 1) * (i + 2))
		sin = sin.add(s)
	}
	if octant%2 == 1 { // the angle within its quarter is pi/2 - x
		sin, cos = cos, sin
	}
	if q := octant / 2; q%2 == 1 {
		sin, cos = cos, sin.neg()
		if q == 3 {
			sin, cos = sin.neg(), cos.neg()
		}
	} else if q == 2 {
		sin, cos = sin.neg(), cos.neg()
	}
	return pairComplex{cos, sin}
}

// pairNumbers returns the arithmetic of double-double complex numbers.
func pairNumbers() numbers[pairComplex] {
	return numbers[pairComplex]{
		root: rootOfUnity,
		conj: pairComplex.conj,
		multiply: func(o, x, y []pairComplex) {
			for i, v := range x {
				o[i] = v.mul(y[i])
			}
		},
		divide: func(x []pairComplex, n float64) {
			for i, v := range x {
				x[i] = v.over(n)
			}
		},
		butterfly: func(lo, hi, roots []pairComplex, step int) {
			for j, u := range lo {
				v := hi[j].mul(roots[j*step])
				lo[j], hi[j] = u.add(v), u.sub(v)
			}
		},
		real: func(v pairComplex) pairComplex { return pairComplex{v.re, word{}} },
	}
}

// transformPairs performs t in double-double and reports whether it did. It does nothing if a line is too long, or if
// a value is not finite or is near overflow.
func transformPairs(t transform[complex128], data []complex128) bool {
	for _, n := range t.shape[len(t.shape)-t.k:] {
		if n > pairLength {
			return false
		}
	}
	wide := make([]pairComplex, len(data))
	for i, v := range data {
		// Far enough from overflow for every sum.
		if !(math.Abs(real(v)) < 0x1p900 && math.Abs(imag(v)) < 0x1p900) {
			return false
		}
		wide[i] = pairComplex{word{real(v), 0}, word{imag(v), 0}}
	}
	transform[pairComplex]{pairNumbers(), t.shape, t.k, t.inverse, t.realLines}.run(wide)
	for i, v := range wide {
		data[i] = complex(v.re.hi, v.im.hi)
	}
	return true
}
