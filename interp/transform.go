package interp

import (
	"math"
	"math/bits"

	"github.com/hlocb/hlocb/tensor"
)

// numbers are the operations on a complex number type T that the transforms need. The loops over lines are functions
// specific to T, because the compiler can then inline T's arithmetic.
type numbers[T any] struct {
	root      func(k, n int) T                  // e^(2 pi i k/n) for 0 <= k < n
	conj      func(v T) T                       //
	multiply  func(o, x, y []T)                 // element by element
	divide    func(x []T, n float64)            //
	butterfly func(lo, hi, roots []T, step int) // lo, hi = lo + w hi, lo - w hi with w every step-th root
	real      func(v T) T                       // clears the imaginary part
}

// transform describes a transform of the last k dimensions of an array.
type transform[T any] struct {
	of        numbers[T]
	shape     tensor.Shape
	k         int
	inverse   bool
	realLines bool // the lines are real; keep spectrum elements real that must be real
}

// run transforms the dimensions from the last to the first.
func (t transform[T]) run(data []T) {
	total := 1.0
	for d := len(t.shape) - 1; d >= len(t.shape)-t.k; d-- {
		n := int(t.shape[d])
		total *= float64(n)
		t.lines(data, n, int(t.shape[d+1:].NumElements()))
		if t.realLines && d == len(t.shape)-1 {
			// Element 0 is the sum. For even n, element n/2 is the sum with alternating signs.
			for i := 0; i < len(data); i += n {
				data[i] = t.of.real(data[i])
				if n%2 == 0 {
					data[i+n/2] = t.of.real(data[i+n/2])
				}
			}
		}
	}
	if t.inverse {
		t.of.divide(data, total)
	}
}

// lines transforms all lines of n elements. The elements of a line are inner elements apart.
func (t transform[T]) lines(data []T, n, inner int) {
	if n <= 1 {
		return
	}
	plan := newLinePlan(t.of, n, t.inverse)
	parallel(len(data)/n, max(1, 1<<12/n), func(lo, hi int) {
		line, work := make([]T, n), make([]T, len(plan.kernel))
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
type linePlan[T any] struct {
	of          numbers[T]
	twiddle     []T
	chirp       []T
	kernel      []T // transformed
	inner, back *linePlan[T]
}

func newLinePlan[T any](of numbers[T], n int, inverse bool) *linePlan[T] {
	root := func(k, n int) T {
		if w := of.root(k, n); inverse {
			return w
		} else {
			return of.conj(w)
		}
	}
	p := &linePlan[T]{of: of}
	if n&(n-1) == 0 {
		p.twiddle = make([]T, n/2)
		for i := range p.twiddle {
			p.twiddle[i] = root(i, n)
		}
		return p
	}
	m := 1 << bits.Len(uint(2*n-2))
	p.inner, p.back = newLinePlan(of, m, false), newLinePlan(of, m, true)
	p.chirp, p.kernel = make([]T, n), make([]T, m)
	for i := range p.chirp {
		// i*i mod 2n keeps the angle small and therefore exact.
		p.chirp[i] = root(i*i%(2*n), 2*n)
		p.kernel[i] = of.conj(p.chirp[i])
		if i > 0 {
			p.kernel[m-i] = p.kernel[i]
		}
	}
	p.inner.transform(p.kernel, nil)
	return p
}

func (p *linePlan[T]) transform(x, work []T) {
	if p.inner == nil {
		p.radix2(x)
		return
	}
	clear(work[len(x):])
	p.of.multiply(work[:len(x)], x, p.chirp)
	p.inner.transform(work, nil)
	p.of.multiply(work, work, p.kernel)
	p.back.transform(work, nil)
	p.of.divide(work[:len(x)], float64(len(work)))
	p.of.multiply(x, work[:len(x)], p.chirp)
}

func (p *linePlan[T]) radix2(x []T) {
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
			p.of.butterfly(x[i:i+half], x[i+half:i+size], p.twiddle, n/size)
		}
	}
}

// ordinaryNumbers returns the operations on complex128.
func ordinaryNumbers() numbers[complex128] {
	return numbers[complex128]{
		root: func(k, n int) complex128 {
			s, c := sincos(2 * math.Pi * float64(k) / float64(n))
			return complex(c, s)
		},
		conj: func(v complex128) complex128 { return complex(real(v), -imag(v)) },
		multiply: func(o, x, y []complex128) {
			for i, v := range x {
				o[i] = cmul(v, y[i])
			}
		},
		divide: func(x []complex128, n float64) {
			scale := 1 / n
			for i, v := range x {
				x[i] = complex(float64(real(v)*scale), float64(imag(v)*scale))
			}
		},
		butterfly: func(lo, hi, roots []complex128, step int) {
			hi = hi[:len(lo)]
			for j, u := range lo {
				v := cmul(hi[j], roots[j*step])
				lo[j], hi[j] = u+v, u-v
			}
		},
		real: func(v complex128) complex128 { return complex(real(v), 0) },
	}
}
