package interp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// chain makes a random program of element-wise ops and broadcasts in two forms: one function, whose ops the engine
// fuses, and one function for each op, which prevents fusion. Some chains end in a reduction.
func chain(rng *rand.Rand) (fusedText, plainText string, args []*tensor.Tensor) {
	rows, cols := int64(2+rng.IntN(60)), int64(40+rng.IntN(300))
	if rng.IntN(4) == 0 { // several cores reduce the columns
		rows, cols = 5, 600+rng.Int64N(1000)
	}
	full := fmt.Sprintf("%dx%dx", rows, cols)
	type value struct{ name, typ string }
	values := []value{}
	var params, mainOps, funcs []string
	arg := func(dt tensor.DType, shape ...int64) value {
		v := value{fmt.Sprintf("%%a%d", len(args)), kernel.TensorType(dt, shape...).String()}
		args = append(args, samples(rng, dt, shape...))
		params = append(params, v.name+": "+v.typ)
		return v
	}
	for _, dt := range []tensor.DType{tensor.F32, tensor.F32, tensor.I32, tensor.BF16, tensor.I1} {
		values = append(values, arg(dt, rows, cols))
	}
	small := []value{arg(tensor.F32), arg(tensor.F32, cols), arg(tensor.F32, rows), arg(tensor.F32, rows, 1), arg(tensor.F32, 1, cols)}
	dims := []string{"", ": 1", ": 0", ": 0, 1", ": 0, 1"} // broadcast dimensions from each value of small to the full shape
	start := map[string]value{"f32": small[0], "bf16": arg(tensor.BF16), "i32": arg(tensor.I32)}
	n := 0
	region := ""
	emit := func(op, attrs, res string, in ...value) value {
		v := value{fmt.Sprintf("%%v%d", n), res}
		var names, types, formal, inner []string
		for i, x := range in {
			names, types = append(names, x.name), append(types, x.typ)
			inner = append(inner, fmt.Sprintf("%%x%d", i))
			formal = append(formal, inner[i]+": "+x.typ)
		}
		line := func(names []string) string {
			return fmt.Sprintf("\"stablehlo.%s\"(%s) %s{%s} : (%s) -> %s", op, strings.Join(names, ", "), region, attrs, strings.Join(types, ", "), res)
		}
		mainOps = append(mainOps, fmt.Sprintf("  %s = %s", v.name, line(names)))
		funcs = append(funcs, fmt.Sprintf("func.func private @f%d(%s) -> %s attributes {no_inline} {\n  %%r = %s\n  return %%r : %s\n}", n, strings.Join(formal, ", "), res, line(inner), res))
		n++
		return v
	}
	pick := func(dt string) value {
		for {
			// Prefer recent values.
			v := values[max(rng.IntN(len(values)), rng.IntN(len(values)))]
			if v.typ == "tensor<"+full+dt+">" {
				return v
			}
		}
	}
	ty := func(dt string) string { return "tensor<" + full + dt + ">" }
	for range 3 + rng.IntN(40) {
		var v value
		switch rng.IntN(14) {
		case 13:
			dt := []string{"f32", "f32", "i32", "bf16"}[rng.IntN(4)]
			k := rng.IntN(3)
			res := fmt.Sprintf("tensor<%s%s>", []string{"", fmt.Sprintf("%dx", cols), fmt.Sprintf("%dx", rows)}[k], dt)
			region = fmt.Sprintf("({^bb0(%%p: tensor<%[1]s>, %%q: tensor<%[1]s>):\n %%s = stablehlo.%[2]s %%p, %%q : tensor<%[1]s>\n stablehlo.return %%s : tensor<%[1]s>}) ", dt, []string{"add", "maximum", "multiply"}[rng.IntN(3)])
			v = emit("reduce", "dimensions = array<i64: "+[]string{"0, 1", "0", "1"}[k]+">", res, pick(dt), start[dt])
			region = ""
			if dt == "f32" {
				small, dims = append(small, v), append(dims, dims[k])
			}
		case 12: // ends a chain
			v = emit("reverse", "dimensions = array<i64: 1>", ty("f32"), pick("f32"))
		case 0, 1, 2, 3:
			dt := []string{"f32", "f32", "i32", "bf16"}[rng.IntN(4)]
			v = emit([]string{"add", "subtract", "multiply", "maximum"}[rng.IntN(4)], "", ty(dt), pick(dt), pick(dt))
		case 4, 5:
			dt := []string{"f32", "f32", "bf16"}[rng.IntN(3)]
			v = emit([]string{"tanh", "exponential", "negate", "abs", "logistic", "sine"}[rng.IntN(6)], "", ty(dt), pick(dt))
		case 6:
			v = emit("compare", "comparison_direction = #stablehlo<comparison_direction LT>", ty("i1"), pick("f32"), pick("f32"))
		case 7:
			v = emit("select", "", ty("f32"), pick("i1"), pick("f32"), pick("f32"))
		case 8:
			dts := []string{"f32", "i32", "bf16", "i1"}
			from, to := dts[rng.IntN(4)], dts[rng.IntN(4)]
			v = emit("convert", "", ty(to), pick(from))
		case 9:
			v = emit("constant", fmt.Sprintf("value = dense<%d.5> : %s", rng.IntN(5), ty("f32")), ty("f32"))
		default:
			k := rng.IntN(len(small))
			v = emit("broadcast_in_dim", "broadcast_dimensions = array<i64"+dims[k]+">", ty("f32"), small[k])
		}
		values = append(values, v)
	}
	var rets, retTypes []string
	for i := 0; i < 1+rng.IntN(3); i++ {
		v := values[len(values)-1-rng.IntN(min(n, 4))]
		if i == 1 {
			v = small[len(small)-1]
		}
		rets, retTypes = append(rets, v.name), append(retTypes, v.typ)
	}
	program := func(ops []string) string {
		return fmt.Sprintf("func.func @main(%s) -> (%s) {\n%s\n  return %s : %s\n}\n", strings.Join(params, ", "), strings.Join(retTypes, ", "), strings.Join(ops, "\n"), strings.Join(rets, ", "), strings.Join(retTypes, ", "))
	}
	var calls []string
	for i, line := range mainOps {
		name, rest, _ := strings.Cut(line, " = ")
		open, end := strings.Index(rest, "("), strings.Index(rest, ")")
		calls = append(calls, fmt.Sprintf("%s = func.call @f%d%s %s", name, i, rest[open:end+1], rest[strings.LastIndex(rest, " : "):]))
	}
	return program(mainOps), program(calls) + strings.Join(funcs, "\n") + "\n", args
}

