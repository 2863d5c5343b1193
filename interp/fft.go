package interp

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/cmplx"

	"github.com/hlocb/hlocb/tensor"
)

// makeFFT compiles fft (spec, "fft"): transforms along the last one to three dimensions.
func makeFFT(s *spec) (kernel, error) {
	if len(s.in) != 1 || len(s.out) != 1 {
		return kernel{}, errors.New("expects one operand and one result")
	}
	length, err := intsAttr(s.op, "fft_length")
	if err != nil {
		return kernel{}, err
	}
	kind := enumAttr(s.op, "fft_type", "")
	in, out := s.in[0], s.out[0]
	k, rank := len(length), len(in.shape)
	if k < 1 || k > 3 || k > rank || len(out.shape) != rank {
		return kernel{}, fmt.Errorf("transforms %d of %d dimensions", k, rank)
	}
	full := in.shape.Clone() // of the complex array that is transformed
	for i, n := range length {
		full[rank-k+i] = n
	}
	half := full.Clone()
	half[rank-1] = full[rank-1]/2 + 1
	if full[rank-1] == 0 {
		half[rank-1] = 0
	}
	wantIn, wantOut := full, full
	switch kind {
	case "FFT", "IFFT":
	case "RFFT":
		wantOut = half
	case "IRFFT":
		wantIn = half
	default:
		return kernel{}, unsupported("transform %q", kind)
	}
	if !in.shape.Equal(wantIn) || !out.shape.Equal(wantOut) {
		return kernel{}, fmt.Errorf("cannot transform %s to %s", in, out)
	}
	inverse := kind == "IFFT" || kind == "IRFFT"
	n := int(full.NumElements())
	double := in.dt == tensor.F64 || in.dt == tensor.Complex128
	return kernel{run: func(ins, outs []*tensor.Tensor) error {
		if out.n == 0 {
			return nil
		}
		data := matrixOf(ins[0], 0, in.n)
		if kind == "IRFFT" {
			data = mirror(data, full, half, k)
		}
		if !double || !transformPairs(data, full, k, inverse, kind == "RFFT") {
			for i := k - 1; i >= 0; i-- {
				transformDim(data, full, rank-k+i, inverse)
				if kind == "RFFT" && i == k-1 {
					realBins(data, int(full[rank-1]))
				}
			}
			if inverse {
				scale := complex(1/float64(full[rank-k:].NumElements()), 0)
				for i := range data {
					data[i] *= scale
				}
			}
		}
		if kind == "RFFT" {
			w, h := int(full[rank-1]), int(half[rank-1])
			cut := make([]complex128, 0, out.n)
			for i := 0; i < n; i += w {
				cut = append(cut, data[i:i+h]...)
			}
			data = cut
		}
		storeMatrix(outs[0], 0, data)
		return nil
	}}, nil
}

// mirror completes the half spectrum of a real signal: X[-k] = conj X[k].
func mirror(data []complex128, full, half tensor.Shape, k int) []complex128 {
	rank := len(full)
	out := make([]complex128, full.NumElements())
	fs, hs := strides(full), strides(half)
	at := make([]int, rank)
	for i := range out {
		rest := i
		for d := range rank {
			at[d] = rest / fs[d]
			rest %= fs[d]
		}
		src, conj := 0, at[rank-1] >= int(half[rank-1])
		for d := range rank {
			v := at[d]
			if conj && d >= rank-k {
				v = (int(full[d]) - v) % int(full[d])
			}
			src += v * hs[d]
		}
		out[i] = data[src]
		if conj {
			out[i] = cmplx.Conj(out[i])
		}
	}
	return out
}

// realBins clears the imaginary parts that the transform of real lines does not have: of the sum, and of the sum with
// alternating signs where there is one.
func realBins(data []complex128, n int) {
	for i := 0; i < len(data); i += n {
		data[i] = complex(real(data[i]), 0)
		if n%2 == 0 {
			data[i+n/2] = complex(real(data[i+n/2]), 0)
		}
	}
}

// transformDim transforms all lines along one dimension.
func transformDim(data []complex128, shape tensor.Shape, dim int, inverse bool) {
	n := int(shape[dim])
	if n <= 1 {
		return
	}
	inner := int(shape[dim+1:].NumElements())
	plan := newFFT(n, inverse)
	lines := len(data) / n
	parallel(lines, max(1, 1<<12/n), func(lo, hi int) {
		line := make([]complex128, n)
		work := make([]complex128, plan.scratch())
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

// fftPlan transforms lines of n elements: radix 2 where n is a power of two, else Bluestein's algorithm over
// such a transform.
type fftPlan struct {
	n       int
	twiddle []complex128
	chirp   []complex128
	kernel  []complex128 // transformed
	inner   *fftPlan
	back    *fftPlan
}

func newFFT(n int, inverse bool) *fftPlan {
	sign := -1.0
	if inverse {
		sign = 1
	}
	p := &fftPlan{n: n}
	if n&(n-1) == 0 {
		p.twiddle = make([]complex128, n/2)
		for i := range p.twiddle {
			s, c := math.Sincos(sign * 2 * math.Pi * float64(i) / float64(n))
			p.twiddle[i] = complex(c, s)
		}
		return p
	}
	m := 1 << bits.Len(uint(2*n-2))
	p.inner, p.back = newFFT(m, false), newFFT(m, true)
	p.chirp = make([]complex128, n)
	p.kernel = make([]complex128, m)
	for i := range p.chirp {
		// i*i mod 2n keeps the angle small, and so exact.
		s, c := math.Sincos(sign * math.Pi * float64(i*i%(2*n)) / float64(n))
		p.chirp[i] = complex(c, s)
		p.kernel[i] = cmplx.Conj(p.chirp[i])
		if i > 0 {
			p.kernel[m-i] = p.kernel[i]
		}
	}
	p.inner.transform(p.kernel, nil)
	return p
}

func (p *fftPlan) scratch() int { return len(p.kernel) }

func (p *fftPlan) transform(x, work []complex128) {
	if p.inner == nil {
		radix2(x, p.twiddle)
		return
	}
	clear(work)
	for i, v := range x {
		work[i] = v * p.chirp[i]
	}
	p.inner.transform(work, nil)
	for i := range work {
		work[i] *= p.kernel[i]
	}
	p.back.transform(work, nil)
	scale := complex(1/float64(len(work)), 0)
	for i := range x {
		x[i] = work[i] * scale * p.chirp[i]
	}
}

func radix2(x, twiddle []complex128) {
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
				v := x[i+j+half] * twiddle[j*step]
				x[i+j+half] = x[i+j] - v
				x[i+j] += v
			}
		}
	}
}
