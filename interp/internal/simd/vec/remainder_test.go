package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestRemainders compares remainders with package math and with Go's operators, on numbers of all sizes.
func TestRemainders(t *testing.T) {
	remainders[float32](t, Rem32Loop, 277)
	remainders[float64](t, Rem64Loop, 2090)
	rng := rand.New(rand.NewPCG(5, 11))
	edge := []int32{0, 1, -1, 2, -2, 7, math.MaxInt32, math.MinInt32, math.MinInt32 + 1, 1 << 30}
	x, y := make([]int32, 1001), make([]int32, 1001)
	for i := range x {
		x[i], y[i] = int32(rng.Uint32())>>rng.IntN(32), int32(rng.Uint32())>>rng.IntN(32)
		if k := len(edge); i < k*k {
			x[i], y[i] = edge[i/k], edge[i%k]
		}
	}
	q, r := make([]int32, len(x)), make([]int32, len(x))
	Binary[int32, int32](DivI32Loop)(q, x, y)
	Binary[int32, int32](RemI32Loop)(r, x, y)
	for i := range x {
		wantQ, wantR := int32(-1), x[i]
		if y[i] != 0 {
			wantQ, wantR = x[i]/y[i], x[i]%y[i]
		}
		if q[i] != wantQ || r[i] != wantR {
			t.Errorf("%d by %d is %d, remainder %d; not %d, %d", x[i], y[i], q[i], r[i], wantQ, wantR)
		}
	}
}

func remainders[T float32 | float64](t *testing.T, l *Loop, exponents int) {
	rng := rand.New(rand.NewPCG(5, 10))
	edge := []float64{0, math.Copysign(0, -1), 1, -3, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat32, 1e-45, 5e-324, math.MaxFloat64, 0x1p52, 0x1p53}
	for _, n := range []int{1, 5, 64, 1500} {
		x, y := make([]T, n), make([]T, n)
		for i := range x {
			x[i] = T(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			y[i] = T(math.Ldexp(rng.NormFloat64(), rng.IntN(60)-30))
			switch i % 5 {
			case 0:
				y[i] = x[i] / T(1+rng.IntN(1000)) // close to a whole quotient
			case 1:
				x[i] = T(math.Ldexp(rng.Float64(), rng.IntN(exponents)-exponents/2))
			}
			if k := len(edge); i < k*k {
				x[i], y[i] = T(edge[i/k]), T(edge[i%k])
			}
		}
		o := slices.Clone(x)
		Remainders[T](l)(o, o, y)
		for i, v := range o {
			want := T(math.Mod(float64(x[i]), float64(y[i])))
			if v != want && (v == v || want == want) || math.Signbit(float64(v)) != math.Signbit(float64(want)) {
				t.Errorf("%s: the remainder of %v by %v is %v, not %v", l.name, x[i], y[i], v, want)
			}
		}
	}
}

// TestMagnitude: one large number, or a NaN, is found in any place.
func TestMagnitude(t *testing.T) {
	for _, n := range []int{1, 3, 32, 40, 100} {
		for i := range n {
			for _, v := range []float64{-7, math.Inf(-1), math.NaN()} {
				x, y := make([]float32, n), make([]float64, n)
				for k := range x {
					x[k], y[k] = float32(-k%3), float64(-k%3)
				}
				x[i], y[i] = float32(v), v
				a, b := float64(Magnitude(x)), Magnitude(y)
				if w := math.Abs(v); a != w && w == w || w != w && a == a || b != w && w == w || w != w && b == b {
					t.Fatalf("%v in place %d of %d: %v and %v", v, i, n, a, b)
				}
			}
		}
	}
}

// TestNarrowFolds: rows and columns of bf16 and f16 have the bits of folds in f32.
func TestNarrowFolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 12))
	for _, l := range []*Loop{Add32Loop, Mul32Loop, Max32Loop, Min32Loop} {
		for _, brain := range []bool{true, false} {
			for _, steps := range []int{64, 65, 200} {
				const rows = 11
				x, wide := make([]uint16, rows*steps), make([]float32, rows*steps)
				for i := range x {
					v := float32(rng.NormFloat64())
					if i%97 == 5 {
						v = float32(math.Inf(1))
					}
					if x[i] = tensor.F16FromFloat32(v); brain {
						x[i] = uint16(math.Float32bits(v) >> 16)
					}
					if wide[i] = tensor.F16ToFloat32(x[i]); brain {
						wide[i] = tensor.BF16ToFloat32(x[i])
					}
				}
				check := func(what string, got, want []float32) {
					for i := range got {
						if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
							t.Fatalf("%s of %s, bf16 %v, %d steps: element %d is %v, not %v", what, l.name, brain, steps, i, got[i], want[i])
						}
					}
				}
				got, want := make([]float32, rows), make([]float32, rows)
				f, down := FoldNarrow(l, brain, steps), DownNarrow(l, brain)
				if (f == nil || down == nil) != (Bytes() == 0) {
					t.Fatalf("%s: no code", l.name)
				}
				if f == nil {
					continue
				}
				f(got, x)
				Fold[float32](l)(want, wide)
				check("rows", got, want)
				got, want = make([]float32, steps-3), make([]float32, steps-3)
				down(got, x[:(rows-1)*steps+steps-3], steps)
				Down[float32](l)(want, wide[:(rows-1)*steps+steps-3], steps)
				check("columns", got, want)
			}
		}
	}
}
