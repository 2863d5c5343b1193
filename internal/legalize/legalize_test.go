package legalize_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"github.com/hlocb/hlocb/internal/golden"
	"github.com/hlocb/hlocb/internal/legalize"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestGolden runs the cases in testdata: passes whose work this package does.
func TestGolden(t *testing.T) {
	golden.Run(t, golden.Opt(testkit.Testdata()), "testdata/*.txtar")
}

// run runs a module on the engine.
func run(t *testing.T, m *ir.Module, args ...*tensor.Tensor) []*tensor.Tensor {
	t.Helper()
	exe, err := interp.New(interp.Options{}).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	out, err := exe.Run(context.Background(), args)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWideProducts: a product of bf16 values that is f32 is computed in f32, however it is spelled. 257 is not a bf16.
func TestWideProducts(t *testing.T) {
	x := tensor.New(tensor.BF16, tensor.Shape{1, 2})
	y := tensor.New(tensor.BF16, tensor.Shape{2, 1})
	for i, v := range []float64{256, 1} {
		x.SetFloat(i, v)
		y.SetFloat(i, 1)
	}
	for _, op := range []string{
		`"stablehlo.einsum"(%x, %y) <{einsum_config = "ab,bc->ac"}>`,
		`"stablehlo.einsum"(%x, %y) <{einsum_config = "ab,bc->ca"}>`,
		`"stablehlo.dot"(%x, %y)`,
		`stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]`,
	} {
		m := testkit.Parse(t, "in.mlir", "func.func @main(%x: tensor<1x2xbf16>, %y: tensor<2x1xbf16>) -> tensor<1x1xf32> {\n  %0 = "+op+
			" : (tensor<1x2xbf16>, tensor<2x1xbf16>) -> tensor<1x1xf32>\n  return %0 : tensor<1x1xf32>\n}")
		if got := run(t, m, x, y)[0].FloatAt(0); got != 257 {
			t.Errorf("%s is %v, want 257", op, got)
		}
	}
}

// digamma is the derivative of lgamma, by its recurrence and asymptotic series.
func digamma(x float64) float64 {
	if x < 0 {
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*x)
	}
	r := 0.0
	for ; x < 20; x++ {
		r -= 1 / x
	}
	y := 1 / (x * x)
	return r + math.Log(x) - 0.5/x - y*(1.0/12-y*(1.0/120-y*(1.0/252-y/240)))
}

// besselI1e is exp(-|x|) times the modified Bessel function of order 1, by its integral.
func besselI1e(x float64) float64 {
	const n = 4000
	sum := 0.0
	for k := range n {
		a := math.Pi * (float64(k) + 0.5) / n
		sum += math.Exp(x*math.Cos(a)-math.Abs(x)) * math.Cos(a)
	}
	return sum / n
}