// TestFusedChains runs random chains of ops fused and op by op: the results have the same bits. Some values are used
// twice or returned.
func TestFusedChains(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	fused, reductions := 0, 0
	for range 300 {
		a, b, args := chain(rng)
		exe, err := compileText(t, a)
		if err != nil {
			t.Fatalf("%v\n%s", err, a)
		}
		plain, err := compileText(t, b)
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		if n := len(exe.(*Executable).entry.Body.Instrs); n < len(plain.(*Executable).entry.Body.Instrs) {
			fused++
		}
		for _, ins := range exe.(*Executable).entry.Body.Instrs {
			if k := ins.Kernel; k != nil && k.Family == "fused reduction" {
				reductions++
			}
		}
		for range 2 { // the second run reuses the memory of the first
			got, err := exe.Run(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			want, err := plain.Run(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
					for e := range got[i].NumElements() {
						if got[i].Bits(e) != want[i].Bits(e) {
							t.Fatalf("result %d, element %d: %x fused, %x alone\n%s", i, e, got[i].Bits(e), want[i].Bits(e), a)
						}
					}
				}
			}
		}
	}
	if fused < 200 {
		t.Errorf("only %d of 300 chains have fewer instructions fused than op by op", fused)
	}
	if reductions < 15 {
		t.Errorf("only %d reductions execute the chain that they reduce", reductions)
	}
}

// TestSingleOpsOnBF16: an op on bf16 that executes alone, as one loop, returns the bits of its kernel, which executes
// on values that are too small for fusion.
func TestSingleOpsOnBF16(t *testing.T) {
	const parts, size = 5, 207
	rng := rand.New(rand.NewPCG(47, 1))
	for _, body := range []string{
		"stablehlo.add %a, %b : BF", "stablehlo.subtract %a, %b : BF", "stablehlo.multiply %a, %b : BF", "stablehlo.divide %a, %b : BF",
		"stablehlo.maximum %a, %b : BF", "stablehlo.minimum %a, %b : BF", "stablehlo.clamp %b, %a, %b : BF", "stablehlo.select %p, %a, %b : I1, BF",
		"stablehlo.negate %a : BF", "stablehlo.abs %a : BF", "stablehlo.sign %a : BF", "stablehlo.floor %a : BF", "stablehlo.sqrt %a : BF",
		"stablehlo.tanh %a : BF", "stablehlo.is_finite %a : (BF) -> I1", "stablehlo.compare LT, %a, %b : (BF, BF) -> I1",
		"stablehlo.compare NE, %a, %b : (BF, BF) -> I1",
	} {
		result := "BF"
		if strings.HasSuffix(body, "-> I1") {
			result = "I1"
		}
		program := func(n int64) runtime.Executable {
			types := strings.NewReplacer("BF", kernel.TensorType(tensor.BF16, n).String(), "I1", kernel.TensorType(tensor.I1, n).String())
			text := types.Replace("(%a: BF, %b: BF, %p: I1) -> " + result + " {\n  %r = " + body + "\n  return %r : " + result + "\n}")
			exe, err := compileText(t, "func.func @main"+text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			return exe
		}
		whole, part := program(parts*size), program(size)
		args := []*tensor.Tensor{samples(rng, tensor.BF16, parts*size), samples(rng, tensor.BF16, parts*size), samples(rng, tensor.I1, parts*size)}
		if k := whole.(*Executable).entry.Body.Instrs[0].Kernel; k == nil || k.Family != "fused elements" {
			t.Errorf("%s is not one loop", body)
		}
		out, err := whole.Run(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(parts) {
			var some []*tensor.Tensor
			for _, a := range args {
				width := int64(a.DType().Size())
				s := tensor.New(a.DType(), tensor.Shape{size})
				copy(s.Bytes(), a.Bytes()[i*size*width:])
				some = append(some, s)
			}
			want, err := part.Run(t.Context(), some)
			if err != nil {
				t.Fatal(err)
			}
			for e := range int(size) {
				if got, want := out[0].Bits(int(i*size)+e), want[0].Bits(e); got != want {
					t.Fatalf("%s: element %d is %x, alone %x", body, int(i*size)+e, got, want)
				}
			}
		}
	}
}
