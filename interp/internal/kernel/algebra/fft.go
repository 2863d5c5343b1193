package algebra

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

// FftKernel transforms the last one to three dimensions in float64.
func FftKernel(s *kernel.Signature, kind string, length []int64) (kernel.Kernel, error) {
	if len(s.In) != 1 || len(s.Out) != 1 {
		return kernel.Kernel{}, errors.New("expects one operand and one result")
	}
	in, out := s.In[0], s.Out[0]
	k, rank := len(length), len(in.Shape)
	if k < 1 || k > 3 || k > rank || len(out.Shape) != rank {
		return kernel.Kernel{}, fmt.Errorf("transforms %d of %d dimensions", k, rank)
	}
	full := in.Shape.Clone() // shape of the complex array that is transformed
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
		return kernel.Kernel{}, kernel.Unsupported("transform %q", kind)
	}
	if !in.Shape.Equal(wantIn) || !out.Shape.Equal(wantOut) {
		return kernel.Kernel{}, fmt.Errorf("cannot transform %s to %s", in, out)
	}
	for _, t := range []kernel.Type{in, out} {
		if !t.DType.IsComplex() && t.DType != tensor.F32 && t.DType != tensor.F64 {
			return kernel.Kernel{}, kernel.Unsupported("a transform of elements of type %s", t.DType)
		}
	}
	if out.N == 0 {
		return kernel.Kernel{Family: "Fourier transform", Run: func(ins, outs []*tensor.Tensor) error { return nil }}, nil
	}
	inverse := kind == "IFFT" || kind == "IRFFT"
	scale := 1.0
	var passes []lines
	scratch := int64(0)
	for d := rank - 1; d >= rank-k; d-- {
		n := int(full[d])
		if err := s.Reserve(special.FourierBytes(n)); err != nil {
			return kernel.Kernel{}, err
		}
		p := lines{buffers: &sync.Pool{}, plan: special.NewFourier(n), n: n, in: n, out: n, inner: int(half[d+1:].NumElements()), inverse: inverse, scale: 1}
		if kind == "FFT" || kind == "IFFT" {
			p.inner = int(full[d+1:].NumElements())
		}
		if d == rank-1 && kind == "RFFT" {
			p.out = n/2 + 1
		} else if d == rank-1 && kind == "IRFFT" {
			p.in = n/2 + 1
		}
		scale *= float64(n)
		scratch = max(scratch, 8*int64(min(goruntime.GOMAXPROCS(0), 16))*int64(lineBatch(n))*int64(2*n+p.plan.Work(1)))
		passes = append(passes, p)
	}
	if kind == "IRFFT" { // the last dimension, which becomes real, comes last
		passes = append(passes[1:], passes[0])
	}
	if inverse {
		passes[k-1].scale = 1 / scale
	}
	between := full
	if kind == "RFFT" || kind == "IRFFT" {
		between = half
	}
	if k > 1 {
		scratch += 16 * between.NumElements()
	}
	return kernel.Kernel{Family: "Fourier transform", Scratch: scratch, Run: func(ins, outs []*tensor.Tensor) error {
		var mid *tensor.Tensor
		if k > 1 {
			mid = tensor.New(tensor.Complex128, between)
		}
		for i, p := range passes {
			from, to := mid, mid
			if i == 0 {
				from = ins[0]
			}
			if i == k-1 {
				to = outs[0]
			}
			p.run(from, to)
		}
		return nil
	}}, nil
}

// lines describes the transforms along one dimension. The elements of a line are inner elements apart.
type lines struct {
	plan    *special.Fourier
	n       int
	in, out int // elements of a line in memory: n, or n/2+1 of a symmetric spectrum
	inner   int
	inverse bool
	scale   float64
	buffers *sync.Pool // of *[]float64, one for each core
}

// lineBatch returns the number of lines that are transformed at a time.
func lineBatch(n int) int {
	if n <= 1<<13 {
		return 8
	}
	return 1
}