func lgamma(x float64) float64 { v, _ := math.Lgamma(x); return v }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestFunctions: the expansion of each function of CHLO yields the function's values, computed by package math, by a
// series or by an integral.
func TestFunctions(t *testing.T) {
	wide := []float64{-30, -5.25, -2, -1.5, -0.75, -0.3, -1e-3, 0, 1e-6, 0.2, 0.45, 0.9, 1, 1.75, 3, 8.5, 20, 60}
	unit := []float64{-1, -0.99, -0.6, -0.41, -1e-4, 0, 1e-3, 0.3, 0.5, 0.75, 0.999, 1}
	inside := unit[1 : len(unit)-1]
	positive := []float64{1, 1.0001, 1.3, 2.5, 7, 1e4, 1e20}
	gamma := []float64{-9.6, -3.5, -0.7, 0.1, 0.5, 0.9, 1.3, 2.2, 2.9, 7.5, 12, 33, 101}
	special := append([]float64{math.Inf(1), math.Inf(-1), math.NaN()}, wide...)
	inf := func(sign int) func(float64) float64 {
		return func(x float64) float64 { return truth(math.IsInf(x, sign)) }
	}
	for _, c := range []struct {
		op     string
		values []float64
		f      func(float64) float64
		eps    float64 // relative error allowed in f64; f32 may have 2^29 times as much
		result string  // element type, if it is not the operand's
	}{
		{"acos", unit, math.Acos, 1e-14, ""}, {"acosh", positive, math.Acosh, 1e-12, ""}, {"asin", unit, math.Asin, 1e-14, ""},
		{"asinh", special, math.Asinh, 1e-14, ""}, {"atan", special, math.Atan, 1e-14, ""}, {"atanh", inside, math.Atanh, 1e-13, ""},
		{"cosh", wide, math.Cosh, 1e-13, ""}, {"sinh", wide, math.Sinh, 1e-13, ""}, {"tan", wide, math.Tan, 1e-12, ""},
		{"erf", special, math.Erf, 1e-14, ""}, {"erfc", wide[:16], math.Erfc, 1e-13, ""}, {"erf_inv", inside, math.Erfinv, 1e-11, ""},
		{"lgamma", gamma, lgamma, 1e-12, ""}, {"digamma", gamma, digamma, 1e-12, ""}, {"bessel_i1e", wide, besselI1e, 1e-12, ""},
		{"square", wide, func(x float64) float64 { return x * x }, 1e-15, ""},
		{"is_inf", special, inf(0), 0, "i1"}, {"is_pos_inf", special, inf(1), 0, "i1"}, {"is_neg_inf", special, inf(-1), 0, "i1"},
	} {
		for _, typ := range []string{"f64", "f32", "bf16"} {
			result := c.result
			if result == "" {
				result = typ
			}
			n := len(c.values)
			m := testkit.Parse(t, c.op, fmt.Sprintf("func.func public @main(%%x: tensor<%dx%s>) -> tensor<%dx%s> {\n %%0 = chlo.%s %%x : tensor<%dx%s> -> tensor<%dx%s>\n return %%0 : tensor<%dx%s>\n}", n, typ, n, result, c.op, n, typ, n, result, n, result))
			if err := legalize.CHLO(m.Op(), nil, rewrite.Greedy); err != nil {
				t.Fatalf("%s of %s: %v", c.op, typ, err)
			}
			if err := ir.Verify(m); err != nil {
				t.Fatalf("%s of %s: %v", c.op, typ, err)
			}
			d, _ := tensor.ParseDType(typ)
			x := tensor.New(d, tensor.Shape{int64(n)})
			for i, v := range c.values {
				x.SetFloat(i, v)
			}
			out := run(t, m, x)[0]
			eps := c.eps * map[string]float64{"f64": 1, "f32": 1 << 29, "bf16": 1 << 42}[typ]
			if typ == "bf16" && c.eps > 0 {
				eps = 1.0 / 64
			} else if typ == "f32" && c.eps > 0 {
				eps = max(min(eps, 1e-4), 4e-6)
			}
			for i := range c.values {
				v := x.FloatAt(i) // rounded
				want, got := c.f(v), out.FloatAt(i)
				limit := eps * max(math.Abs(want), 0.05)
				if want != got && !(math.IsNaN(want) && math.IsNaN(got)) && !(math.Abs(got-want) <= limit) {
					t.Errorf("%s(%v) of %s is %v, want %v", c.op, v, typ, got, want)
				}
			}
		}
	}
}

