package algebra

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/tensor"
)

// TestRealTransforms: transforms of 9 lines of reals, in batches of eight and one, agree with the defining sums. The
// inverse ignores the imaginary parts of real elements.
func TestRealTransforms(t *testing.T) {
	const lines = 9
	rng := rand.New(rand.NewPCG(9, 1))
	for _, n := range []int64{1, 2, 3, 4, 6, 7, 8, 30, 64, 512, 600} {
		for _, e := range []struct {
			real, complex tensor.DType
			error         float64
		}{{tensor.F32, tensor.Complex64, 1e-7}, {tensor.F64, tensor.Complex128, 1e-14}} {
			h := n/2 + 1
			x, y, back := tensor.New(e.real, tensor.Shape{lines, n}), tensor.New(e.complex, tensor.Shape{lines, h}), tensor.New(e.real, tensor.Shape{lines, n})
			values := make([]float64, lines*n)
			for i := range values {
				values[i] = float64(float32(rng.NormFloat64()))
			}
			kernel.Encode64(e.real, x, 0, values)
			transform(t, "RFFT", n, x, y)
			spectrum := make([]complex128, lines*h)
			kernel.DecodeComplex(e.complex, spectrum, y, 0)
			for l := range int64(lines) {
				for k := range h {
					want, size := complex128(0), 0.0
					for j, v := range values[l*n : (l+1)*n] {
						want += complex(v, 0) * cmplx.Rect(1, -2*math.Pi*float64(int64(j)*k%n)/float64(n))
						size += v * v
					}
					if got := spectrum[l*h+k]; !(cmplx.Abs(got-want) <= e.error*math.Sqrt(size*float64(n))) {
						t.Fatalf("element %d of line %d of %d of %s: %v, not %v", k, l, n, e.real, got, want)
					}
				}
				spectrum[l*h] += 5i
				if n%2 == 0 {
					spectrum[l*h+h-1] -= 7i
				}
			}
			kernel.EncodeComplex(e.complex, y, 0, spectrum)
			transform(t, "IRFFT", n, y, back)
			got := make([]float64, lines*n)
			kernel.Decode64(e.real, got, back, 0)
			for i, v := range values {
				if !(math.Abs(got[i]-v) <= 10*e.error) {
					t.Fatalf("element %d of %d lines of %d of %s: %v, not %v", i, lines, n, e.real, got[i], v)
				}
			}
		}
	}
}

func transform(t *testing.T, kind string, n int64, x, y *tensor.Tensor) {
	t.Helper()
	typ := func(t *tensor.Tensor) kernel.Type {
		return kernel.Type{DType: t.DType(), Shape: t.Shape(), N: t.NumElements()}
	}
	s := &kernel.Signature{In: []kernel.Type{typ(x)}, Out: []kernel.Type{typ(y)}, Reserve: func(int64) {}}
	k := FftKernel(s, kind, []int64{n})
	k.Run([]*tensor.Tensor{x}, []*tensor.Tensor{y})
}
