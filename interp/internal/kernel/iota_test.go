package kernel

import (
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestIotaRows: an iota counts along its dimension, also if several cores write parts of a row.
func TestIotaRows(t *testing.T) {
	for _, c := range []struct {
		shape tensor.Shape
		dim   int
	}{{tensor.Shape{2, 200_000}, 0}, {tensor.Shape{3, 5, 30_001}, 1}, {tensor.Shape{100, 70, 90}, 0}, {tensor.Shape{4, 5}, 0}, {tensor.Shape{4, 5}, 1}} {
		for _, dt := range []tensor.DType{tensor.I32, tensor.UI64} {
			out := TensorType(dt, c.shape...)
			got := tensor.New(dt, c.shape)
			k := IotaKernel(&Signature{Name: "iota", Out: []Type{out}}, c.dim)
			k.Run(nil, []*tensor.Tensor{got})
			inner, n := int(c.shape[c.dim+1:].NumElements()), int(c.shape[c.dim])
			for i := range out.N {
				if v := got.IntAt(i); v != int64(i/inner%n) {
					t.Fatalf("%s along %d: element %d is %d", out, c.dim, i, v)
				}
			}
		}
	}
}
