package interp

import "math"

// Transforms of f64 lines that are not long are computed in numbers of two words each, about 106 bits, so that every element is right to its last
// bit however much cancels in it. f32 is computed in f64, which comes to the same.

// pairLength is the longest line for which that is done: it costs twenty times as much.
const pairLength = 2048

// pairComplex is a complex number of two words per part.
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

// rootOfUnity is e^(2 pi i k/n) for 0 <= k < n: the angle is brought into an eighth of the circle, where the series of
// sine and cosine converge fast.
func rootOfUnity(k, n int) pairComplex {
	// k/n = octant/8 + r/(8n), with 0 <= r < n; of every other octant the way back from its end.
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
	if octant%2 == 1 { // the angle is pi/4 less x within its quarter
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

// pairNumbers are those of two words.
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

// transformPairs does in numbers of two words what t says, and reports whether it did: not where a line is too long or a value is not
// finite or near overflow.
func transformPairs(t transform[complex128], data []complex128) bool {
	for _, n := range t.shape[len(t.shape)-t.k:] {
		if n > pairLength {
			return false
		}
	}
	wide := make([]pairComplex, len(data))
	for i, v := range data {
		// Far enough from overflow that no sum comes near it.
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
