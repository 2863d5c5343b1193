package kernel

import (
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestWidening: conversions of all integers of up to 16 bits to wider types are exact.
func TestWidening(t *testing.T) {
	for _, from := range []tensor.DType{tensor.I8, tensor.UI8, tensor.I16, tensor.UI16} {
		n := 1 << from.Bits()
		x := tensor.New(from, tensor.Shape{int64(n)})
		for i := range n {
			x.SetBits(i, uint64(i))
		}
		for _, to := range []tensor.DType{tensor.I32, tensor.UI32, tensor.I64, tensor.UI64, tensor.F32, tensor.F64} {
			out := tensor.New(to, x.Shape())
			convertLoop(from, to)([]*tensor.Tensor{x}, []*tensor.Tensor{out}, 0, n)
			want := tensor.New(to, nil)
			for i := range n {
				if to.IsFloat() {
					want.SetFloat(0, float64(x.IntAt(i)))
				} else {
					want.SetBits(0, uint64(x.IntAt(i))&(1<<to.Bits()-1))
				}
				if out.Bits(i) != want.Bits(0) {
					t.Fatalf("%s %d to %s is %#x, want %#x", from, x.IntAt(i), to, out.Bits(i), want.Bits(0))
				}
			}
		}
	}
}

// TestSmallIntegerProducts: products of 8-bit integers to i32 are exact at the largest sums that f32 represents, and
// beyond them.
func TestSmallIntegerProducts(t *testing.T) {
	for _, l := range []tensor.DType{tensor.I8, tensor.UI8} {
		for _, r := range []tensor.DType{tensor.I8, tensor.UI8} {
			for _, k := range []int{1, 257, 258, 259, 512, 514, 515, 1024, 1025, 1500} {
				for _, extreme := range []bool{true, false} {
					const rows, cols = 5, 70
					a, b := tensor.New(l, tensor.Shape{rows, int64(k)}), tensor.New(r, tensor.Shape{int64(k), cols})
					fill := func(x *tensor.Tensor) {
						for i := range x.NumElements() {
							v := uint64(i * 7919 % 256)
							if extreme { // -128 or 255
								v = map[tensor.DType]uint64{tensor.I8: 0x80, tensor.UI8: 0xff}[x.DType()]
							}
							x.SetBits(i, v)
						}
					}
					fill(a)
					fill(b)
					out := tensor.New(tensor.I32, tensor.Shape{rows, cols})
					dot := DotKernel(Dense(TypeOfTensor(a)), Dense(TypeOfTensor(b)), TypeOfTensor(out), &DotDimensions{LHSContracting: []int64{1}, RHSContracting: []int64{0}})
					dot.Run([]*tensor.Tensor{a, b}, []*tensor.Tensor{out})
					for i := range out.NumElements() {
						sum := int64(0)
						for e := range k {
							sum += a.IntAt(i/cols*k+e) * b.IntAt(e*cols+i%cols)
						}
						if out.IntAt(i) != sum {
							t.Fatalf("%s by %s, %d terms: element %d is %d, want %d", l, r, k, i, out.IntAt(i), sum)
						}
					}
				}
			}
		}
	}
}