// run transforms all lines.
func (p lines) run(from, to *tensor.Tensor) {
	count := from.NumElements() / p.in
	size := min(lineBatch(p.n), count)
	kernel.Parallel((count+size-1)/size, max(1, 1<<13/(p.n*size)), func(lo, hi int) {
		held, ok := p.buffers.Get().(*[]float64)
		if !ok {
			x := make([]float64, size*2*p.n+p.plan.Work(size))
			held = &x
		}
		defer p.buffers.Put(held)
		buffer := *held
		re, im, work := buffer[:p.n*size], buffer[p.n*size:2*p.n*size], buffer[2*p.n*size:]
		source, target := make([]int, size), make([]int, size)
		for g := lo; g < hi; g++ {
			b := min(size, count-g*size)
			for l := range b {
				at := g*size + l
				source[l] = at/p.inner*p.in*p.inner + at%p.inner
				target[l] = at/p.inner*p.out*p.inner + at%p.inner
			}
			loadLines(re, im, from, source[:b], p.in, p.inner)
			for i := p.in; i < p.n; i++ { // the rest of a symmetric spectrum
				for l := range b {
					re[i*b+l], im[i*b+l] = re[(p.n-i)*b+l], -im[(p.n-i)*b+l]
				}
			}
			if p.inverse {
				p.plan.Transform(im, re, work, b)
			} else {
				p.plan.Transform(re, im, work, b)
			}
			if p.out < p.n { // real lines: element 0 is the sum, element n/2 that with alternating signs
				clear(im[:b])
				if p.n%2 == 0 {
					clear(im[p.n/2*b : (p.n/2+1)*b])
				}
			}
			if p.scale != 1 {
				for i := range p.n * b {
					re[i], im[i] = float64(re[i]*p.scale), float64(im[i]*p.scale)
				}
			}
			storeLines(to, re, im, target[:b], p.out, p.inner)
		}
	})
}

// loadLines reads n elements, step apart, of the lines that begin at starts. Element i of line l goes to
// i*len(starts)+l.
func loadLines(re, im []float64, t *tensor.Tensor, starts []int, n, step int) {
	switch t.DType() {
	case tensor.F32:
		loadReal(re, im, tensor.View[float32](t), starts, n, step)
	case tensor.F64:
		loadReal(re, im, tensor.View[float64](t), starts, n, step)
	case tensor.Complex64:
		x, at := tensor.View[complex64](t), 0
		for i := range n {
			for _, s := range starts {
				v := x[s+i*step]
				re[at], im[at] = float64(real(v)), float64(imag(v))
				at++
			}
		}
	default:
		x, at := tensor.View[complex128](t), 0
		for i := range n {
			for _, s := range starts {
				v := x[s+i*step]
				re[at], im[at] = real(v), imag(v)
				at++
			}
		}
	}
}

func loadReal[T float32 | float64](re, im []float64, x []T, starts []int, n, step int) {
	at := 0
	for i := range n {
		for _, s := range starts {
			re[at] = float64(x[s+i*step])
			at++
		}
	}
	clear(im[:at])
}

// storeLines is the inverse of loadLines.
func storeLines(t *tensor.Tensor, re, im []float64, starts []int, n, step int) {
	switch t.DType() {
	case tensor.F32:
		storeReal(tensor.View[float32](t), re, starts, n, step)
	case tensor.F64:
		storeReal(tensor.View[float64](t), re, starts, n, step)
	case tensor.Complex64:
		o, at := tensor.View[complex64](t), 0
		for i := range n {
			for _, s := range starts {
				o[s+i*step] = complex(float32(re[at]), float32(im[at]))
				at++
			}
		}
	default:
		o, at := tensor.View[complex128](t), 0
		for i := range n {
			for _, s := range starts {
				o[s+i*step] = complex(re[at], im[at])
				at++
			}
		}
	}
}

func storeReal[T float32 | float64](o []T, re []float64, starts []int, n, step int) {
	at := 0
	for i := range n {
		for _, s := range starts {
			o[s+i*step] = T(re[at])
			at++
		}
	}
}
