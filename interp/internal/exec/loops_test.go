package exec_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/tensor"
)

// loopMaker writes a random loop on values of a few elements, which loads elements of an array and stores elements to
// two arrays.
type loopMaker struct {
	rng    *rand.Rand
	b      strings.Builder
	values map[string][]string // names by type
	args   []*tensor.Tensor
	next   int
	coded  bool // only ops that have machine code
}

func (l *loopMaker) pick(typ string) string {
	list := l.values[typ]
	return list[max(l.rng.IntN(len(list)), l.rng.IntN(len(list)))]
}

// op writes an op and keeps its result.
func (l *loopMaker) op(typ, format string, args ...any) string {
	l.next++
	name := fmt.Sprintf("%%v%d", l.next)
	fmt.Fprintf(&l.b, "    %s = stablehlo.%s\n", name, fmt.Sprintf(format, args...))
	l.values[typ] = append(l.values[typ], name)
	return name
}

// shape returns the type of scalars or of lists of three elements.
func shape(dt string, list bool) string {
	if list {
		return "tensor<3x" + dt + ">"
	}
	return "tensor<" + dt + ">"
}

var loopTypes = []string{"i32", "i64", "ui32", "ui64", "f32", "f64", "bf16"}

// random writes a random op.
func (l *loopMaker) random() {
	dt := loopTypes[l.rng.IntN(len(loopTypes))]
	list := l.rng.IntN(3) == 0
	typ, flag := shape(dt, list), shape("i1", list)
	float := strings.Contains(dt, "f")
	choose := func(names ...string) string { return names[l.rng.IntN(len(names))] }
	switch l.rng.IntN(10) {
	case 0:
		kind := "SIGNED"
		if float {
			kind = "FLOAT"
		} else if dt[0] == 'u' {
			kind = "UNSIGNED"
		}
		l.op(flag, "compare %s, %s, %s, %s : (%s, %s) -> %s", choose("LT", "LE", "GT", "GE", "EQ", "NE"), l.pick(typ), l.pick(typ), kind, typ, typ, flag)
	case 1:
		l.op(typ, "select %s, %s, %s : %s, %s", l.pick(flag), l.pick(typ), l.pick(typ), flag, typ)
	case 2:
		other := loopTypes[l.rng.IntN(len(loopTypes))]
		if l.coded && !strings.Contains("i32 i64, i32 f32, i32 f64, i64 i32, i64 f32, i64 f64, f32 f64, f64 f32, f32 i32, ui32 f32, ui32 f64, ui32 i64, i32 ui64", other+" "+dt) {
			return
		}
		l.op(typ, "convert %s : (%s) -> %s", l.pick(shape(other, list)), shape(other, list), typ)
	case 3:
		if !l.coded || dt != "bf16" {
			l.op(typ, "convert %s : (%s) -> %s", l.pick(flag), flag, typ)
		}
	case 4:
		if l.rng.IntN(3) == 0 {
			l.op(flag, "compare %s, %s, %s, UNSIGNED : (%[4]s, %[4]s) -> %[4]s", choose("LT", "LE", "GT", "GE", "EQ", "NE"), l.pick(flag), l.pick(flag), flag)
			return
		}
		l.op(flag, "%s %s, %s : %s", choose("and", "or", "xor"), l.pick(flag), l.pick(flag), flag)
	case 5:
		if list {
			l.op(typ, "broadcast_in_dim %s, dims = [] : (%s) -> %s", l.pick(shape(dt, false)), shape(dt, false), typ)
			return
		}
		one := l.op("part", "slice %s [%d:%[2]d] : (%s) -> tensor<1x%s>", l.pick(shape(dt, true)), l.rng.IntN(3), shape(dt, true), dt)
		text := l.b.String() // the slice has one element
		at := strings.LastIndex(text, "[")
		var first, end int
		fmt.Sscanf(text[at:], "[%d:%d]", &first, &end)
		l.b.Reset()
		l.b.WriteString(text[:at] + fmt.Sprintf("[%d:%d]", first, first+1) + text[at+strings.Index(text[at:], "]")+1:])
		l.op(typ, "reshape %s : (tensor<1x%s>) -> %s", one, dt, typ)
	case 6:
		if float && l.coded && dt == "bf16" {
			l.op(typ, "%s %s : %s", choose("exponential", "tanh", "abs", "negate"), l.pick(typ), typ)
		} else if l.coded && dt == "i64" {
			l.op(typ, "%s %s : %s", choose("abs", "negate", "not"), l.pick(typ), typ)
		} else if float {
			l.op(typ, "%s %s : %s", choose("sine", "cosine", "exponential", "tanh", "sqrt", "logistic", "abs", "negate", "floor", "sign", "log", "rsqrt", "cbrt"), l.pick(typ), typ)
		} else if dt[0] == 'i' {
			l.op(typ, "%s %s : %s", choose("abs", "negate", "not", "sign", "popcnt"), l.pick(typ), typ)
		}
	case 7:
		if !float {
			l.op(typ, "%s %s, %s : %s", choose("and", "or", "xor", "shift_left", "shift_right_logical"), l.pick(typ), l.pick(typ), typ)
		} else if dt != "bf16" {
			l.op(typ, "%s %s, %s : %s", choose("power", "atan2"), l.pick(typ), l.pick(typ), typ)
		}
	default:
		names := []string{"add", "subtract", "multiply", "divide", "maximum", "minimum"}
		if !float {
			names = append(names, "remainder")
		}
		l.op(typ, "%s %s, %s : %s", choose(names...), l.pick(typ), l.pick(typ), typ)
	}
}

