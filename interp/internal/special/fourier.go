package special

import (
	"math"
	"math/bits"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// Fourier computes discrete Fourier transforms of n elements without scaling. If n is a power of two, it uses
// Stockham's algorithm in passes of radix 4 and a last pass of radix 2. Otherwise it uses Bluestein's algorithm on such
// a transform.
type Fourier struct {
	n      int
	passes [][]float64 // the powers of a root of unity of each pass of radix 4; see vec.Radix4

	inner          *Fourier // of Bluestein's algorithm
	chirpR, chirpI []float64
	kernR, kernI   []float64 // transformed
}

// NewFourier returns the transform of n elements.
func NewFourier(n int) *Fourier {
	p := &Fourier{n: n}
	if n&(n-1) == 0 {
		for size := n; size >= 4; size /= 4 {
			w := make([]float64, 0, 6*size/4)
			for i := range size / 4 {
				for k := 1; k <= 3; k++ {
					s, c := Sincos(2 * math.Pi * float64(i*k) / float64(size))
					w = append(w, c, -s)
				}
			}
			p.passes = append(p.passes, w)
		}
		return p
	}
	m := 1 << bits.Len(uint(2*n-2))
	p.inner = NewFourier(m)
	p.chirpR, p.chirpI = make([]float64, n), make([]float64, n)
	p.kernR, p.kernI = make([]float64, m), make([]float64, m)
	for i := range n {
		// i*i mod 2n keeps the angle small and therefore exact.
		s, c := Sincos(2 * math.Pi * float64(i*i%(2*n)) / float64(2*n))
		p.chirpR[i], p.chirpI[i] = c, -s
		for _, k := range []int{i, (m - i) % m} {
			p.kernR[k], p.kernI[k] = c, s
		}
	}
	p.inner.Transform(p.kernR, p.kernI, make([]float64, p.inner.Work(1)), 1)
	return p
}

// RealPowers returns the powers, times scale, that vec.Untangle needs. Untangle turns transforms of n/2 complex
// elements into transforms of n reals, or back for the inverse transform.
func RealPowers(n int, scale float64, inverse bool) []float64 {
	w := []float64{scale}
	for k := 1; k <= n/4; k++ {
		s, c := Sincos(2 * math.Pi * float64(k) / float64(n))
		if inverse {
			c = -c
		}
		w = append(w, float64(c*scale), float64(-s*scale))
	}
	return w
}

// FourierBytes returns the memory that the transform of n elements keeps.
func FourierBytes(n int) int64 {
	if n&(n-1) == 0 {
		return 16 * int64(n) // (6/4 + 6/16 + ...) n numbers
	}
	m := int64(1) << bits.Len(uint(2*n-2))
	return 16*int64(n) + 32*m
}

// Work returns the number of elements that Transform of b lines needs in its work space.
func (p *Fourier) Work(b int) int {
	if p.inner != nil {
		return 2*len(p.kernR)*b + p.inner.Work(b)
	}
	return 2 * p.n * b
}

// Transform transforms b lines at a time, in place: element i of line l is re[i*b+l] + im[i*b+l] i. Exchange re and im
// for the inverse transform. work holds at least Work(b) elements.
func (p *Fourier) Transform(re, im, work []float64, b int) {
	if p.inner != nil {
		p.bluestein(re, im, work, b)
		return
	}
	n := p.n * b
	xr, xi, yr, yi := re[:n], im[:n], work[:n], work[n:2*n]
	s := b
	for _, w := range p.passes {
		vec.Radix4(yr, yi, xr, xi, w, len(w)/6, s)
		xr, xi, yr, yi = yr, yi, xr, xi
		s *= 4
	}
	if s < n { // the last pass has pairs
		sum, difference := vec.Binary[float64, float64](vec.Add64Loop), vec.Binary[float64, float64](vec.Sub64Loop)
		sum(yr[:s], xr[:s], xr[s:])
		difference(yr[s:], xr[:s], xr[s:])
		sum(yi[:s], xi[:s], xi[s:])
		difference(yi[s:], xi[:s], xi[s:])
		xr, xi = yr, yi
	}
	if &xr[0] != &re[0] {
		copy(re, xr)
		copy(im, xi)
	}
}

func (p *Fourier) bluestein(re, im, work []float64, b int) {
	m := len(p.kernR)
	xr, xi, rest := work[:m*b], work[m*b:2*m*b], work[2*m*b:]
	clear(xr[p.n*b:])
	clear(xi[p.n*b:])
	product := func(or, oi, xr, xi, fr, fi []float64, scale float64) {
		for i, c := range fr {
			s := fi[i]
			for j := i * b; j < (i+1)*b; j++ {
				r, v := float64(xr[j]*scale), float64(xi[j]*scale)
				or[j], oi[j] = float64(r*c)-float64(v*s), float64(r*s)+float64(v*c)
			}
		}
	}
	product(xr, xi, re, im, p.chirpR, p.chirpI, 1)
	p.inner.Transform(xr, xi, rest, b)
	product(xr, xi, xr, xi, p.kernR, p.kernI, 1)
	p.inner.Transform(xi, xr, rest, b)
	product(re, im, xr, xi, p.chirpR, p.chirpI, 1/float64(m))
}
