package algebra

import (
	goruntime "runtime"
	"sync"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

// FftKernel transforms the last one to three dimensions in float64.
func FftKernel(s *kernel.Signature, kind string, length []int64) kernel.Kernel {
	in, out := s.In[0], s.Out[0]
	k, rank := len(length), len(in.Shape)
	kernel.FailIf(k < 1 || k > 3 || k > rank || len(out.Shape) != rank, "transforms %d of %d dimensions", k, rank)
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
		kernel.Fail(kernel.Unsupported("transform %q", kind))
	}
	kernel.FailIf(!in.Shape.Equal(wantIn) || !out.Shape.Equal(wantOut), "cannot transform %s to %s", in, out)
	for _, t := range []kernel.Type{in, out} {
		kernel.UnsupportedIf(!t.DType.IsComplex() && t.DType != tensor.F32 && t.DType != tensor.F64, "a transform of elements of type %s", t.DType)
	}
	if out.N == 0 {
		return kernel.Kernel{Family: "Fourier transform", Run: func(ins, outs []*tensor.Tensor) {}}
	}
	inverse := kind == "IFFT" || kind == "IRFFT"
	scale := 1.0
	var passes []lines
	scratch := int64(0)
	for d := rank - 1; d >= rank-k; d-- {
		n := int(full[d])
		s.Reserve(special.FourierBytes(n))
		p := lines{buffers: &sync.Pool{}, n: n, in: n, out: n, inner: int(half[d+1:].NumElements()), inverse: inverse, scale: 1}
		if kind == "FFT" || kind == "IFFT" {
			p.inner = int(full[d+1:].NumElements())
		}
		if d == rank-1 && kind == "RFFT" {
			p.out = n/2 + 1
		} else if d == rank-1 && kind == "IRFFT" {
			p.in = n/2 + 1
		}
		if p.in != p.out && n%2 == 0 {
			p.packed = true
			p.n = n / 2
			if inverse {
				p.out = n / 2
			} else {
				p.in = n / 2
			}
		}
		p.plan = special.NewFourier(p.n)
		scale *= float64(n)
		scratch = max(scratch, int64(min(goruntime.GOMAXPROCS(0), 16))*(4*rowChunk+8*int64(lineBatch(p.n))*int64(2*p.n+2+p.plan.Work(1))))
		passes = append(passes, p)
	}
	if kind == "IRFFT" { // the last dimension, which becomes real, comes last
		passes = append(passes[1:], passes[0])
	}
	if inverse {
		passes[k-1].scale = 1 / scale
	}
	for i := range passes {
		if p := &passes[i]; p.packed && inverse {
			p.powers, p.scale = special.RealPowers(2*p.n, p.scale, true), 1
		} else if p.packed {
			p.powers = special.RealPowers(2*p.n, 0.5, false)
		}
	}
	between := full
	if kind == "RFFT" || kind == "IRFFT" {
		between = half
	}
	if k > 1 {
		scratch += 16 * between.NumElements()
	}
	return kernel.Kernel{Family: "Fourier transform", Scratch: scratch, Run: func(ins, outs []*tensor.Tensor) {
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
	}}
}

// lines describes the transforms along one dimension. The elements of a line are inner elements apart. An even number
// of reals is transformed as half as many complex elements: packed counts pairs of reals.
type lines struct {
	plan    *special.Fourier
	n       int
	in, out int // elements of a line in memory: n, or the elements of a symmetric spectrum
	inner   int
	inverse bool
	packed  bool
	powers  []float64 // if packed; see vec.Untangle
	scale   float64
	buffers *sync.Pool // of *lineBuffer, one for each core
}

type lineBuffer struct {
	lines []float64
	rows  [rowChunk]float32
}

// rowChunk is the number of elements that pass between lines and their transpose at a time.
const rowChunk = 2048

// lineBatch returns the number of lines that are transformed at a time.
func lineBatch(n int) int {
	if n <= 1<<13 {
		return 8
	}
	return 1
}

