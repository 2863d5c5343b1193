package special

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// Fourier computes discrete Fourier transforms of n elements, not scaled. It uses radix 2 if n is a power of two, else
// Bluestein's algorithm on such a transform.
type Fourier struct {
	twiddle     []complex128
	chirp       []complex128
	kernel      []complex128 // transformed
	inner, back *Fourier
}

// NewFourier returns the transform of n elements, or the inverse one.
func NewFourier(n int, inverse bool) *Fourier {
	p := &Fourier{}
	if n&(n-1) == 0 {
		p.twiddle = make([]complex128, n/2)
		for i := range p.twiddle {
			p.twiddle[i] = root(i, n, !inverse)
		}
		return p
	}
	m := 1 << bits.Len(uint(2*n-2))
	p.inner, p.back = NewFourier(m, false), NewFourier(m, true)
	p.chirp, p.kernel = make([]complex128, n), make([]complex128, m)
	for i := range p.chirp {
		// i*i mod 2n keeps the angle small and therefore exact.
		p.chirp[i] = root(i*i%(2*n), 2*n, !inverse)
		p.kernel[i] = cmplx.Conj(p.chirp[i])
		if i > 0 {
			p.kernel[m-i] = p.kernel[i]
		}
	}
	p.inner.Transform(p.kernel, nil)
	return p
}

// Work returns the number of elements that Transform needs in its work space.
func (p *Fourier) Work() int { return len(p.kernel) }

// Transform transforms x in place. work holds at least Work elements.
func (p *Fourier) Transform(x, work []complex128) {
	if p.inner == nil {
		p.radix2(x)
		return
	}
	clear(work[len(x):])
	multiply(work[:len(x)], x, p.chirp)
	p.inner.Transform(work, nil)
	multiply(work, work, p.kernel)
	p.back.Transform(work, nil)
	Scale(work[:len(x)], 1/float64(len(work)))
	multiply(x, work[:len(x)], p.chirp)
}

func (p *Fourier) radix2(x []complex128) {
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
				v := Cmul(hi[j], p.twiddle[j*(n/size)])
				lo[j], hi[j] = u+v, u-v
			}
		}
	}
}

// root returns e^(2 pi i k/n), or its conjugate.
func root(k, n int, conjugate bool) complex128 {
	s, c := Sincos(2 * math.Pi * float64(k) / float64(n))
	if conjugate {
		s = -s
	}
	return complex(c, s)
}

// multiply computes o = x * y, element by element.
func multiply(o, x, y []complex128) {
	for i, v := range x {
		o[i] = Cmul(v, y[i])
	}
}

// Scale multiplies the elements of x by f.
func Scale(x []complex128, f float64) {
	for i, v := range x {
		x[i] = complex(float64(real(v)*f), float64(imag(v)*f))
	}
}
