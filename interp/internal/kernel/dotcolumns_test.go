package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// TestTransposedMatrixVector: the product of a transposed matrix, read in place, and a vector has the bits of fused
// multiply-adds in order, in blocks of 256.
func TestTransposedMatrixVector(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	for _, rows := range []int64{32, 70, 200} {
		const inner = 300
		a, v, out := tensor.New(tensor.F32, tensor.Shape{inner, rows}), tensor.New(tensor.F32, tensor.Shape{inner}), tensor.New(tensor.F32, tensor.Shape{rows})
		for _, x := range []*tensor.Tensor{a, v} {
			for i := range tensor.View[float32](x) {
				tensor.View[float32](x)[i] = float32(rng.NormFloat64())
			}
		}
		view := Transposed(Dense(TensorType(tensor.F32, a.Shape()...)), []int64{1, 0})
		d := &DotDimensions{LHSContracting: []int64{1}, RHSContracting: []int64{0}}
		if !d.ByColumns(view) {
			t.Fatalf("%d rows are not read in place", rows)
		}
		DotKernel(view, Dense(TensorType(tensor.F32, inner)), TensorType(tensor.F32, rows), d).Run([]*tensor.Tensor{a, v}, []*tensor.Tensor{out})
		for i, got := range tensor.View[float32](out) {
			total, sum := float32(0), float32(0)
			for k, x := range tensor.View[float32](v) {
				if k == 256 {
					total, sum = sum, 0
				}
				sum = vec.FMA(tensor.View[float32](a)[k*int(rows)+i], x, sum)
			}
			if want := total + sum; got != want {
				t.Fatalf("%d rows: element %d is %v, not %v", rows, i, got, want)
			}
		}
	}
}
