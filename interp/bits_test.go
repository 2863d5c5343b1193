package interp

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/interp/internal/ops"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

var updateBits = flag.Bool("update-bits", false, "write testdata/bits.txt")

// TestBits compares hashes of results with testdata/bits.txt, one for each op and type that rounds: every processor
// returns the same bits. With GOARCH=arm64, `go test -exec qemu-aarch64-static` tests another processor.
func TestBits(t *testing.T) {
	label.Once(t)
	var b strings.Builder
	for _, p := range bitPrograms() {
		exe, err := compileText(t, p.text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", p.name, err, p.text)
		}
		var args []*tensor.Tensor
		for i, a := range p.args {
			args = append(args, bitInput(a.dt, a.n, uint64(i), p.tame))
		}
		for i, a := range p.args {
			args[i] = args[i].Reshape(a.shape)
		}
		out, err := exe.Run(t.Context(), args)
		exe.Close()
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		h := sha256.New()
		for _, v := range out {
			h.Write(canonicalNaNs(v))
		}
		fmt.Fprintf(&b, "%-45s %x\n", p.name, h.Sum(nil)[:8])
	}
	path := filepath.Join("testdata", "bits.txt")
	if *updateBits {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, lines := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	if len(got) != len(lines) {
		t.Errorf("%d programs, %d lines in %s", len(got), len(lines), path)
	}
	for i := range min(len(got), len(lines)) {
		if got[i] != lines[i] {
			t.Errorf("got  %s\nwant %s", got[i], lines[i])
		}
	}
}

type bitArg struct {
	dt    tensor.DType
	shape tensor.Shape
	n     int
}

type bitProgram struct {
	name, text string
	args       []bitArg
	tame       bool // ordinary values only
}

// bitPrograms are programs of one op each.
func bitPrograms() []bitProgram {
	var out []bitProgram
	add := func(name, body string, tame bool, results string, types ...string) {
		p := bitProgram{name: name, tame: tame}
		var params []string
		for i, s := range types {
			dt, shape, err := tensor.ParseType(s)
			if err != nil {
				panic(err)
			}
			p.args = append(p.args, bitArg{dt, shape, int(shape.NumElements())})
			params = append(params, fmt.Sprintf("%%%c: %s", 'a'+i, s))
		}
		var vals []string
		for i := range strings.Count(results, "tensor<") {
			vals = append(vals, fmt.Sprintf("%%r#%d", i))
		}
		p.text = fmt.Sprintf("func.func @main(%s) -> (%s) {\n  %s\n  return %s : %s\n}\n", strings.Join(params, ", "), results, body, strings.Join(vals, ", "), results)
		out = append(out, p)
	}
	types := []string{"f16", "bf16", "f32", "f64", "complex<f32>", "complex<f64>"}
	table := ops.UnaryOps()
	for _, dialect := range []string{"stablehlo.", "chlo."} {
		byName := func(a, b *ir.Def) int { return strings.Compare(a.Name, b.Name) }
		for _, d := range slices.SortedFunc(maps.Keys(table), byName) {
			u := table[d]
			if !strings.HasPrefix(d.Name, dialect) {
				continue
			}
			for _, e := range types {
				cplx := strings.HasPrefix(e, "complex")
				if cplx && u.C == nil || !cplx && u.F == nil || d == chlo.BesselI1e && strings.Contains(e, "16") {
					continue
				}
				s := "tensor<4000x" + e + ">"
				add(d.Name+" "+e, fmt.Sprintf(`%%r:1 = "%s"(%%a) : (%s) -> %s`, d.Name, s, s), false, s, s)
			}
		}
	}
	for _, op := range []string{"acos", "acosh", "asin", "asinh", "atan", "atanh", "digamma", "erf_inv", "lgamma", "square"} {
		for _, e := range types {
			if cplx := strings.HasPrefix(e, "complex"); !cplx || op[0] == 'a' || op == "square" {
				s := "tensor<4000x" + e + ">"
				add("chlo."+op+" "+e, fmt.Sprintf(`%%r:1 = "chlo.%s"(%%a) : (%s) -> %s`, op, s, s), false, s, s)
			}
		}
	}
	for _, e := range types {
		s := "tensor<4000x" + e + ">"
		for _, op := range []string{"stablehlo.add", "stablehlo.subtract", "stablehlo.multiply", "stablehlo.divide", "stablehlo.power", "stablehlo.atan2", "stablehlo.remainder", "chlo.zeta", "chlo.polygamma"} {
			if strings.HasPrefix(e, "complex") && (op == "stablehlo.remainder" || op == "chlo.zeta" || op == "chlo.polygamma") {
				continue
			}
			add(op+" "+e, fmt.Sprintf(`%%r:1 = "%s"(%%a, %%b) : (%s, %s) -> %s`, op, s, s, s), op == "chlo.zeta" || op == "chlo.polygamma", s, s, s)
		}
	}
	for _, e := range []string{"f32", "f64"} {
		s := "tensor<2000x" + e + ">"
		add("stablehlo.chain "+e, fmt.Sprintf(`%%x = stablehlo.multiply %%a, %%b : %[1]s
  %%y = stablehlo.add %%x, %%c : %[1]s
  %%z = stablehlo.multiply %%y, %%x : %[1]s
  %%r:1 = "stablehlo.subtract"(%%z, %%a) : (%[1]s, %[1]s) -> %[1]s`, s), true, s, s, s, s)
	}
	for _, e := range []string{"f16", "f32", "f64", "complex<f32>", "complex<f64>"} {
		for _, n := range []int{5, 70} {
			l, r, o := fmt.Sprintf("tensor<%dx%dx%s>", n, n+3, e), fmt.Sprintf("tensor<%dx%dx%s>", n+3, n+1, e), fmt.Sprintf("tensor<%dx%dx%s>", n, n+1, e)
			add(fmt.Sprintf("stablehlo.dot %d %s", n, e), fmt.Sprintf(`%%r:1 = "stablehlo.dot"(%%a, %%b) : (%s, %s) -> %s`, l, r, o), true, o, l, r)
		}
		for _, v := range []string{"add", "multiply"} {
			s, o := "tensor<7x3000x"+e+">", "tensor<7x"+e+">"
			add("stablehlo.reduce "+v+" "+e, fmt.Sprintf(`%%i = stablehlo.constant dense<%s> : tensor<%s>
  %%r:1 = "stablehlo.reduce"(%%a, %%i) ({
  ^bb0(%%x: tensor<%[2]s>, %%y: tensor<%[2]s>):
    %%z = stablehlo.%[3]s %%x, %%y : tensor<%[2]s>
    stablehlo.return %%z : tensor<%[2]s>
  }) {dimensions = array<i64: 1>} : (%[4]s, tensor<%[2]s>) -> %[5]s`, initOf(v, e), e, v, s, o), true, o, s)
		}
	}
	for _, e := range []string{"f32", "f64"} {
		in, k, o := "tensor<2x9x9x3x"+e+">", "tensor<3x3x3x4x"+e+">", "tensor<2x7x7x4x"+e+">"
		add("stablehlo.convolution "+e, fmt.Sprintf(`%%r:1 = "stablehlo.convolution"(%%a, %%b) {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>} : (%s, %s) -> %s`, in, k, o), true, o, in, k)
		x, f := "tensor<5x6x4x"+e+">", "tensor<4x"+e+">"
		add("stablehlo.batch_norm_training "+e, fmt.Sprintf(`%%r:3 = "stablehlo.batch_norm_training"(%%a, %%b, %%c) {epsilon = 1.0e-3 : f32, feature_index = 2 : i64} : (%[1]s, %[2]s, %[2]s) -> (%[1]s, %[2]s, %[2]s)`, x, f), true, x+", "+f+", "+f, x, f, f)
		add("stablehlo.batch_norm_grad "+e, fmt.Sprintf(`%%v = stablehlo.multiply %%d, %%d : %[2]s
  %%r:3 = "stablehlo.batch_norm_grad"(%%a, %%b, %%c, %%v, %%e) {epsilon = 1.0e-3 : f32, feature_index = 2 : i64} : (%[1]s, %[2]s, %[2]s, %[2]s, %[1]s) -> (%[1]s, %[2]s, %[2]s)`, x, f), true, x+", "+f+", "+f, x, f, f, f, x)
		s := "tensor<300x" + e + ">"
		add("stablehlo.rng "+e, fmt.Sprintf(`%%l = stablehlo.constant dense<0.5> : tensor<%[1]s>
  %%h = stablehlo.constant dense<2.25> : tensor<%[1]s>
  %%s = stablehlo.constant dense<300> : tensor<1xi64>
  %%x = stablehlo.rng %%l, %%h, %%s, distribution = UNIFORM : (tensor<%[1]s>, tensor<%[1]s>, tensor<1xi64>) -> %[2]s
  %%y = stablehlo.rng %%l, %%h, %%s, distribution = NORMAL : (tensor<%[1]s>, tensor<%[1]s>, tensor<1xi64>) -> %[2]s
  %%r:2 = "stablehlo.optimization_barrier"(%%x, %%y) : (%[2]s, %[2]s) -> (%[2]s, %[2]s)`, e, s), true, s+", "+s)
	}
	for _, e := range []string{"f32", "f64", "complex<f32>", "complex<f64>"} {
		m := "tensor<3x6x6x" + e + ">"
		add("stablehlo.cholesky "+e, fmt.Sprintf(`%%t = stablehlo.transpose %%a, dims = [0, 2, 1] : (%[1]s) -> %[1]s
  %%u = "chlo.conj"(%%t) : (%[1]s) -> %[1]s
  %%p = stablehlo.dot_general %%a, %%u, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (%[1]s, %[1]s) -> %[1]s
  %%r:1 = "stablehlo.cholesky"(%%p) {lower = true} : (%[1]s) -> %[1]s`, m), true, m, m)
		add("stablehlo.triangular_solve "+e, fmt.Sprintf(`%%r:1 = "stablehlo.triangular_solve"(%%a, %%b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (%[1]s, %[1]s) -> %[1]s`, m), true, m, m, m)
	}
	for _, e := range []string{"complex<f32>", "complex<f64>"} {
		for _, n := range []int{8, 30, 3000, 4096} {
			s := fmt.Sprintf("tensor<2x%dx%s>", n, e)
			for _, kind := range []string{"FFT", "IFFT"} {
				add(fmt.Sprintf("stablehlo.fft %s %d %s", kind, n, e), fmt.Sprintf(`%%r:1 = "stablehlo.fft"(%%a) {fft_type = #stablehlo<fft_type %s>, fft_length = array<i64: %d>} : (%s) -> %[3]s`, kind, n, s), true, s, s)
			}
		}
		for _, n := range []int{8, 30, 31, 4096} {
			x, y := fmt.Sprintf("tensor<9x%dx%s>", n, e[len("complex<"):len(e)-1]), fmt.Sprintf("tensor<9x%dx%s>", n/2+1, e)
			add(fmt.Sprintf("stablehlo.fft RFFT %d %s", n, e), fmt.Sprintf(`%%r:1 = "stablehlo.fft"(%%a) {fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: %d>} : (%s) -> %s`, n, x, y), true, y, x)
			add(fmt.Sprintf("stablehlo.fft IRFFT %d %s", n, e), fmt.Sprintf(`%%r:1 = "stablehlo.fft"(%%a) {fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: %d>} : (%s) -> %s`, n, y, x), true, x, y)
		}
	}
	return out
}

func initOf(op, e string) string {
	v := "0.0"
	if op == "multiply" {
		v = "1.0"
	}
	if strings.HasPrefix(e, "complex") {
		return "(" + v + ", 0.0)"
	}
	return v
}

// bitInput fills a tensor with special values, then numbers near one, then, unless tame is set, numbers of any
// magnitude.
func bitInput(dt tensor.DType, n int, seed uint64, tame bool) *tensor.Tensor {
	whole := tensor.New(dt, tensor.Shape{int64(n)})
	v := whole.Parts()
	part, count := v.DType(), v.NumElements()
	rng := rand.New(rand.NewPCG(seed, 77))
	specials := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -2, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, 0x1p-1074, 0x1p-1022, -0x1p-126, 100, -37.5}
	for i := range count {
		switch {
		case tame || i >= count/8 && i < count/2:
			v.SetFloat(i, (rng.Float64()-0.5)*4)
		case i < count/8:
			v.SetFloat(i, specials[rng.IntN(len(specials))])
		case i < 3*count/4:
			v.SetFloat(i, math.Ldexp(rng.Float64()-0.5, rng.IntN(40)-20))
		default:
			v.SetBits(i, rng.Uint64()>>(64-part.Bits()))
		}
	}
	return whole
}

// canonicalNaNs returns the bytes of a tensor in which every NaN has the same bits.
func canonicalNaNs(v *tensor.Tensor) []byte {
	w := v.Clone().Parts()
	if w.DType().IsFloat() {
		for i := range w.NumElements() {
			if math.IsNaN(w.FloatAt(i)) {
				w.SetFloat(i, math.NaN())
			}
		}
	}
	return w.Bytes()
}
