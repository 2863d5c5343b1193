package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

var all = map[string]struct {
	f    *Function
	peer func(float64) float64
	ulps float64
}{
	"exp": {ExpLoop, math.Exp, 2}, "expm1": {Expm1Loop, math.Expm1, 2}, "log": {LogLoop, math.Log, 1.5}, "tanh": {TanhLoop, math.Tanh, 4},
	"logistic": {LogisticLoop, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 3}, "rsqrt": {RsqrtLoop, func(x float64) float64 { return 1 / math.Sqrt(x) }, 1.5},
	"sin": {SinLoop, nil, 0}, "cos": {CosLoop, nil, 0},
}

func values(rng *rand.Rand, n int) []float64 {
	x := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 22, -22, 709.78, 709.79, 710, -745.13, -745.14, -708.4, -720, 1e-310, -1e-310, 5e-324, 0x1p-1022, 0x1p-54, -0x1p-28,
		math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), math.Sqrt2, math.Sqrt2 / 2, 2, 3, math.Pi, math.Pi / 2, -math.Pi, 1e5, 1 << 20, -1 << 20, 0.34657359027997264}
	for len(x) < n {
		switch rng.IntN(4) {
		case 0:
			x = append(x, math.Float64frombits(rng.Uint64()))
		case 1:
			x = append(x, rng.NormFloat64()*100)
		case 2:
			x = append(x, float64(math.Float32frombits(rng.Uint32())))
		default:
			x = append(x, rng.NormFloat64())
		}
	}
	return x
}

func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// The loops in assembly must return the same bits as the loops in Go, for every function, both types and any length.
func TestAssemblyAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	x := values(rng, 60000)
	narrow := make([]float32, len(x))
	for i, v := range x {
		narrow[i] = float32(v)
	}
	for name, e := range all {
		for isa, f := range variants(name, e.f) {
			for _, n := range []int{len(x), 1, 3, 4, 5, 7, 8, 9, 17, 519} {
				o, want := make([]float64, n), make([]float64, n)
				f.Float64(o, x[:n])
				e.f.Portable().Float64(want, x[:n])
				o32, want32 := make([]float32, n), make([]float32, n)
				f.Float32(o32, narrow[:n])
				e.f.Portable().Float32(want32, narrow[:n])
				for i := range o {
					if !same(o[i], want[i]) {
						t.Fatalf("%s (%s) of %x is %x, in Go %x", name, isa, x[i], o[i], want[i])
					}
					if !same(float64(o32[i]), float64(want32[i])) {
						t.Fatalf("%s (%s) of f32 %x is %x, in Go %x", name, isa, narrow[i], o32[i], want32[i])
					}
				}
			}
		}
	}
}

// Each function agrees with package math to within the errors of both.
func TestAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	x := values(rng, 200000)
	for name, e := range all {
		if e.peer == nil {
			continue
		}
		worst, at := 0.0, 0.0
		for _, v := range x {
			got, want := e.f.At(v), e.peer(v)
			if same(got, want) || name == "log" && v > 0 && v < 0x1p-1022 || name == "exp" && v > 709 && v < 709.782 {
				continue // package math is wrong there on some machines
			}
			if math.IsInf(want, 0) || math.IsNaN(want) || math.IsNaN(got) || math.IsInf(got, 0) {
				t.Errorf("%s of %v is %v, not %v", name, v, got, want)
				continue
			}
			_, exp := math.Frexp(math.Max(math.Abs(want), 0x1p-1022))
			if d := math.Abs(got-want) / math.Ldexp(1, exp-53); d > worst {
				worst, at = d, v
			}
		}
		t.Logf("%s: up to %.2f ULP, at %v", name, worst, at)
		if worst > e.ulps {
			t.Errorf("%s is %v ULP off at %v", name, worst, at)
		}
	}
}

// Sine and cosine are compared with their series in 300 bits, because package math has fewer digits near multiples of
// pi.
func TestSincos(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	const bits = 300
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }
	series := func(x *big.Float, first int) *big.Float {
		// sum of (-1)^k x^(2k+first) / (2k+first)!
		sum, term := num(0), num(1)
		if first == 1 {
			term.Set(x)
		}
		x2 := num(0).Mul(x, x)
		for k := first; k < 400; k += 2 {
			sum.Add(sum, term)
			term.Mul(term, x2)
			term.Quo(term, num(float64((k+1)*(k+2))))
			term.Neg(term)
		}
		return sum
	}
	for i := range 2000 {
		v := rng.NormFloat64() * 8
		if i%4 == 0 {
			v = float64(rng.IntN(40)-20) * math.Pi / 2
		}
		for first, f := range []*Function{CosLoop, SinLoop} {
			want := series(num(v), first)
			w, _ := want.Float64()
			d, _ := num(0).Sub(want, num(f.At(v))).Float64()
			_, exp := math.Frexp(w)
			if v != 0 && math.Abs(d)/math.Ldexp(1, exp-53) > 1.2 {
				t.Fatalf("function %d of %v is %v, not %v", first, v, f.At(v), w)
			}
		}
	}
}

func BenchmarkFloat32(b *testing.B) {
	x, o := make([]float32, 4096), make([]float32, 4096)
	for i := range x {
		x[i] = float32(i)/1000 - 2
	}
	for name, e := range all {
		for isa, f := range variants(name, e.f) {
			b.Run(name+"/"+isa, func(b *testing.B) {
				for b.Loop() {
					f.Float32(o, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/element")
			})
		}
	}
}
