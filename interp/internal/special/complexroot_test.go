package special

import (
	"encoding/json"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
)

// rootScript gives the principal cube roots of complex numbers, in hexadecimal, by mpmath.
const rootScript = `
import json, sys
try:
    from mpmath import mp, mpc, mpf
except ImportError:
    json.dump(None, sys.stdout)
    sys.exit()
mp.prec = 400
w = [mpc(mpf(float.fromhex(a)), mpf(float.fromhex(b))) ** (mpf(1) / 3) for a, b in json.load(sys.stdin)]
json.dump([[float(z.real), float(z.imag)] for z in w], sys.stdout)
`

// Each part of a complex cube root is within five units of the truth, at all magnitudes.
func TestComplexCbrt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	in := []complex128{1, -8, 8i, -8i, complex(math.MaxFloat64, math.MaxFloat64), complex(math.SmallestNonzeroFloat64, 0), complex(-3e-310, 5e-312),
		complex(math.MaxFloat64, -math.SmallestNonzeroFloat64), complex(-1, 1e-300), complex(1e-300, -1)}
	for range 2000 {
		part := func() float64 {
			return math.Ldexp(rng.Float64()*2-1, rng.IntN(40)-20)
		}
		e := rng.IntN(2000) - 1000
		x, y := math.Ldexp(part(), e), math.Ldexp(part(), e)
		in = append(in, complex(x, y))
	}
	text := make([][2]string, len(in))
	for i, z := range in {
		text[i] = [2]string{strconv.FormatFloat(real(z), 'x', -1, 64), strconv.FormatFloat(imag(z), 'x', -1, 64)}
	}
	stdin, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var want [][2]float64
	if err := json.Unmarshal(peer.Python(t).Run(t, rootScript, stdin), &want); err != nil {
		t.Fatal(err)
	}
	if want == nil {
		t.Skip("skip: mpmath not installed")
	}
	worst := 0.0
	for i, z := range in {
		w := ComplexCbrt(z)
		for k, got := range []float64{real(w), imag(w)} {
			ulp := math.Nextafter(math.Abs(want[i][k]), math.Inf(1)) - math.Abs(want[i][k])
			if d := math.Abs(got-want[i][k]) / ulp; d > worst {
				worst = d
				if d > 5 {
					t.Errorf("cbrt(%v) is %v, not %v", z, w, want[i])
				}
			}
		}
	}
	t.Logf("within %g units", worst)
}

// Zeros keep the side of the branch cut that they are on; what is infinite or NaN stays so.
func TestComplexCbrtSpecial(t *testing.T) {
	inf, nan, minus := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct{ in, want complex128 }{
		{0, 0}, {complex(0, minus), complex(0, minus)}, {complex(minus, minus), complex(0, minus)},
		{complex(27, minus), complex(3, minus)}, {complex(inf, 1), complex(inf, 0)}, {complex(inf, -1), complex(inf, minus)}, {complex(inf, inf), complex(inf, inf)},
		{complex(-inf, 0), complex(inf, inf)}, {complex(1, -inf), complex(inf, -inf)}, {complex(nan, 1), cmplx.NaN()}, {complex(1, nan), cmplx.NaN()},
	} {
		got := ComplexCbrt(c.in)
		same := func(a, b float64) bool {
			return a == b && math.Signbit(a) == math.Signbit(b) || math.IsNaN(a) && math.IsNaN(b)
		}
		if !same(real(got), real(c.want)) || !same(imag(got), imag(c.want)) {
			t.Errorf("cbrt(%v) is %v, not %v", c.in, got, c.want)
		}
	}
}
