package vec

import (
	"encoding/binary"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/machine"
)

// values returns numbers of all magnitudes, special values first.
func values(rng *rand.Rand, n int) []float64 {
	x := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 22, -22, 709.78, 709.79, 710, -745.13, -745.14, -708.4, -720, 88.7, 89, -87.4, -103.9, -104, 1e-310, -1e-310, 5e-324,
		0x1p-1022, 0x1p-54, -0x1p-28, 0x1p-149, -0x1p-127, math.MaxFloat64, -math.MaxFloat64, math.MaxFloat32, math.Inf(1), math.Inf(-1), math.NaN(), math.Sqrt2, math.Sqrt2 / 2, 2, 3,
		math.Pi, math.Pi / 2, -math.Pi, 1e5, 1 << 20, -1 << 20, 0.34657359027997264, 0.49999999999999994, 2147483648, 65504, 65520, 6e-8}
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
	return x[:n]
}

// operand returns n elements of the given size, at 64-byte steps of a width: numbers if the loop computes on floats.
func operand(rng *rand.Rand, n, size, width int) []byte {
	b := make([]byte, 0, n*size)
	for _, v := range values(rng, n) {
		switch {
		case size == 1:
			b = append(b, byte(rng.IntN(2)))
		case size == 2:
			b = binary.LittleEndian.AppendUint16(b, uint16(rng.Uint32()))
		case size == 4:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		default:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

// sameElement compares elements. All NaNs are equal.
func sameElement(a, b []byte) bool {
	switch len(a) {
	case 4:
		x, y := math.Float32frombits(binary.LittleEndian.Uint32(a)), math.Float32frombits(binary.LittleEndian.Uint32(b))
		return string(a) == string(b) || x != x && y != y
	case 8:
		x, y := math.Float64frombits(binary.LittleEndian.Uint64(a)), math.Float64frombits(binary.LittleEndian.Uint64(b))
		return string(a) == string(b) || x != x && y != y
	}
	return string(a) == string(b)
}

// TestAssemblyAgrees: loops in assembly return the same bits as loops in Go, for every function, set of vectors and
// length, and in place.
func TestAssemblyAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, l := range allLoops() {
		const most = 20000
		var in [3][]byte
		for i, size := range l.sizes[1:] {
			in[i] = operand(rng, most, max(size, 1), l.width)
			if i > 0 { // pair different elements, but keep some equal pairs
				rng.Shuffle(most-100, func(a, b int) {
					for k := range size {
						in[i][a*size+k], in[i][b*size+k] = in[i][b*size+k], in[i][a*size+k]
					}
				})
			}
		}
		for isa, v := range variants(l) {
			for _, n := range []int{most, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 519} {
				got, want := make([]byte, n*l.sizes[0]), make([]byte, n*l.sizes[0])
				v.run(at(got), at(in[0]), at(in[1]), at(in[2]), n)
				l.twin(at(want), at(in[0]), at(in[1]), at(in[2]), n)
				check := func(how string, got []byte) {
					for i := range n {
						k := l.sizes[0]
						a, b := got[i*k:(i+1)*k], want[i*k:(i+1)*k]
						equal := sameElement(a, b)
						if strings.HasSuffix(l.name, "C64") { // two parts
							equal = sameElement(a[:4], b[:4]) && sameElement(a[4:], b[4:])
						}
						if !equal {
							t.Fatalf("%s (%s%s) of %d elements, at %d: %x, in Go %x; operands %x %x", l.name, isa, how, n, i, a, b, in[0][i*l.sizes[1]:(i+1)*l.sizes[1]], in[1][i*l.sizes[2]:(i+1)*l.sizes[2]])
						}
					}
				}
				check("", got)
				for i, size := range l.sizes[1:] {
					if size == l.sizes[0] {
						args := in
						args[i] = append([]byte(nil), in[i]...)
						v.run(at(args[i]), at(args[0]), at(args[1]), at(args[2]), n)
						check(" in place", args[i])
					}
				}
			}
		}
	}
}

// TestDown: rows that are folded together have the bits of rows that are folded one after another.
func TestDown(t *testing.T) {
	downs[float32](t, Add32Loop, Mul32Loop, Max32Loop, Min32Loop)
	downs[float64](t, Add64Loop, Mul64Loop, Max64Loop, Min64Loop)
	downs[int32](t, AddI32Loop, MaxI32Loop, MinI32Loop)
	downs[int64](t, AddI64Loop, MaxI64Loop)
}

func downs[T float32 | float64 | int32 | int64](t *testing.T, loops ...*Loop) {
	rng := rand.New(rand.NewPCG(5, 8))
	for _, l := range loops {
		for _, n := range []int{1, 7, 8, 16, 37, 256} {
			for _, rows := range []int{1, 7, 8, 9, 35} {
				line := n + rng.IntN(3)
				b := operand(rng, rows*line, l.width, l.width)
				x := unsafe.Slice((*T)(unsafe.Pointer(&b[0])), rows*line)[:(rows-1)*line+n]
				want := make([]T, n)
				for r := range rows {
					l.twin(at(want), at(want), at(x[r*line:]), nil, n)
				}
				for _, vector := range append(vectorSizes(), 0) {
					code := downOf(l.name, "", vector)
					if vector > 0 && code == nil {
						t.Fatalf("%s has no code for vectors of %d bytes", l.name, vector)
					}
					got := make([]T, n)
					downWith[T](l, func() *machine.Code { return code })(got, x, line)
					for i := range got {
						if k := l.width; !sameElement(unsafe.Slice(at(got[i:]), k), unsafe.Slice(at(want[i:]), k)) {
							t.Fatalf("%s of %d rows of %d, vectors of %d bytes: element %d is %v, not %v", l.name, rows, n, vector, i, got[i], want[i])
						}
					}
				}
			}
		}
	}
}

// variants returns the loop with each set of vectors that the processor has.
func variants(l *Loop) map[string]*Loop {
	out := map[string]*Loop{}
	for _, vector := range vectorSizes() {
		v := *l
		code := compiled(l.name, vector)
		v.vectors = func() *machine.Code { return code }
		out[map[int]string{32: "AVX2", 64: "AVX-512"}[vector]] = &v
	}
	return out
}

// vectorSizes returns the sizes of vectors that the processor has.
func vectorSizes() []int {
	switch Bytes() {
	case 64:
		return []int{32, 64}
	case 32:
		return []int{32}
	}
	return nil
}

// foldVectors returns a fold with each set of vectors that the processor has.
func foldVectors(name, combine string) map[int]func() rowsLoop {
	out := map[int]func() rowsLoop{}
	for _, vector := range vectorSizes() {
		f := foldOf(name, combine, vector)
		out[vector] = func() rowsLoop { return f }
	}
	return out
}

// TestEveryFunctionHasCode: each function and fold has code for each set of vectors, unless there are none.
func TestEveryFunctionHasCode(t *testing.T) {
	for _, vector := range vectorSizes() {
		for _, l := range allLoops() {
			if compiled(l.name, vector) == nil {
				t.Errorf("%s has no code for vectors of %d bytes", l.name, vector)
			}
		}
		for _, name := range []string{"add32", "mul64", "max32", "min64", "max64", "min32"} {
			if foldOf(name, name, vector) == nil {
				t.Errorf("the fold of %s has no code for vectors of %d bytes", name, vector)
			}
		}
	}
}

// TestFolds: folds return the same bits with every set of vectors and for any length.
func TestFolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	for _, l := range []*Loop{Add32Loop, Mul32Loop, Max32Loop, Min32Loop} {
		foldAgrees[float32](t, rng, l)
	}
	for _, l := range []*Loop{Add64Loop, Mul64Loop, Max64Loop, Min64Loop} {
		foldAgrees[float64](t, rng, l)
	}
}

func foldAgrees[T float32 | float64](t *testing.T, rng *rand.Rand, l *Loop) {
	for n := range 400 {
		const rows = 3
		b := make([]T, rows*(n+1))
		for i := range b {
			b[i] = T(rng.NormFloat64())
			if n%7 == 6 && rng.IntN(100) == 0 {
				b[i] = T(math.NaN())
			}
		}
		var want [rows]T
		foldWith[T](l, func() rowsLoop { return nil })(want[:], b)
		for isa, f := range foldVectors(l.name, l.name) {
			var got [rows]T
			foldWith[T](l, f)(got[:], b)
			for r := range got {
				if got[r] != want[r] && (got[r] == got[r] || want[r] == want[r]) {
					t.Fatalf("%s fold of %d, %d bytes: %v, in Go %v", l.name, n+1, isa, got, want)
				}
			}
		}
	}
}

// TestAccuracy: each function differs from package math by at most its number of units in the last place.
func TestAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	x := values(rng, 100000)
	for _, e := range []struct {
		wide, narrow *Loop
		f            func(float64) float64
		ulps, ulps32 float64
	}{
		{Exp64Loop, Exp32Loop, math.Exp, 2, 1.5}, {Expm164Loop, Expm132Loop, math.Expm1, 2, 2}, {Log64Loop, Log32Loop, math.Log, 1.5, 1.5}, {Tanh64Loop, Tanh32Loop, math.Tanh, 4, 3},
		{Logistic64Loop, Logistic32Loop, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 3, 3}, {Rsqrt64Loop, Rsqrt32Loop, func(x float64) float64 { return 1 / math.Sqrt(x) }, 1.5, 0.51},
		{Log1p64Loop, Log1p32Loop, math.Log1p, 2.5, 2.5},
		{Sinh64Loop, Sinh32Loop, math.Sinh, 4, 0.51}, {Cosh64Loop, Cosh32Loop, math.Cosh, 3, 0.51},
		{Cbrt64Loop, Cbrt32Loop, math.Cbrt, 2, 0.51}, {Erf64Loop, Erf32Loop, math.Erf, 3, 2.5}, {Erfc64Loop, Erfc32Loop, math.Erfc, 16, 0.51},
	} {
		o := make([]float64, len(x))
		Unary[float64, float64](e.wide)(o, x)
		within(t, e.wide.name, x, o, e.f, e.ulps, 0x1p-52, 0x1p-1074)
		x32, o32 := make([]float32, len(x)), make([]float32, len(x))
		for i, v := range x {
			x32[i] = float32(v)
		}
		Unary[float32, float32](e.narrow)(o32, x32)
		within(t, e.narrow.name, x32, o32, e.f, e.ulps32, 0x1p-23, 0x1p-149)
	}
}

