package kernel

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestReduceFromSource: a reduction that computes its operand block by block returns the bits of a reduction that reads
// the whole operand, and the sums of an outer loop over the elements.
func TestReduceFromSource(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shapes := []tensor.Shape{{100_000}, {70_000}, {7, 513}, {300, 70}, {5, 3, 700}, {6, 40, 30}, {2, 3, 4, 600}, {1, 9, 2000}, {3, 70_000},
		{4096, 17}, {3, 5000, 40}, {2, 301, 511}, {33_000, 2}}
	// The error of a sum of a few thousand terms is below this times the sum of their sizes.
	epsilon := map[tensor.DType]float64{tensor.F32: 1e-6, tensor.F64: 1e-14, tensor.F16: 1e-3, tensor.BF16: 1e-2}
	tried := 0
	for _, shape := range shapes {
		for _, dt := range []tensor.DType{tensor.F32, tensor.F64, tensor.BF16, tensor.F16, tensor.I32, tensor.I8} {
			x, init := tensor.New(dt, shape), tensor.New(dt, nil)
			if dt.IsFloat() {
				init.SetFloat(0, 3)
			} else {
				init.SetInt(0, 3)
			}
			for i := range x.NumElements() {
				if dt.IsFloat() {
					x.SetFloat(i, rng.NormFloat64())
				} else {
					x.SetInt(i, rng.Int64N(9))
				}
			}
			for set := 1; set < 1<<len(shape); set++ {
				var dims []int64
				for d := range shape {
					if set>>d&1 != 0 {
						dims = append(dims, int64(d))
					}
				}
				in := TypeOfTensor(x)
				if !Reducible(in, dims) {
					continue
				}
				tried++
				var kept tensor.Shape
				for _, d := range KeptDims(len(shape), dims) {
					kept = append(kept, shape[d])
				}
				out := TensorType(dt, kept...)
				size := dt.Size()
				source := &Source{Cost: 1 + rng.IntN(10), Run: func(in []*tensor.Tensor, dst *tensor.Tensor, lo, hi int) {
					copy(dst.Bytes(), in[0].Bytes()[lo*size:hi*size])
				}}
				var results [2]*tensor.Tensor
				for i, s := range []*Source{nil, source} {
					k := ReduceKernel(in, TypeOfTensor(init), out, dims, Add, s)
					results[i] = tensor.New(dt, kept)
					k.Run([]*tensor.Tensor{x, init}, results[i:i+1])
				}
				if !bytes.Equal(results[0].Bytes(), results[1].Bytes()) {
					t.Errorf("%s over %v: the results differ", in, dims)
				}
				sums := make([]float64, results[0].NumElements())
				sizes := make([]float64, len(sums))
				for i := range sums {
					sums[i], sizes[i] = 3, 3
				}
				for i := range x.NumElements() {
					at, rest := 0, i
					for d, stride := len(shape)-1, 1; d >= 0; d-- {
						if set>>d&1 == 0 {
							at += rest % int(shape[d]) * stride
							stride *= int(shape[d])
						}
						rest /= int(shape[d])
					}
					sums[at] += x.FloatAt(i)
					sizes[at] += math.Abs(x.FloatAt(i))
				}
				for i, want := range sums {
					got, bound := results[0].FloatAt(i), sizes[i]*epsilon[dt]
					if dt == tensor.I8 {
						want = float64(int8(int64(want)))
					}
					if !(math.Abs(got-want) <= bound) {
						t.Fatalf("%s over %v: sum %d is %v, want %v +- %v", in, dims, i, got, want, bound)
					}
				}
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d reductions read blocks", tried)
	}
}
