package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

// TestComplexLoops: products and quotients of many complex numbers have the bits of package special's, also in place,
// for parts of any magnitude, zeros, infinities and NaN.
func TestComplexLoops(t *testing.T) {
	complexLoops[complex64](t, tensor.Complex64)
	complexLoops[complex128](t, tensor.Complex128)
}

func complexLoops[T complex64 | complex128](t *testing.T, dt tensor.DType) {
	rng := rand.New(rand.NewPCG(1, 8))
	odd := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, 1e-45, 1e308, -3e38, 0x1p200, 0x1p-200, 1, -2}
	number := func() float64 {
		if rng.IntN(4) == 0 {
			return odd[rng.IntN(len(odd))]
		}
		return math.Ldexp(rng.NormFloat64(), rng.IntN(8)*rng.IntN(40)-rng.IntN(160))
	}
	equal := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
	for name, op := range map[string]struct {
		loops *BinaryLoops
		one   func(x, y complex128) complex128
	}{"multiply": {Multiply, special.ComplexMul}, "divide": {Divide, special.ComplexDiv}} {
		for _, n := range []int{1, 3, 7, 9, 257, 30001} {
			in := []*tensor.Tensor{tensor.New(dt, tensor.Shape{int64(n)}), tensor.New(dt, tensor.Shape{int64(n)})}
			want := make([]complex128, n)
			for i := range n {
				x, y := T(complex(number(), number())), T(complex(number(), number()))
				tensor.View[T](in[0])[i], tensor.View[T](in[1])[i] = x, y
				want[i] = complex128(T(op.one(complex128(x), complex128(y))))
			}
			op.loops.Bind(dt)(in, in[n%2:], 0, n)
			for i, v := range tensor.View[T](in[n%2]) {
				if got := complex128(v); !equal(real(got), real(want[i])) || !equal(imag(got), imag(want[i])) {
					t.Fatalf("%s of %d %s: element %d is %v, not %v", name, n, dt, i, got, want[i])
				}
			}
		}
	}
}