func within[T float32 | float64](t *testing.T, name string, x, o []T, f func(float64) float64, ulps, unit, least float64) {
	worst, where := 0.0, 0
	for i, v := range o {
		want := f(float64(x[i]))
		if w := T(want); v == w || v != v && w != w || unit < 0x1p-30 && (math.Abs(float64(x[i])) > 709 && math.Abs(float64(x[i])) <= 710 || math.Abs(float64(x[i])) < 0x1p-1022) {
			continue // package math is wrong for these values on some machines
		}
		_, e := math.Frexp(want)
		if d := math.Abs(float64(v)-want) / max(math.Ldexp(unit, e-1), least); !(d <= worst) {
			worst, where = d, i
		}
	}
	if !(worst <= ulps) {
		t.Errorf("%s of %v is %v, off by %.2f units", name, x[where], o[where], worst)
	}
}

// TestBessel compares with values of mpmath, rounded to f64. The terms of the series cancel as x approaches 8.
func TestBessel(t *testing.T) {
	want := map[float64]float64{0.25: 0.09811262869736824, 1: 0.20791041534970844, 2.5: 0.20658464953126657, 4: 0.17875083950243534,
		5.5: 0.15770100901675652, 6.25: 0.14943282149087514, 7: 0.14228923470959867, 7.5: 0.1380412115485542, 7.96875: 0.1343767944847476,
		8: 0.13414249329269817, 8.25: 0.13231017396500142, 12: 0.11146429929018098, 30: 0.07191633059864755, 700: 0.015070519444716848}
	x := slices.Sorted(maps.Keys(want))
	x32, o, o32 := make([]float32, len(x)), make([]float64, len(x)), make([]float32, len(x))
	for i, v := range x {
		x32[i] = float32(v)
	}
	value := func(v float64) float64 { return want[v] }
	Unary[float64, float64](BesselI1e64Loop)(o, x)
	within(t, BesselI1e64Loop.name, x, o, value, 10, 0x1p-52, 0x1p-1074)
	Unary[float32, float32](BesselI1e32Loop)(o32, x32)
	within(t, BesselI1e32Loop.name, x32, o32, value, 0.51, 0x1p-23, 0x1p-149)
}

