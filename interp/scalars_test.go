package interp

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

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
		fast, err := compileWith(t, b.String(), Options{Plan: &printed}, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if registers := strings.Contains(printed.String(), "operations on registers"); registers != (dt != "bf16") {
			t.Errorf("%s: the plan is\n%s", dt, printed.String())
		}
		slow, err := compileWith(t, b.String(), Options{Profile: &Profile{}}, runtime.CompileOptions{})
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

func mustType(t *testing.T, name string) tensor.DType {
	t.Helper()
	dt, ok := tensor.ParseDType(name)
	if !ok {
		t.Fatal(name)
	}
	return dt
}
