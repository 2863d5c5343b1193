package kernel

import (
	"math"
	"math/bits"
	"math/cmplx"

	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

// transform describes a transform of the last k dimensions of an array.
type transform struct {
	shape     tensor.Shape
	k         int
	inverse   bool
	realLines bool // the lines are real; keep spectrum elements real that must be real
}

// run transforms the dimensions from the last to the first.
func (t transform) run(data []complex128) {
	total := 1.0
	for d := len(t.shape) - 1; d >= len(t.shape)-t.k; d-- {
		n := int(t.shape[d])
		total *= float64(n)
		t.lines(data, n, int(t.shape[d+1:].NumElements()))
		if t.realLines && d == len(t.shape)-1 {
			// Element 0 is the sum. For even n, element n/2 is the sum with alternating signs.
			for i := 0; i < len(data); i += n {
				data[i] = complex(real(data[i]), 0)
				if n%2 == 0 {
					data[i+n/2] = complex(real(data[i+n/2]), 0)
				}
			}
		}
	}
	if t.inverse {
		scale(data, 1/total)
	}
}

// lines transforms all lines of n elements. The elements of a line are inner elements apart.
func (t transform) lines(data []complex128, n, inner int) {
	if n <= 1 {
		return
	}
	plan := newLinePlan(n, t.inverse)
	Parallel(len(data)/n, max(1, 1<<12/n), func(lo, hi int) {
		line, work := make([]complex128, n), make([]complex128, len(plan.kernel))
		for l := lo; l < hi; l++ {
			base := l/inner*n*inner + l%inner
			for i := range line {
				line[i] = data[base+i*inner]
			}
			plan.transform(line, work)
			for i, v := range line {
				data[base+i*inner] = v
			}
		}
	})
}

// linePlan transforms lines of n elements. It uses radix 2 if n is a power of two, else Bluestein's algorithm on such a
// transform.
type linePlan struct {
	twiddle     []complex128
	chirp       []complex128
	kernel      []complex128 // transformed
	inner, back *linePlan
}

func newLinePlan(n int, inverse bool) *linePlan {
	p := &linePlan{}
	if n&(n-1) == 0 {
		p.twiddle = make([]complex128, n/2)
		for i := range p.twiddle {
			p.twiddle[i] = root(i, n, !inverse)
		}
		return p
	}
	m := 1 << bits.Len(uint(2*n-2))
	p.inner, p.back = newLinePlan(m, false), newLinePlan(m, true)
	p.chirp, p.kernel = make([]complex128, n), make([]complex128, m)
	for i := range p.chirp {
		// i*i mod 2n keeps the angle small and therefore exact.
		p.chirp[i] = root(i*i%(2*n), 2*n, !inverse)
		p.kernel[i] = cmplx.Conj(p.chirp[i])
		if i > 0 {
			p.kernel[m-i] = p.kernel[i]
		}
	}
	p.inner.transform(p.kernel, nil)
	return p
}

func (p *linePlan) transform(x, work []complex128) {
	if p.inner == nil {
		p.radix2(x)
		return
	}
	clear(work[len(x):])
	multiply(work[:len(x)], x, p.chirp)
	p.inner.transform(work, nil)
	multiply(work, work, p.kernel)
	p.back.transform(work, nil)
	scale(work[:len(x)], 1/float64(len(work)))
	multiply(x, work[:len(x)], p.chirp)
}

func (p *linePlan) radix2(x []complex128) {
	n := len(x)
	shift := 64 - uint(bits.Len(uint(n-1)))
	for i := range x {
		if j := int(bits.Reverse64(uint64(i)) >> shift); j > i {
			x[i], x[j] = x[j], x[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		half := size / 2
		for i := 0; i < n; i += size {
			lo, hi := x[i:i+half], x[i+half:i+size]
			for j, u := range lo {
				v := special.Cmul(hi[j], p.twiddle[j*(n/size)])
				lo[j], hi[j] = u+v, u-v
			}
		}
	}
}

// root returns e^(2 pi i k/n), or its conjugate.
func root(k, n int, conjugate bool) complex128 {
	s, c := special.Sincos(2 * math.Pi * float64(k) / float64(n))
	if conjugate {
		s = -s
	}
	return complex(c, s)
}

// multiply computes o = x * y, element by element.
func multiply(o, x, y []complex128) {
	for i, v := range x {
		o[i] = special.Cmul(v, y[i])
	}
}

// scale multiplies the elements by f.
func scale(x []complex128, f float64) {
	for i, v := range x {
		x[i] = complex(float64(real(v)*f), float64(imag(v)*f))
	}
}