// TestSincos compares sine and cosine with their series in 300 bits, because package math has fewer digits near
// multiples of pi.
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
		for first, f := range []func(float64) float64{Cos, Sin} {
			want := series(num(v), first)
			w, _ := want.Float64()
			d, _ := num(0).Sub(want, num(f(v))).Float64()
			_, exp := math.Frexp(w)
			if v != 0 && math.Abs(d)/math.Ldexp(1, exp-53) > 1.2 {
				t.Fatalf("function %d of %v is %v, not %v", first, v, f(v), w)
			}
		}
	}
}

// TestPow compares powers with products of roots in 300 bits, because package math has fewer digits, and special values
// with package math.
func TestPow(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 11))
	special := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 0x1p52 + 1, 0x1p53 + 2, 1e300, -1e300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, x := range special {
		for _, y := range special {
			got, want := Pow(x, y), math.Pow(x, y)
			if !(math.Abs(got-want) <= 0x1p-52*math.Abs(want)) && math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
				t.Errorf("%v to the power of %v is %v, not %v", x, y, got, want)
			}
		}
	}
	for range 20000 {
		x := math.Ldexp(0.5+rng.Float64()/2, rng.IntN(2100)-1074)
		if rng.IntN(2) == 0 {
			x = math.Exp(rng.NormFloat64())
		}
		n := int((rng.Float64()*2 - 1) * 16 * min(740/math.Abs(math.Log(x)), 1000))
		root := new(big.Float).SetPrec(300).SetFloat64(x)
		for range 4 {
			root.Sqrt(root)
		}
		power := new(big.Float).SetPrec(300).SetInt64(1)
		for k := max(n, -n); k > 0; k /= 2 {
			if k%2 == 1 {
				power.Mul(power, root)
			}
			root.Mul(root, root)
		}
		if n < 0 {
			power.Quo(new(big.Float).SetPrec(300).SetInt64(1), power)
		}
		want, _ := power.Float64()
		y := float64(n) / 16
		got := Pow(x, y)
		if got == want {
			continue
		}
		d, _ := power.Sub(power, new(big.Float).SetFloat64(got)).Float64()
		_, exp := math.Frexp(want)
		if unit := max(math.Ldexp(1, exp-53), 0x1p-1074); !(math.Abs(d)/unit <= 1.3) {
			t.Fatalf("%v to the power of %v is %v, not %v, off by %.2f units", x, y, got, want, math.Abs(d)/unit)
		}
	}
}