// text returns a module with a loop of about n random ops.
func (l *loopMaker) text(n int) string {
	l.values = map[string][]string{}
	var carried []string
	l.args = []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{50}), tensor.New(tensor.I64, tensor.Shape{20, 5}), tensor.New(tensor.BF16, tensor.Shape{40})}
	for _, dt := range loopTypes {
		for _, list := range []bool{false, true} {
			typ := shape(dt, list)
			for range 1 + l.rng.IntN(2) {
				carried = append(carried, typ)
				parsed, _ := tensor.ParseDType(dt)
				l.args = append(l.args, tensor.New(parsed, map[bool]tensor.Shape{true: {3}}[list]))
				l.values[typ] = append(l.values[typ], fmt.Sprintf("%%c%d", len(carried)-1))
			}
			l.values[typ] = append(l.values[typ], "%k"+dt+fmt.Sprint(list))
		}
	}
	outside := ""
	for _, dt := range loopTypes {
		for _, list := range []bool{false, true} {
			value := fmt.Sprint(l.rng.IntN(9) - 3)
			if dt[0] == 'u' {
				value = fmt.Sprint(l.rng.IntN(9))
			} else if strings.Contains(dt, "f") {
				value += ".5"
			}
			outside += fmt.Sprintf("  %%k%s%v = stablehlo.constant dense<%s> : %s\n", dt, list, value, shape(dt, list))
		}
	}
	for _, list := range []bool{false, true} {
		typ := shape("i1", list)
		l.op(typ, "compare LT, %s, %s : (%[3]s, %[3]s) -> %[4]s", l.pick(shape("i32", list)), l.pick(shape("i32", list)), shape("i32", list), typ)
	}
	l.op("tensor<1xf32>", "dynamic_slice %%xs, %%i, sizes = [1] : (tensor<50xf32>, tensor<i32>) -> tensor<1xf32>")
	x := l.values["tensor<1xf32>"][0]
	l.op("tensor<f32>", "reshape %s : (tensor<1xf32>) -> tensor<f32>", x)
	row := l.op("row", "dynamic_slice %%ys, %s, %s, sizes = [1, 3] : (tensor<20x5xi64>, tensor<i32>, tensor<i32>) -> tensor<1x3xi64>", "%i", l.pick("tensor<i32>"))
	l.op("tensor<3xi64>", "reshape %s : (tensor<1x3xi64>) -> tensor<3xi64>", row)
	for range n {
		l.random()
	}
	box := l.op("box", "broadcast_in_dim %s, dims = [1] : (tensor<3xi64>) -> tensor<1x3xi64>", l.pick("tensor<3xi64>"))
	ys := l.op("array", "dynamic_update_slice %%ys, %s, %%i, %s : (tensor<20x5xi64>, tensor<1x3xi64>, tensor<i32>, tensor<i32>) -> tensor<20x5xi64>", box, l.pick("tensor<i32>"))
	out := l.op("out", "reshape %s : (tensor<bf16>) -> tensor<1xbf16>", l.pick("tensor<bf16>"))
	zs := l.op("array", "dynamic_update_slice %%zs, %s, %%i : (tensor<40xbf16>, tensor<1xbf16>, tensor<i32>) -> tensor<40xbf16>", out)
	next := l.op("next", "add %%i, %%one : tensor<i32>")
	values, inits, args, results := "%i = %zero, %ys = %y0, %zs = %z0", "", "%xs: tensor<50xf32>, %y0: tensor<20x5xi64>, %z0: tensor<40xbf16>", next+", "+ys+", "+zs
	types := "tensor<i32>, tensor<20x5xi64>, tensor<40xbf16>"
	for i, typ := range carried {
		values += fmt.Sprintf(", %%c%d = %%a%d", i, i)
		args += fmt.Sprintf(", %%a%d: %s", i, typ)
		types += ", " + typ
		results += ", " + l.pick(typ)
		inits += ", " + typ
	}
	n = 3 + len(carried)
	return fmt.Sprintf(`func.func public @main(%s) -> (%s) {
  %%zero = stablehlo.constant dense<0> : tensor<i32>
  %%one = stablehlo.constant dense<1> : tensor<i32>
  %%end = stablehlo.constant dense<%d> : tensor<i32>
%s  %%w:%d = stablehlo.while(%s) : %s
  cond {
    %%p = stablehlo.compare LT, %%i, %%end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %%p : tensor<i1>
  } do {
%s    stablehlo.return %s : %s
  }
  return %s : %s
}`, args, types, 1+l.rng.IntN(60), outside, n, values, types, l.b.String(), results, types, resultsOf("%w", n), types)
}