// TestBinaryFunctions: zeta by its series, polygamma as derivatives of digamma, the next number by package math.
func TestBinaryFunctions(t *testing.T) {
	zeta := func(s, q float64) float64 { // terms, then the integral of the rest and half of its first term
		sum := 0.0
		const n = 400
		for k := range n {
			sum += math.Pow(q+float64(k), -s)
		}
		a := q + n
		return sum + math.Pow(a, 1-s)/(s-1) + math.Pow(a, -s)/2 + s*math.Pow(a, -s-1)/12
	}
	polygamma := func(n, x float64) float64 {
		if n == 0 {
			return digamma(x)
		}
		return math.Pow(-1, n+1) * math.Gamma(n+1) * zeta(n+1, x)
	}
	for _, c := range []struct {
		op    string
		pairs [][2]float64
		f     func(x, y float64) float64
		eps   float64
	}{
		{"zeta", [][2]float64{{2, 1}, {3, 0.5}, {1.5, 4}, {7, 2.25}, {20, 1}}, zeta, 1e-10},
		{"polygamma", [][2]float64{{0, 2.5}, {1, 1}, {2, 0.75}, {3, 4}, {5, 2}}, polygamma, 1e-9},
		{"next_after", [][2]float64{{1, 2}, {1, 0}, {0, 1}, {0, -1}, {-1, 5}, {3, 3}, {-2, -7}, {math.Inf(1), 0}, {1, math.NaN()}, {math.NaN(), 1}}, math.Nextafter, 0},
	} {
		n := len(c.pairs)
		m := testkit.Parse(t, c.op, fmt.Sprintf("func.func public @main(%%x: tensor<%[1]dxf64>, %%y: tensor<%[1]dxf64>) -> tensor<%[1]dxf64> {\n %%0 = chlo.%[2]s %%x, %%y : tensor<%[1]dxf64>, tensor<%[1]dxf64> -> tensor<%[1]dxf64>\n return %%0 : tensor<%[1]dxf64>\n}", n, c.op))
		if err := legalize.CHLO(m.Op(), nil, rewrite.Greedy); err != nil {
			t.Fatal(err)
		}
		x, y := tensor.New(tensor.F64, tensor.Shape{int64(n)}), tensor.New(tensor.F64, tensor.Shape{int64(n)})
		for i, p := range c.pairs {
			x.SetFloat(i, p[0])
			y.SetFloat(i, p[1])
		}
		out := run(t, m, x, y)[0]
		for i, p := range c.pairs {
			want, got := c.f(p[0], p[1]), out.FloatAt(i)
			if want != got && !(math.IsNaN(want) && math.IsNaN(got)) && !(math.Abs(got-want) <= c.eps*math.Abs(want)) {
				t.Errorf("%s(%v, %v) is %v, want %v", c.op, p[0], p[1], got, want)
			}
		}
	}
}

// TestComplexFunctions: the expansions of functions of complex numbers, by package cmplx.
func TestComplexFunctions(t *testing.T) {
	values := []complex128{0.5 + 0.25i, -1.5 + 2i, 2 - 0.75i, -0.3 - 4i, 3, -2 + 1e-3i, 1i, 0.01 - 0.02i, -0.9 + 0.1i, 30 + 40i}
	small := values[:len(values)-1]
	for _, c := range []struct {
		op     string
		values []complex128
		f      func(complex128) complex128
		chlo   bool
	}{
		{"acos", values, cmplx.Acos, true}, {"acosh", values, cmplx.Acosh, true}, {"asin", values, cmplx.Asin, true}, {"asinh", values, cmplx.Asinh, true},
		{"atan", small, cmplx.Atan, true}, {"atanh", small, cmplx.Atanh, true}, {"cosh", small, cmplx.Cosh, true}, {"sinh", small, cmplx.Sinh, true},
		{"tan", small, cmplx.Tan, true}, {"conj", values, cmplx.Conj, true}, {"square", values, func(z complex128) complex128 { return z * z }, true},
		{"exponential", small, cmplx.Exp, false}, {"log", values, cmplx.Log, false}, {"sqrt", values, cmplx.Sqrt, false},
		{"log_plus_one", values, func(z complex128) complex128 { return cmplx.Log(1 + z) }, false},
	} {
		n := len(c.values)
		typ := fmt.Sprintf("tensor<%dxcomplex<f64>>", n)
		op := "stablehlo." + c.op + " %x : " + typ
		if c.chlo {
			op = "chlo." + c.op + " %x : " + typ + " -> " + typ
		}
		m := testkit.Parse(t, c.op, fmt.Sprintf("func.func public @main(%%x: %[1]s) -> %[1]s {\n %%0 = %[2]s\n return %%0 : %[1]s\n}", typ, op))
		var err error
		if c.chlo {
			err = legalize.CHLO(m.Op(), nil, rewrite.Greedy)
		} else {
			err = legalize.Complex(m.Op(), rewrite.Greedy)
		}
		if err != nil {
			t.Fatalf("%s: %v", c.op, err)
		}
		x := tensor.New(tensor.Complex128, tensor.Shape{int64(n)})
		for i, v := range c.values {
			x.SetComplex(i, v)
		}
		out := run(t, m, x)[0]
		for i, v := range c.values {
			want, got := c.f(v), out.ComplexAt(i)
			if got != want && !(cmplx.Abs(got-want) <= 1e-12*max(1, cmplx.Abs(want))) {
				t.Errorf("%s(%v) is %v, want %v", c.op, v, got, want)
			}
		}
	}
}
