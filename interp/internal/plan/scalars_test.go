package plan_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestLoopOnRegisters: a loop on values of a few elements executes on registers and returns the bits of its kernels.
// With a profile it executes its kernels.
func TestLoopOnRegisters(t *testing.T) {
	for _, dt := range []string{"f32", "f64", "i32", "ui32", "i64", "ui64", "bf16", "i8"} {
		x := "tensor<3x" + dt + ">"
		var b strings.Builder
		fmt.Fprintf(&b, `func.func @main(%%a: %[1]s, %%b: %[1]s, %%n: tensor<i32>) -> (%[1]s, %[1]s, tensor<%[2]s>, tensor<i32>) {
  %%z = stablehlo.constant dense<0> : tensor<i32>
  %%s = stablehlo.slice %%a [0:1] : (%[1]s) -> tensor<1x%[2]s>
  %%t = stablehlo.reshape %%s : (tensor<1x%[2]s>) -> tensor<%[2]s>
  %%r:4 = stablehlo.while(%%x = %%a, %%y = %%b, %%w = %%t, %%i = %%z) : %[1]s, %[1]s, tensor<%[2]s>, tensor<i32>
    cond {
      %%c = stablehlo.compare LT, %%i, %%n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %%c : tensor<i1>
    } do {
      %%one = stablehlo.constant dense<1> : tensor<i32>
      %%j = stablehlo.add %%i, %%one : tensor<i32>
      %%v0 = stablehlo.subtract %%y, %%x : %[1]s
`, x, dt)
		n := 0
		op := func(format string, args ...any) {
			fmt.Fprintf(&b, "      %%v%d = "+format+"\n", append([]any{n + 1}, args...)...)
			n++
		}
		binary := []string{"add", "multiply", "subtract", "maximum", "minimum"}
		unary := []string{"negate", "abs"}
		if strings.Contains(dt, "f") {
			binary, unary = append(binary, "divide", "atan2"), append(unary, "tanh", "sqrt", "sine")
		} else {
			binary = append(binary, "and", "or", "xor", "shift_left")
			if dt[0] == 'u' {
				unary = nil
			}
		}
		for i, name := range binary {
			op("stablehlo.%s %%v%d, %s : %s", name, n, []string{"%a", "%y"}[i%2], x)
		}
		for _, name := range unary {
			op("stablehlo.%s %%v%d : %s", name, n, x)
		}
		for _, dir := range []string{"EQ", "NE", "LT", "LE", "GT", "GE"} {
			fmt.Fprintf(&b, "      %%%s = stablehlo.compare %s, %%v%d, %%x : (%s, %[4]s) -> tensor<3xi1>\n", dir, dir, n, x)
			op("stablehlo.select %%%s, %%v%d, %%y : tensor<3xi1>, %s", dir, n, x)
		}
		fmt.Fprintf(&b, `      %%p = stablehlo.slice %%v%[1]d [1:3] : (%[2]s) -> tensor<2x%[3]s>
      %%q = stablehlo.broadcast_in_dim %%w, dims = [] : (tensor<%[3]s>) -> tensor<1x%[3]s>
      %%e = stablehlo.concatenate %%p, %%q, dim = 0 : (tensor<2x%[3]s>, tensor<1x%[3]s>) -> %[2]s
      %%f = stablehlo.reduce(%%v%[1]d init: %%w) applies stablehlo.maximum across dimensions = [0] : (%[2]s, tensor<%[3]s>) -> tensor<%[3]s>
      %%g = func.call @second(%%w, %%f) : (tensor<%[3]s>, tensor<%[3]s>) -> tensor<%[3]s>
      %%h = stablehlo.reverse %%e, dims = [0] : %[2]s
      %%k = stablehlo.reshape %%h : (%[2]s) -> tensor<1x3x%[3]s>
      %%l = stablehlo.transpose %%k, dims = [1, 0] : (tensor<1x3x%[3]s>) -> tensor<3x1x%[3]s>
      %%m = stablehlo.reshape %%l : (tensor<3x1x%[3]s>) -> %[2]s
      %%u = stablehlo.slice %%y [0:2] : (%[2]s) -> tensor<2x%[3]s>
      %%o = stablehlo.pad %%u, %%w, low = [1], high = [0], interior = [0] : (tensor<2x%[3]s>, tensor<%[3]s>) -> %[2]s
      stablehlo.return %%o, %%m, %%g, %%j : %[2]s, %[2]s, tensor<%[3]s>, tensor<i32>
    }
  return %%r#0, %%r#1, %%r#2, %%r#3 : %[2]s, %[2]s, tensor<%[3]s>, tensor<i32>
}
func.func private @second(%%a: tensor<%[3]s>, %%b: tensor<%[3]s>) -> tensor<%[3]s> {
  return %%b : tensor<%[3]s>
}
`, n, x, dt)
		var printed strings.Builder
		fast, err := compileWith(t, b.String(), interp.Options{Plan: &printed}, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if registers := strings.Contains(printed.String(), "operations on registers"); registers != (dt != "bf16") {
			t.Errorf("%s: the plan is\n%s", dt, printed.String())
		}
		slow, err := compileWith(t, b.String(), interp.Options{Profile: &interp.Profile{}}, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, values := range [][]float64{{1.5, -2, 3.25, 0.5, 4, -1}, {0, math.Inf(1), -0.75, 1e30, math.NaN(), 7}, {100, 3, 5, 7, 11, 13}} {
			args := []*tensor.Tensor{tensor.New(mustType(t, dt), tensor.Shape{3}), tensor.New(mustType(t, dt), tensor.Shape{3}), scalarI32(5)}
			for i, v := range values {
				bits := uint64(int64(v * 1000))
				if d := args[i/3].DType(); d.IsFloat() {
					bits = tensor.EncodeFloat(d, v)
				}
				args[i/3].SetBits(i%3, bits)
			}
			got, err := fast.Run(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			want, err := slow.Run(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
					t.Errorf("%s on %v: result %d is %x, the kernels give %x", dt, values, i, got[i].Bytes(), want[i].Bytes())
				}
			}
		}
	}
}

// TestLoopOnManyRegisters: a loop on values of up to 64 elements, with reductions in the order of the kernels, is
// machine code and returns the bits of its kernels, also if operands leave the range of a function.
func TestLoopOnManyRegisters(t *testing.T) {
	for _, c := range []struct {
		dt string
		n  int
	}{{"f32", 64}, {"f32", 63}, {"f64", 64}, {"f64", 37}, {"f64", 31}, {"i32", 64}, {"ui64", 50}} {
		x, one := fmt.Sprintf("tensor<%dx%s>", c.n, c.dt), "tensor<"+c.dt+">"
		unary, point := "negate", ""
		switch c.dt {
		case "f32":
			unary, point = "sine", ".0"
		case "f64":
			point = ".0"
		case "ui64":
			unary = "not"
		}
		text := strings.NewReplacer("$x", x, "$one", one, "$op", unary, "$three", "3"+point, "$unit", "1"+point).Replace(`func.func @main(%a: $x, %n: tensor<i32>) -> ($x, $one, $one, $one) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.constant dense<$unit> : $one
  %k = stablehlo.constant dense<$three> : $x
  %r:5 = stablehlo.while(%x = %a, %p = %s, %q = %s, %u = %s, %i = %z) : $x, $one, $one, $one, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %v = stablehlo.$op %x : $x
      %w = stablehlo.multiply %v, %k : $x
      %y = stablehlo.add %w, %x : $x
      %f = stablehlo.reduce(%y init: %p) applies stablehlo.add across dimensions = [0] : ($x, $one) -> $one
      %g = stablehlo.reduce(%v init: %q) applies stablehlo.maximum across dimensions = [0] : ($x, $one) -> $one
      %h = stablehlo.reduce(%w init: %u) applies stablehlo.multiply across dimensions = [0] : ($x, $one) -> $one
      stablehlo.return %y, %f, %g, %h, %j : $x, $one, $one, $one, tensor<i32>
    }
  return %r#0, %r#1, %r#2, %r#3 : $x, $one, $one, $one
}`)
		var printed strings.Builder
		fast, err := compileWith(t, text, interp.Options{Plan: &printed}, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(printed.String(), "machine code") {
			t.Errorf("%s: the plan is\n%s", x, printed.String())
		}
		slow, err := compileWith(t, text, interp.Options{Profile: &interp.Profile{}}, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for round := range 4 {
			a := tensor.New(mustType(t, c.dt), tensor.Shape{int64(c.n)})
			for i := range c.n {
				v := math.Cos(float64(i*i)) * []float64{1, 0.01, 3e6, 1e30}[round]
				if a.DType().IsFloat() {
					a.SetFloat(i, v)
				} else {
					a.SetInt(i, int64(math.Abs(v)))
				}
			}
			args := []*tensor.Tensor{a, scalarI32(5)}
			got, err := fast.Run(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			want, err := slow.Run(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
					t.Errorf("%s, round %d: result %d is %s, the kernels give %s", x, round, i, got[i].AppendLiteral(nil, 1000), want[i].AppendLiteral(nil, 1000))
				}
			}
		}
	}
}

func mustType(t *testing.T, name string) tensor.DType {
	t.Helper()
	dt, ok := tensor.ParseDType(name)
	if !ok {
		t.Fatal(name)
	}
	return dt
}
