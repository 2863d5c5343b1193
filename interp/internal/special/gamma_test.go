package special

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestGammaFunctions: the errors of lgamma, digamma, polygamma and zeta are a few units of the result, or, near zeros,
// of the terms that cancel. The limit grows with the order of zeta, and with the logarithm of the factorial in
// polygamma. testdata/functions.txt has the true values.
func TestGammaFunctions(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "functions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	limit := map[string]float64{"lgamma": 4, "digamma": 5, "polygamma": 5, "zeta": 4}
	worst, seen := map[string]float64{}, 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if fields[0] == "#" {
			continue
		}
		var v []float64
		for _, s := range fields[1:] {
			x, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, x)
		}
		want, got := v[len(v)-1], 0.0
		switch fields[0] {
		case "lgamma":
			got = Lgamma(v[0])
		case "digamma":
			got = Digamma(v[0])
		case "polygamma":
			got = one(Polygamma, v[0], v[1])
		case "zeta":
			got = one(Zeta, v[0], v[1])
		}
		seen++
		off := ulps(got, want)
		if x := v[len(v)-2]; x < 0 && got != want && math.Abs(want) < math.MaxFloat64 {
			term := 2 + math.Abs(x) // of lgamma and digamma
			if fields[0] == "zeta" || fields[0] == "polygamma" {
				term = math.Pow(math.Abs(x-math.Round(x)), -v[0])
			}
			if fields[0] == "polygamma" {
				term *= math.Gamma(v[0]+1) / math.Abs(x-math.Round(x))
			}
			off = math.Min(off, math.Abs(got-want)/(0x1p-53*term))
		}
		if fields[0] == "zeta" { // a power of a rounded sum
			off /= v[0]
		}
		if fields[0] == "polygamma" { // the exponential of a logarithm
			off /= math.Max(1, Lgamma(v[0]+1)+(v[0]+1)*math.Abs(Log(math.Abs(v[1]))))
		}
		worst[fields[0]] = max(worst[fields[0]], off)
		if !(off <= limit[fields[0]]) {
			t.Errorf("%s%v is %v, not %v: %.3g ULP", fields[0], v[:len(v)-1], got, want, off)
		}
	}
	if seen < 300 {
		t.Errorf("only %d values", seen)
	}
	t.Logf("%d values, off by up to %v ULP", seen, worst)
}

// ulps returns the distance of got from want, in units of the last place of want.
func ulps(got, want float64) float64 {
	if got == want {
		return 0
	}
	_, e := math.Frexp(want)
	return math.Abs(got-want) / math.Ldexp(1, max(e-53, -1074))
}

// TestGammaLimits tests poles, infinities and NaN. No sum is computed there.
func TestGammaLimits(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ got, want float64 }{
		{Lgamma(1), 0}, {Lgamma(2), 0}, {Lgamma(0), inf}, {Lgamma(-3), inf}, {Lgamma(-inf), inf}, {Lgamma(inf), inf}, {Lgamma(nan), nan},
		{Digamma(0), nan}, {Digamma(-2), nan}, {Digamma(-inf), nan}, {Digamma(inf), inf},
		{one(Zeta, 1, 2), inf}, {one(Zeta, 0.5, 2), nan}, {one(Zeta, 2, -1), inf}, {one(Zeta, 3, -1), nan}, {one(Zeta, 2.5, -1.5), nan}, {one(Zeta, 2, inf), 0}, {one(Zeta, inf, 0.5), inf}, {one(Zeta, inf, 1), 1}, {one(Zeta, inf, 2), 0}, {one(Zeta, inf, -1.5), nan},
		{one(Polygamma, -1, 2), nan}, {one(Polygamma, 1.5, 2), nan}, {one(Polygamma, 1, -2), inf}, {one(Polygamma, 2, -2), nan}, {one(Polygamma, inf, 2), nan},
		{one(Polygamma, 1, inf), 0},
	} {
		if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// TestComplexCbrt: the sign of a zero decides the side of the branch cut; infinities and NaN pass through.
func TestComplexCbrt(t *testing.T) {
	inf, nan, minus := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct{ in, want complex128 }{
		{0, 0}, {complex(0, minus), complex(0, minus)}, {complex(minus, minus), complex(0, minus)},
		{complex(27, minus), complex(3, minus)}, {complex(inf, 1), complex(inf, 0)}, {complex(inf, -1), complex(inf, minus)},
		{complex(inf, inf), complex(inf, inf)}, {complex(-inf, 0), complex(inf, inf)}, {complex(1, -inf), complex(inf, -inf)},
		{complex(nan, 1), complex(nan, nan)}, {complex(1, nan), complex(nan, nan)},
	} {
		if got := ComplexCbrt(c.in); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("cbrt(%v) is %v, not %v", c.in, got, c.want)
		}
	}
	for _, v := range []complex128{-8, 8i, complex(1e100, -2e90), complex(-3e-200, 5e-201)} {
		w := ComplexCbrt(v)
		if d := ComplexDiv(w*w*w, v); math.Hypot(real(d)-1, imag(d)) > 1e-15 || math.Abs(angle(w)) > math.Pi/3 {
			t.Errorf("cbrt(%v) is %v", v, w)
		}
	}
}

func angle(v complex128) float64 { return math.Atan2(imag(v), real(v)) }

// one returns the value of f for one pair of numbers.
func one(f func(o, x, y []float64), x, y float64) float64 {
	var o [1]float64
	f(o[:], []float64{x}, []float64{y})
	return o[0]
}