// TestFMA compares fma with the correctly rounded result of math/big.
func TestFMA(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	for range 200000 {
		x, y, z := math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32())
		if rng.IntN(2) == 0 {
			y = float32(math.Ldexp(float64(y), 0))
			z = -x * y * (1 + float32(rng.IntN(3)-1)*0x1p-23)
		}
		if s := float64(x) * float64(y); math.IsInf(s, 0) || s != s || math.IsInf(float64(z), 0) || z != z || x != x || y != y {
			continue
		}
		b := func(v float32) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(float64(v)) }
		want, _ := new(big.Float).SetPrec(2000).Add(new(big.Float).SetPrec(2000).Mul(b(x), b(y)), b(z)).Float32()
		if got := FMA(x, y, z); got != want {
			t.Fatalf("fma(%g, %g, %g) is %g, not %g", x, y, z, got, want)
		}
	}
}

func TestTranspose(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {3, 17}, {8, 8}, {9, 31}, {33, 16}, {64, 65}, {150, 139}} {
		transposes[uint32](t, shape[0], shape[1])
		transposes[uint64](t, shape[0], shape[1])
		transposes[uint16](t, shape[0], shape[1])
		transposes[uint8](t, shape[0], shape[1])
	}
}

func transposes[T uint8 | uint16 | uint32 | uint64](t *testing.T, rows, cols int) {
	src, dst := make([]T, rows*(cols+3)), make([]T, cols*(rows+5))
	for i := range src {
		src[i] = T(i * 40503 >> 7)
	}
	Transpose(dst, src, rows, cols, rows+5, cols+3)
	for i := range rows {
		for j := range cols {
			if dst[j*(rows+5)+i] != src[i*(cols+3)+j] {
				t.Fatalf("%dx%d: element %d, %d is %d", rows, cols, i, j, dst[j*(rows+5)+i])
			}
		}
	}
}

