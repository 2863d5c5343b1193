package kernel

import (
	"errors"
	"fmt"
	"math/bits"
	"math/cmplx"
	goruntime "runtime"

	"github.com/hlocb/hlocb/tensor"
)

func FftKernel(s *Signature, kind string, length []int64) (Kernel, error) {
	if len(s.In) != 1 || len(s.Out) != 1 {
		return Kernel{}, errors.New("expects one operand and one result")
	}
	in, out := s.In[0], s.Out[0]
	k, rank := len(length), len(in.Shape)
	if k < 1 || k > 3 || k > rank || len(out.Shape) != rank {
		return Kernel{}, fmt.Errorf("transforms %d of %d dimensions", k, rank)
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
		return Kernel{}, Unsupported("transform %q", kind)
	}
	if !in.Shape.Equal(wantIn) || !out.Shape.Equal(wantOut) {
		return Kernel{}, fmt.Errorf("cannot transform %s to %s", in, out)
	}
	inverse := kind == "IFFT" || kind == "IRFFT"
	n := int(full.NumElements())
	return Kernel{Family: "Fourier transform", Scratch: fftScratch(in, out, full, k), Run: func(ins, outs []*tensor.Tensor) error {
		if out.N == 0 {
			return nil
		}
		data := matrixOf(ins[0], 0, in.N)
		if kind == "IRFFT" {
			data = mirror(data, full, half, k)
		}
		transform{full, k, inverse, kind == "RFFT"}.run(data)
		if kind == "RFFT" {
			w, h := int(full[rank-1]), int(half[rank-1])
			cut := make([]complex128, 0, out.N)
			for i := 0; i < n; i += w {
				cut = append(cut, data[i:i+h]...)
			}
			data = cut
		}
		storeMatrix(outs[0], 0, data, nil)
		return nil
	}}, nil
}

// fftScratch returns the bytes that a transform of the last k dimensions of a complex array of shape full allocates:
// the array as complex128, its cut or mirrored half, and the plan of the longest line.
func fftScratch(in, out Type, full tensor.Shape, k int) int64 {
	n := full.NumElements()
	bytes := 16 * n
	if !in.DType.IsComplex() || !out.DType.IsComplex() {
		bytes += 24 * n // RFFT: float64s and the half that is kept; IRFFT: the half that is given and float64s
	}
	line := int64(0)
	for _, d := range full[len(full)-k:] {
		size := 8 * d // twiddle factors
		if d&(d-1) != 0 {
			m := int64(1) << bits.Len64(uint64(2*d-2))
			size = 16*d + 16*m + 2*8*m // chirp, its transform, two plans
			size += int64(min(goruntime.GOMAXPROCS(0), int(n/d))) * 16 * m
		}
		size += int64(min(goruntime.GOMAXPROCS(0), int(n/max(d, 1)))) * 16 * d
		line = max(line, size)
	}
	return bytes + line
}

// mirror completes the half spectrum of a real signal: X[-k] = conj X[k].
func mirror(data []complex128, full, half tensor.Shape, k int) []complex128 {
	rank := len(full)
	out := make([]complex128, full.NumElements())
	fs, hs := Strides(full), Strides(half)
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
