package interp

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// gamma returns a function of f64, computed by the engine.
func gamma(t *testing.T, op string, args [][]float64) []float64 {
	n := len(args[0])
	typ := fmt.Sprintf("tensor<%dxf64>", n)
	var params, names, types []string
	var in []*tensor.Tensor
	for i, v := range args {
		params = append(params, fmt.Sprintf("%%%d: %s", i, typ))
		names, types = append(names, fmt.Sprintf("%%%d", i)), append(types, typ)
		x := tensor.New(tensor.F64, tensor.Shape{int64(n)})
		copy(tensor.View[float64](x), v)
		in = append(in, x)
	}
	text := fmt.Sprintf("func.func @main(%s) -> %s {\n  %%r = chlo.%s %s : %s -> %[2]s\n  return %%r : %[2]s\n}", strings.Join(params, ", "), typ,
		op, strings.Join(names, ", "), strings.Join(types, ", "))
	return tensor.View[float64](run(t, text, in...)[0])
}

// TestGammaFunctions: the errors of lgamma, digamma, polygamma and zeta are a few units of the result, or, near zeros,
// of the terms that cancel. The limit grows with the order of zeta, and with the logarithm of the factorial in
// polygamma. testdata/functions.txt has the true values. XLA's formula of zeta and polygamma is for positive numbers.
func TestGammaFunctions(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "functions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	args, wants, seen := map[string][][]float64{}, map[string][]float64{}, 0
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
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
		op, want := fields[0], v[len(v)-1]
		if args[op] == nil {
			args[op] = make([][]float64, len(v)-1)
		}
		for i, x := range v[:len(v)-1] {
			args[op][i] = append(args[op][i], x)
		}
		wants[op] = append(wants[op], want)
	}
	for op, limit := range map[string]float64{"lgamma": 6, "digamma": 5, "polygamma": 5, "zeta": 4} {
		worst := 0.0
		for i, got := range gamma(t, op, args[op]) {
			first, x, want := args[op][0][i], args[op][len(args[op])-1][i], wants[op][i]
			off := ulps(got, want)
			if op == "lgamma" || op == "digamma" {
				off = math.Min(off, math.Abs(got-want)/(0x1p-53*(2+math.Abs(x))))
			} else if x < 0 || x > 1e100 {
				continue
			}
			if op == "zeta" { // a power of a rounded sum
				off /= first
			}
			if op == "polygamma" { // the exponential of a logarithm
				lg, _ := math.Lgamma(first + 1)
				off /= math.Max(1, lg+(first+1)*math.Abs(math.Log(math.Abs(x))))
			}
			seen++
			worst = max(worst, off)
			if !(off <= limit) {
				t.Errorf("%s of %v and %v is %v, not %v: %.3g ULP", op, first, x, got, want, off)
			}
		}
		t.Logf("%s is off by up to %v ULP", op, worst)
	}
	if seen < 300 {
		t.Errorf("only %d values", seen)
	}
}

// ulps returns the distance of got from want, in units of the last place of want.
func ulps(got, want float64) float64 {
	if got == want {
		return 0
	}
	_, e := math.Frexp(want)
	return math.Abs(got-want) / math.Ldexp(1, max(e-53, -1074))
}

// TestGammaLimits tests poles, infinities and NaN. Some limits that are 0 are NaN, as in XLA.
func TestGammaLimits(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		op         string
		x, y, want float64
	}{
		{"lgamma", 1, 0, 0}, {"lgamma", 0, 0, inf}, {"lgamma", -3, 0, inf}, {"lgamma", -inf, 0, inf}, {"lgamma", inf, 0, inf},
		{"lgamma", nan, 0, nan}, {"digamma", 0, 0, nan}, {"digamma", -2, 0, nan}, {"digamma", -inf, 0, nan}, {"digamma", inf, 0, inf},
		{"zeta", 1, 2, inf}, {"zeta", 0.5, 2, nan}, {"zeta", 2, -1, inf}, {"zeta", 3, -1, nan}, {"zeta", 2.5, -1.5, nan}, {"zeta", 2, inf, nan},
		{"zeta", inf, 0.5, inf}, {"zeta", inf, 1, 1}, {"zeta", inf, 2, nan}, {"polygamma", -1, 2, nan},
		{"polygamma", 1.5, 2, nan}, {"polygamma", 1, -2, inf}, {"polygamma", 2, -2, nan}, {"polygamma", inf, 2, nan}, {"polygamma", 1, inf, nan},
	} {
		args := [][]float64{{c.x}, {c.y}}
		if c.op == "lgamma" || c.op == "digamma" {
			args = args[:1]
		}
		if got := gamma(t, c.op, args)[0]; fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s of %v and %v is %v, not %v", c.op, c.x, c.y, got, c.want)
		}
	}
}
