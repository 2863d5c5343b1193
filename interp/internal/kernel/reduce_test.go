package kernel

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestReduceFromSource: a reduction that computes its operand block by block returns the bits of a reduction that reads
// the whole operand.
func TestReduceFromSource(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shapes := []tensor.Shape{{100_000}, {70_000}, {7, 513}, {300, 70}, {5, 3, 700}, {6, 40, 30}, {2, 3, 4, 600}, {1, 9, 2000}, {3, 70_000}}
	tried := 0
	for _, shape := range shapes {
		for _, dt := range []tensor.DType{tensor.F32, tensor.F64, tensor.BF16, tensor.F16, tensor.I32, tensor.I8} {
			x, init := tensor.New(dt, shape), tensor.New(dt, nil)
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
			}
		}
	}
	if tried < 60 {
		t.Errorf("only %d reductions read blocks", tried)
	}
}