// run transforms all lines.
func (p lines) run(from, to *tensor.Tensor) {
	inWidth, outWidth := p.in, p.out
	if p.packed && p.inverse {
		outWidth *= 2
	} else if p.packed {
		inWidth *= 2
	}
	count := from.NumElements() / inWidth
	size := min(lineBatch(p.n), count)
	kernel.Parallel((count+size-1)/size, max(1, 1<<13/(p.n*size)), func(lo, hi int) {
		held, ok := p.buffers.Get().(*lineBuffer)
		if !ok {
			held = &lineBuffer{lines: make([]float64, size*2*(p.n+1)+p.plan.Work(size))}
		}
		defer p.buffers.Put(held)
		space := (p.n + 1) * size
		re, im, work := held.lines[:space], held.lines[space:2*space], held.lines[2*space:]
		source, target := make([]int, size), make([]int, size)
		for g := lo; g < hi; g++ {
			b := min(size, count-g*size)
			for l := range b {
				at := g*size + l
				source[l] = at/p.inner*inWidth*p.inner + at%p.inner
				target[l] = at/p.inner*outWidth*p.inner + at%p.inner
			}
			end := p.n * b
			loadLines(re, im, from, source[:b], p.in, p.inner, p.packed, held.rows[:])
			for i := p.in; i < p.n; i++ { // the rest of a symmetric spectrum
				for l := range b {
					re[i*b+l], im[i*b+l] = re[(p.n-i)*b+l], -im[(p.n-i)*b+l]
				}
			}
			if p.packed && p.inverse { // elements 0 and n of the spectrum are real
				c := p.powers[0]
				for l, v := range re[end:][:b] {
					re[l], im[l] = float64((re[l]+v)*c), float64((re[l]-v)*c)
				}
				vec.Untangle(re, im, p.powers, p.n, b)
			}
			if p.inverse {
				p.plan.Transform(im, re, work, b)
			} else {
				p.plan.Transform(re, im, work, b)
			}
			switch {
			case p.packed && !p.inverse:
				vec.Untangle(re, im, p.powers, p.n, b)
				for l := range b {
					re[end+l], re[l] = re[l]-im[l], re[l]+im[l]
					im[end+l], im[l] = 0, 0
				}
			case p.out < p.n: // real lines of odd length: element 0 is the sum
				clear(im[:b])
			}
			if p.scale != 1 {
				for i := range end {
					re[i], im[i] = float64(re[i]*p.scale), float64(im[i]*p.scale)
				}
			}
			storeLines(to, re, im, target[:b], p.out, p.inner, p.packed, held.rows[:])
		}
	})
}

// layout describes elements as floats: element i of the line that begins at element s is float s*scale + i*step. Its
// imaginary part lies imag further on; reals have imag 0.
type layout struct{ scale, step, imag int }

// layoutOf returns the floats of t and the layout of elements that are step apart. If packed, an element is a pair of
// reals.
func layoutOf(t *tensor.Tensor, step int, packed bool) (*tensor.Tensor, layout) {
	switch {
	case t.DType().IsComplex():
		return t.Parts(), layout{2, 2 * step, 1}
	case packed:
		return t, layout{1, 2 * step, step}
	}
	return t, layout{1, step, 0}
}

// transposable reports whether vectors can transpose these lines.
func (l layout) transposable(t *tensor.Tensor, starts []int) bool {
	return t.DType() == tensor.F32 && len(starts) == 8 && l.step == 2 && l.imag == 1
}

// loadLines reads n elements, step apart, of the lines that begin at starts. Element i of line k goes to
// i*len(starts)+k.
func loadLines(re, im []float64, t *tensor.Tensor, starts []int, n, step int, packed bool, rows []float32) {
	t, l := layoutOf(t, step, packed)
	switch {
	case l.transposable(t, starts):
		x, line := tensor.View[float32](t)[l.scale*starts[0]:], l.scale*(starts[1]-starts[0])
		for i := 0; i < n; i += len(rows) / 16 {
			end := min(i+len(rows)/16, n)
			vec.Transpose(rows, x[2*i:], 8, 2*(end-i), 8, line)
			vec.SplitRows(re[8*i:8*end], im[8*i:8*end], rows[:16*(end-i)])
		}
	case t.DType() == tensor.F32:
		loadParts(re, im, tensor.View[float32](t), starts, n, l)
	default:
		loadParts(re, im, tensor.View[float64](t), starts, n, l)
	}
}

func loadParts[T float32 | float64](re, im []float64, x []T, starts []int, n int, l layout) {
	at := 0
	for i := range n {
		for _, s := range starts {
			k := s*l.scale + i*l.step
			re[at], im[at] = float64(x[k]), float64(x[k+l.imag])
			at++
		}
	}
	if l.imag == 0 {
		clear(im[:at])
	}
}

// storeLines is the inverse of loadLines.
func storeLines(t *tensor.Tensor, re, im []float64, starts []int, n, step int, packed bool, rows []float32) {
	t, l := layoutOf(t, step, packed)
	switch {
	case l.transposable(t, starts):
		x, line := tensor.View[float32](t)[l.scale*starts[0]:], l.scale*(starts[1]-starts[0])
		for i := 0; i < n; i += len(rows) / 16 {
			end := min(i+len(rows)/16, n)
			vec.JoinRows(rows[:16*(end-i)], re[8*i:8*end], im[8*i:8*end])
			vec.Transpose(x[2*i:], rows, 2*(end-i), 8, line, 8)
		}
	case t.DType() == tensor.F32:
		storeParts(tensor.View[float32](t), re, im, starts, n, l)
	default:
		storeParts(tensor.View[float64](t), re, im, starts, n, l)
	}
}

func storeParts[T float32 | float64](o []T, re, im []float64, starts []int, n int, l layout) {
	at := 0
	for i := range n {
		for _, s := range starts {
			k := s*l.scale + i*l.step
			o[k+l.imag], o[k] = T(im[at]), T(re[at]) // a real has only the latter
			at++
		}
	}
}
