package interp

import (
	"math"
	"math/bits"

	"github.com/hlocb/hlocb/tensor"
)

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

// pairPlan is fftPlan in numbers of two words.
type pairPlan struct {
	n           int
	twiddle     []pairComplex
	chirp       []pairComplex
	kernel      []pairComplex
	inner, back *pairPlan
}

func newPairPlan(n int, inverse bool) *pairPlan {
	root := func(k, n int) pairComplex {
		w := rootOfUnity(k, n)
		if !inverse {
			w = w.conj()
		}
		return w
	}
	p := &pairPlan{n: n}
	if n&(n-1) == 0 {
		p.twiddle = make([]pairComplex, n/2)
		for i := range p.twiddle {
			p.twiddle[i] = root(i, n)
		}
		return p
	}
	m := 1 << bits.Len(uint(2*n-2))
	p.inner, p.back = newPairPlan(m, false), newPairPlan(m, true)
	p.chirp, p.kernel = make([]pairComplex, n), make([]pairComplex, m)
	for i := range p.chirp {
		p.chirp[i] = root(i*i%(2*n), 2*n)
		p.kernel[i] = p.chirp[i].conj()
		if i > 0 {
			p.kernel[m-i] = p.kernel[i]
		}
	}
	p.inner.transform(p.kernel, nil)
	return p
}

func (p *pairPlan) transform(x, work []pairComplex) {
	if p.inner == nil {
		pairRadix2(x, p.twiddle)
		return
	}
	clear(work)
	for i, v := range x {
		work[i] = v.mul(p.chirp[i])
	}
	p.inner.transform(work, nil)
	for i := range work {
		work[i] = work[i].mul(p.kernel[i])
	}
	p.back.transform(work, nil)
	for i := range x {
		x[i] = work[i].over(float64(len(work))).mul(p.chirp[i])
	}
}

func pairRadix2(x, twiddle []pairComplex) {
	n := len(x)
	shift := 64 - uint(bits.Len(uint(n-1)))
	for i := range x {
		if j := int(bits.Reverse64(uint64(i)) >> shift); j > i {
			x[i], x[j] = x[j], x[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		step, half := n/size, size/2
		for i := 0; i < n; i += size {
			for j := range half {
				v := x[i+j+half].mul(twiddle[j*step])
				x[i+j+half] = x[i+j].sub(v)
				x[i+j] = x[i+j].add(v)
			}
		}
	}
}

// transformPairs transforms along the last k dimensions, last one first, and reports whether it did: not where a line is too long or
// a value is not finite.
func transformPairs(data []complex128, shape tensor.Shape, k int, inverse, realLines bool) bool {
	for _, n := range shape[len(shape)-k:] {
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
	total := 1.0
	for d := len(shape) - 1; d >= len(shape)-k; d-- {
		n := int(shape[d])
		total *= float64(n)
		if n > 1 {
			inner := int(shape[d+1:].NumElements())
			plan := newPairPlan(n, inverse)
			parallel(len(wide)/n, max(1, 1<<9/n), func(lo, hi int) {
				line, work := make([]pairComplex, n), make([]pairComplex, len(plan.kernel))
				for l := lo; l < hi; l++ {
					base := l/inner*n*inner + l%inner
					for i := range line {
						line[i] = wide[base+i*inner]
					}
					plan.transform(line, work)
					for i, v := range line {
						wide[base+i*inner] = v
					}
				}
			})
		}
		if realLines && d == len(shape)-1 {
			for i := 0; i < len(wide); i += n {
				wide[i].im = word{}
				if n%2 == 0 {
					wide[i+n/2].im = word{}
				}
			}
		}
	}
	for i, v := range wide {
		if inverse {
			v = v.over(total)
		}
		data[i] = complex(v.re.hi, v.im.hi)
	}
	return true
}