func TestReverse(t *testing.T) {
	for n := range 40 {
		reverses[uint8](t, n)
		reverses[uint16](t, n)
		reverses[uint32](t, n)
		reverses[uint64](t, n)
		reverses[complex128](t, n)
	}
}

func reverses[T comparable](t *testing.T, n int) {
	src, dst := make([]T, n), make([]T, n)
	for i := range src {
		*at(src[i:]) = byte(i + 1)
	}
	Reverse(dst, src)
	if slices.Reverse(src); !slices.Equal(dst, src) {
		t.Fatalf("%d elements: %v, not %v", n, dst, src)
	}
}

// TestPowI32 compares blocks with and without large exponents with products.
func TestPowI32(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	x, y, got := make([]int32, 5000), make([]int32, 5000), make([]int32, 5000)
	for _, most := range []int32{3, 127, 128, 5000} {
		for i := range x {
			x[i], y[i] = rng.Int32N(9)-4, rng.Int32N(most+3)-2
		}
		PowI32(got, x, y)
		for i := range x {
			want := int32(1)
			for range y[i] {
				want *= x[i]
			}
			if y[i] < 0 {
				want = map[int32]int32{1: 1, -1: 1 - 2*(-y[i]%2)}[x[i]]
			}
			if got[i] != want {
				t.Fatalf("%d to the power of %d is %d, not %d", x[i], y[i], got[i], want)
			}
		}
	}
}

// TestDots: dot products return the same bits with every set of vectors.
func TestDots(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 4))
	for n := range 200 {
		dotsAgree(t, rng, n, Add32Loop, "dot32", 0x1p-24, FMA)
		dotsAgree(t, rng, n, Add64Loop, "dot64", 0x1p-53, math.FMA)
		dotsAgree(t, rng, n, AddI32Loop, "dotI32", 0, func(x, y, z int32) int32 { return x*y + z })
	}
}

func dotsAgree[T float32 | float64 | int32](t *testing.T, rng *rand.Rand, n int, add *Loop, name string, unit float64, fma func(x, y, z T) T) {
	t.Helper()
	const rows = 3
	line := n + 2
	x, y := make([]T, rows*line), make([]T, n)
	for i := range x {
		x[i] = T(100 * rng.NormFloat64())
	}
	for i := range y {
		y[i] = T(rng.NormFloat64())
	}
	want := make([]T, rows)
	dots(want, x, y, line, nil, add, fma)
	for isa, f := range foldVectors(name, add.name) {
		got := make([]T, rows)
		if dots(got, x, y, line, f(), add, fma); !slices.Equal(got, want) {
			t.Fatalf("%s of %d, %d bytes: %v, in Go %v", name, n, isa, got, want)
		}
	}
	for r, got := range want {
		sum, mag := 0.0, 0.0
		for i := range y {
			v := float64(x[r*line+i]) * float64(y[i])
			sum += v
			mag += math.Abs(v)
		}
		if math.Abs(float64(got)-sum) > mag*float64(n+1)*unit {
			t.Fatalf("%s of %d: %v, not %v", name, n, got, sum)
		}
	}
}

// TestDotsBF16: scalar products of bf16 have the bits of those of the widened rows, with every set of vectors.
func TestDotsBF16(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	for n := 1; n < 300; n += 1 + n/40 {
		const rows = 3
		line := n + 3
		x, wide, y := make([]uint16, rows*line), make([]float32, rows*line), make([]float32, n)
		for i := range x {
			x[i] = uint16(math.Float32bits(float32(rng.NormFloat64())) >> 16)
			wide[i] = math.Float32frombits(uint32(x[i]) << 16)
		}
		for i := range y {
			y[i] = float32(rng.NormFloat64())
		}
		want := make([]float32, rows)
		Dots(want, wide, y, line)
		folds := foldVectors("dotBF16", "add32")
		folds[0] = func() rowsLoop { return nil }
		for vector, f := range folds {
			got := make([]float32, rows)
			if dotsBF16(got, x, y, line, f()); !slices.Equal(got, want) {
				t.Fatalf("%d elements, vectors of %d bytes: %v, not %v", n, vector, got, want)
			}
		}
	}
}

