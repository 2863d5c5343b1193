package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// TestConvolutionBits: random convolutions in any order of dimensions, with padding of both signs, dilation, reversal
// and groups, have the bits of fused multiply-adds: in the order of taps and features, in blocks of 256, padding
// included. If the padded input is large, they are close.
func TestConvolutionBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	pick := func(values ...int64) int64 { return values[rng.IntN(len(values))] }
	done := 0
	for done < 60 {
		n := rng.IntN(4)
		w := &ConvolutionWindow{Groups: 1, BatchGroups: 1}
		switch rng.IntN(4) {
		case 0:
			w.Groups = rng.IntN(3) + 1
		case 1:
			w.BatchGroups = rng.IntN(3) + 1
		}
		cin, out := pick(1, 3, 16, 70), pick(1, 5, 17, 40)*int64(w.Groups*w.BatchGroups)
		batch := pick(1, 3) * int64(w.BatchGroups)
		in, kern, result := tensor.Shape{batch}, tensor.Shape{}, tensor.Shape{batch / int64(w.BatchGroups)}
		var pad []int64
		possible := true
		for range n {
			size, taps := pick(1, 4, 9, 13), pick(1, 2, 3, 8)
			stride, lhs, rhs, low, high := pick(1, 1, 2, 3), pick(1, 1, 2, 3), pick(1, 1, 2), pick(0, 0, 1, 3, -1, -2), pick(0, 0, 1, 3, -1, -2)
			w.Stride, w.LhsDil, w.RhsDil, w.Reversal = append(w.Stride, stride), append(w.LhsDil, lhs), append(w.RhsDil, rhs), append(w.Reversal, pick(0, 0, 1))
			pad = append(pad, low, high)
			room := low + high + (size-1)*lhs + 1 - ((taps-1)*rhs + 1)
			possible = possible && room >= 0
			in, kern, result = append(in, size), append(kern, taps), append(result, room/stride+1)
		}
		in, kern, result = append(in, cin*int64(w.Groups)), append(kern, cin, out), append(result, out)
		if work := result.NumElements() * kern[:n+1].NumElements(); !possible || work > 1<<20 || work/int64(w.Groups*w.BatchGroups) < smallProduct {
			continue
		}
		done++
		order := func() []int64 {
			var p []int64
			for _, d := range rng.Perm(n + 2) {
				p = append(p, int64(d))
			}
			return p
		}
		a, b, c := order(), order(), order() // where dimension i of the fixed order lies
		w.Dims = &ConvDimensions{InputBatch: a[0], InputSpatial: a[1 : n+1], InputFeature: a[n+1], KernelSpatial: b[:n], KernelInputFeature: b[n], KernelOutput: b[n+1],
			OutputBatch: c[0], OutputSpatial: c[1 : n+1], OutputFeature: c[n+1]}
		x, xs := shuffled(rng, in, a)
		k, ks := shuffled(rng, kern, b)
		y, ys := shuffled(rng, result, c)
		s := &Signature{In: []Type{TensorType(tensor.F32, x.Shape()...), TensorType(tensor.F32, k.Shape()...)}, Out: []Type{TensorType(tensor.F32, y.Shape()...)},
			Reserve: func(int64) {}}
		kernel := ConvKernel(s, w, pad)
		for range 2 { // the second run takes the memory of the first
			kernel.Run([]*tensor.Tensor{x, k}, []*tensor.Tensor{y})
		}
		padded := newConvolution(s, w, pad).padded()
		at, tap := make([]int64, n+2), make([]int64, n+1)
		for more := true; more; more = Advance(at, result) {
			group := at[n+1] / (out / int64(w.Groups*w.BatchGroups))
			total, sum, terms := float32(0), float32(0), 0
			clear(tap)
			for taps := true; taps; taps = Advance(tap, kern[:n+1]) {
				v, position, inside := float32(0), at[0]*int64(xs[0]), true
				if w.BatchGroups > 1 {
					position += group * result[0] * int64(xs[0])
				}
				feature := tap[n]
				if w.Groups > 1 {
					feature += group * cin
				}
				weight := tap[n]*int64(ks[n]) + at[n+1]*int64(ks[n+1])
				for i := range n {
					k := tap[i]
					weight += k * int64(ks[i])
					if w.Reversal[i] != 0 {
						k = kern[i] - 1 - k
					}
					p := at[1+i]*w.Stride[i] + k*w.RhsDil[i] - pad[2*i]
					inside = inside && p >= 0 && p%w.LhsDil[i] == 0 && p/w.LhsDil[i] < in[1+i]
					position += p / w.LhsDil[i] * int64(xs[1+i])
				}
				if inside {
					v = tensor.View[float32](x)[position+feature*int64(xs[n+1])]
				}
				sum = vec.FMA(v, tensor.View[float32](k)[weight], sum)
				if terms++; terms%256 == 0 {
					total, sum = total+sum, 0
				}
			}
			if terms%256 != 0 {
				total += sum
			}
			index := 0
			for i, p := range at {
				index += int(p) * ys[i]
			}
			if got := tensor.View[float32](y)[index]; got != total && (padded || math.Abs(float64(got-total)) > 1e-3) {
				t.Fatalf("%+v %v, %v * %v = %v: element %v is %v, not %v", *w, pad, in, kern, result, at, got, total)
			}
		}
	}
}

// shuffled returns a tensor of random numbers whose dimension perm[i] is dimension i of shape, and the strides of the
// dimensions of shape.
func shuffled(rng *rand.Rand, shape tensor.Shape, perm []int64) (*tensor.Tensor, []int) {
	x := tensor.New(tensor.F32, unpermuted(shape, perm))
	for i := range tensor.View[float32](x) {
		tensor.View[float32](x)[i] = float32(rng.NormFloat64())
	}
	return x, Transposed(Dense(TensorType(tensor.F32, x.Shape()...)), perm).Strides
}