func resultsOf(name string, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%s#%d", name, i))
	}
	return strings.Join(list, ", ")
}

// TestRandomLoops: loops on registers yield the bits that the kernels of their ops yield, which a profile executes. The
// test runs machine code, and in a child without vectors the operations on registers. HLOCB_LONG=1 tests more loops.
func TestRandomLoops(t *testing.T) {
	loops := 60
	if os.Getenv("HLOCB_LONG") != "" {
		loops = 5000
	}
	coded := 0
	for i := range loops {
		rng := rand.New(rand.NewPCG(47, uint64(i)))
		l := &loopMaker{rng: rng, coded: i%2 == 0}
		text := l.text(1 + rng.IntN(50))
		var plan strings.Builder
		a, b := compile(t, text, interp.Options{Plan: &plan}), compile(t, text, interp.Options{Profile: &interp.Profile{}})
		if !strings.Contains(plan.String(), "operations on registers") {
			t.Fatalf("the loop is not on registers:\n%s", text)
		}
		if strings.Contains(plan.String(), "machine code") {
			coded++
		}
		for k, x := range l.args {
			for j := range x.NumElements() {
				if x.DType().IsFloat() {
					x.SetFloat(j, rng.NormFloat64()*[]float64{1, 10, 1e7}[rng.IntN(3)])
				} else {
					x.SetInt(j, rng.Int64()>>(rng.IntN(64))*int64(1-2*(k&1)))
				}
			}
		}
		got, err := a.Run(context.Background(), l.args)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		want, err := b.Run(context.Background(), l.args)
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if !bytes.Equal(got[k].Bytes(), want[k].Bytes()) && string(got[k].AppendLiteral(nil, 1000)) != string(want[k].AppendLiteral(nil, 1000)) {
				t.Fatalf("loop %d: result %d is %s, not %s\n%s", i, k, got[k].AppendLiteral(nil, 1000), want[k].AppendLiteral(nil, 1000), text)
			}
		}
	}
	if coded < loops/2 {
		t.Errorf("only %d of %d loops become machine code", coded, loops)
	}
	if vec.Bytes() > 0 && !t.Failed() {
		child := peer.Command(os.Args[0], "-test.run", "^TestRandomLoops$")
		child.Env = append(os.Environ(), "GODEBUG=cpu.avx2=off,cpu.avx512f=off")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("without vectors: %v\n%s", err, out)
		}
	}
}