// TestRadix4: a pass of a Fourier transform returns the same bits with vectors of each width that the processor has.
func TestRadix4(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 4))
	for _, size := range [][2]int{{1, 8}, {3, 16}, {16, 4}, {5, 24}} {
		m, s := size[0], size[1]
		x := make([]float64, 8*m*s+6*m)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		n := 4 * m * s
		want := make([]float64, 2*n)
		radix4Go(want[:n], want[n:], x[:n], x[n:2*n], x[2*n:], m, s)
		for width, f := range fourierVectors() {
			if s%(width/8) != 0 {
				continue
			}
			got := make([]float64, 2*n)
			if f.radix4(&got[0], &got[n], &x[0], &x[n], &x[2*n], m, s); !slices.Equal(got, want) {
				t.Fatalf("%d groups of %d: vectors of %d bytes differ from Go", m, s, width)
			}
		}
	}
}

// TestRealFourier: the loops around transforms of reals return the same bits with vectors of each width that the
// processor has.
func TestRealFourier(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 5))
	for _, h := range []int{2, 3, 8, 33} {
		for _, s := range []int{4, 8, 24} {
			n := h * s
			x := make([]float64, 2*n+h+1)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			want := slices.Clone(x)
			untangleGo(want[:n], want[n:2*n], want[2*n:], h, s)
			for width, f := range fourierVectors() {
				if s%f.lanes != 0 {
					continue
				}
				got, last := slices.Clone(x), (h-1)*s
				if f.untangle(&got[s], &got[n+s], &got[last], &got[n+last], &got[2*n], h/2, s); !slices.Equal(got, want) {
					t.Fatalf("%d groups of %d: vectors of %d bytes differ from Go", h, s, width)
				}
			}
		}
		n := 8 * h
		x, split, joined := make([]float32, 2*n), make([]float64, 2*n), make([]float32, 2*n)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		splitGo(split[:n], split[n:], x)
		for i := range split {
			split[i] *= 1 + 1e-9*rng.Float64()
		}
		joinGo(joined, split[:n], split[n:])
		wide := make([]float64, 2*n)
		splitGo(wide[:n], wide[n:], joined)
		for width, f := range fourierVectors() {
			got, narrow := make([]float64, 2*n), make([]float32, 2*n)
			f.join(&split[0], &split[n], &narrow[0], h)
			f.split(&got[0], &got[n], &joined[0], h)
			if !slices.Equal(narrow, joined) || !slices.Equal(got, wide) {
				t.Fatalf("%d rows: vectors of %d bytes differ from Go", h, width)
			}
		}
	}
}

// TestNarrowRegisters: the loops for processors without AVX-512 use no masks, no wide registers, and no register above
// 15.
func TestNarrowRegisters(t *testing.T) {
	files, err := filepath.Glob("../[gv]e*/*_amd64.s") // gemm and vec
	if err != nil || len(files) < 2 {
		t.Fatal("no assembly", files, err)
	}
	function := regexp.MustCompile(`^TEXT ·(\w+)`)
	register := regexp.MustCompile(`\b([XY](1[6-9]|[23]\d)|Z\d+|K\d)\b`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, narrow := "", 0
		for i, line := range strings.Split(string(text), "\n") {
			if m := function.FindStringSubmatch(line); m != nil {
				if name = m[1]; strings.HasSuffix(name, "AVX2") {
					narrow++
				}
			} else if strings.HasSuffix(name, "AVX2") {
				code, _, _ := strings.Cut(line, "//")
				if r := register.FindString(code); r != "" {
					t.Errorf("%s:%d: %s uses %s", file, i+1, name, r)
				}
			}
		}
		if narrow == 0 {
			t.Errorf("%s has no loop for AVX2", file)
		}
	}
}

func BenchmarkLoops(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n = 4096
	for _, l := range allLoops() {
		var in [3][]byte
		for i, size := range l.sizes[1:] {
			in[i] = operand(rng, n, max(size, 1), l.width)
		}
		o := make([]byte, n*l.sizes[0])
		b.Run(l.name, func(b *testing.B) {
			for b.Loop() {
				l.run(at(o), at(in[0]), at(in[1]), at(in[2]), n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		})
	}
}
