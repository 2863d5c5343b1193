package vec

import (
	"math/rand/v2"
	"testing"
)

// The four operations must equal Go's for any length, also in place.
func TestArithmetic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	x, y := values(rng, 3000), values(rng, 3000)
	rng.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
	for name, l := range map[string]*Loop[float64]{"add": Add64, "sub": Sub64, "mul": Mul64, "div": Div64} {
		for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 33, 64, 100, 3000} {
			got, want := append([]float64(nil), x[:n]...), make([]float64, n)
			l.Run(got, got, y[:n])
			l.scalar(want, x[:n], y[:n])
			for i := range got {
				if !same(got[i], want[i]) {
					t.Fatalf("%s of %v and %v is %v, not %v", name, x[i], y[i], got[i], want[i])
				}
			}
		}
	}
	for name, l := range map[string]*Loop[float32]{"add": Add32, "sub": Sub32, "mul": Mul32, "div": Div32} {
		for _, n := range []int{0, 1, 31, 32, 33, 63, 64, 65, 128, 3000} {
			a, b := make([]float32, n), make([]float32, n)
			for i := range a {
				a[i], b[i] = float32(x[i]), float32(y[i])
			}
			got, want := make([]float32, n), make([]float32, n)
			l.scalar(want, a, b)
			l.Run(got, a, b)
			l.Run(b, a, b)
			for i := range got {
				if !same(float64(got[i]), float64(want[i])) || !same(float64(b[i]), float64(want[i])) {
					t.Fatalf("%s, element %d: %v and %v, not %v", name, i, got[i], b[i], want[i])
				}
			}
		}
	}
}
