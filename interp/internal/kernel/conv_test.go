package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// TestDepthwise: a convolution with one kernel per feature has the bits of fused multiply-adds in the order of the
// taps, with strides, padding, dilation and reversal. Padding is multiplied, too.
func TestDepthwise(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 3))
	const features = 19
	for _, w := range []struct{ stride, dilation, low, high, reversal int64 }{{1, 1, 0, 0, 0}, {1, 1, 1, 1, 0}, {2, 1, 2, 1, 1}, {1, 2, 2, 2, 0}} {
		const height, taps = 40, 3
		outHeight := (height+w.low+w.high-((taps-1)*w.dilation+1))/w.stride + 1
		fill := func(shape ...int64) *tensor.Tensor {
			x := tensor.New(tensor.F32, shape)
			for i := range tensor.View[float32](x) {
				tensor.View[float32](x)[i] = float32(rng.NormFloat64())
			}
			return x
		}
		x, k := fill(2, height, height, features), fill(taps, taps, 1, features)
		out := tensor.New(tensor.F32, tensor.Shape{2, outHeight, outHeight, features})
		s := &Signature{In: []Type{TensorType(tensor.F32, x.Shape()...), TensorType(tensor.F32, k.Shape()...)},
			Out: []Type{TensorType(tensor.F32, out.Shape()...)}, Reserve: func(int64) {}}
		pair := func(v int64) []int64 { return []int64{v, v} }
		dims := &ConvDimensions{InputBatch: 0, InputSpatial: []int64{1, 2}, InputFeature: 3, KernelSpatial: []int64{0, 1}, KernelInputFeature: 2, KernelOutput: 3,
			OutputBatch: 0, OutputSpatial: []int64{1, 2}, OutputFeature: 3}
		kernel := ConvKernel(s, &ConvolutionWindow{Dims: dims, Stride: pair(w.stride), LhsDil: pair(1), RhsDil: pair(w.dilation), Reversal: pair(w.reversal),
			Groups: features, BatchGroups: 1}, []int64{w.low, w.high, w.low, w.high})
		kernel.Run([]*tensor.Tensor{x, k}, []*tensor.Tensor{out})
		in, weights := tensor.View[float32](x), tensor.View[float32](k)
		for i, got := range tensor.View[float32](out) {
			f, rest := i%features, int64(i/features)
			column, rest := rest%outHeight, rest/outHeight
			row, batch := rest%outHeight, rest/outHeight
			want := float32(0)
			for a := range int64(taps) {
				for b := range int64(taps) {
					p, q := a, b
					if w.reversal != 0 {
						p, q = taps-1-a, taps-1-b
					}
					y, z := row*w.stride+p*w.dilation-w.low, column*w.stride+q*w.dilation-w.low
					v := float32(0)
					if y >= 0 && y < height && z >= 0 && z < height {
						v = in[((batch*height+y)*height+z)*features+int64(f)]
					}
					want = vec.FMA(v, weights[(a*taps+b)*features+int64(f)], want)
				}
			}
			if got != want {
				t.Fatalf("%+v: element %d is %v, not %v", w, i, got, want)
			}
		}
	}
}
