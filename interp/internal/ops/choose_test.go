package ops_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/mlirtext"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestChoices: reductions that choose one of two pairs have the bits of the same reductions through the region, which a
// conversion to the same type keeps from the kernel of choices: argmax and argmin in the forms of JAX and others, with
// NaN, zeros of both signs and infinities.
func TestChoices(t *testing.T) {
	compare := func(dir, x, y, typ string) string {
		return fmt.Sprintf("stablehlo.compare %s, %s, %s : (tensor<%[4]s>, tensor<%[4]s>) -> tensor<i1>\n", dir, x, y, typ)
	}
	selects := func(p, q string) string {
		return fmt.Sprintf(`%%v = stablehlo.select %s, %%x, %%y : tensor<i1>, tensor<T>
    %%w = stablehlo.select %s, %%i, %%j : tensor<i1>, tensor<I>
    stablehlo.return %%v, %%w : tensor<T>, tensor<I>`, p, q)
	}
	first := func(dir string) string { // JAX's: a NaN is chosen, and the first index of equal values
		return "%a = " + compare(dir, "%x", "%y", "T") + "%b = " + compare("NE", "%x", "%x", "T") + "%c = stablehlo.or %a, %b : tensor<i1>\n" +
			"%d = " + compare("EQ", "%x", "%y", "T") + "%e = " + compare("LT", "%i", "%j", "I") + "%f = stablehlo.and %d, %e : tensor<i1>\n" +
			"%g = stablehlo.or %c, %f : tensor<i1>\n" + selects("%c", "%g")
	}
	for name, body := range map[string]string{
		"argmax": first("GT"), "argmin": first("LT"),
		"last": "%a = " + compare("GE", "%x", "%y", "T") + selects("%a", "%a"),
		"other": "%a = " + compare("LE", "%y", "%x", "T") + "%b = " + compare("GT", "%j", "%i", "I") + "%c = stablehlo.xor %a, %b : tensor<i1>\n" +
			"%d = stablehlo.not %c : tensor<i1>\n" + selects("%d", "%b"),
	} {
		for _, dt := range []tensor.DType{tensor.F32, tensor.F64, tensor.I8, tensor.UI32, tensor.I64} {
			for _, index := range []tensor.DType{tensor.I32, tensor.I64} {
				for _, c := range []struct {
					in, out tensor.Shape
					dim     int
				}{{tensor.Shape{7, 90}, tensor.Shape{7}, 1}, {tensor.Shape{90, 7}, tensor.Shape{7}, 0}, {tensor.Shape{3, 40, 5}, tensor.Shape{3, 5}, 1},
					{tensor.Shape{100}, nil, 0}, {tensor.Shape{0, 4}, tensor.Shape{4}, 0}, {tensor.Shape{600, 64}, tensor.Shape{600}, 1},
					{tensor.Shape{30, 43}, tensor.Shape{43}, 0}, {tensor.Shape{75, 100}, tensor.Shape{75}, 1}} {
					typ := func(s tensor.Shape, d tensor.DType) string {
						return "tensor<" + string(mlirtext.AppendShape(nil, s)) + d.String() + ">"
					}
					text := strings.NewReplacer("tensor<T>", "tensor<"+dt.String()+">", "tensor<I>", "tensor<"+index.String()+">").Replace(fmt.Sprintf(
						`func.func @main(%%k0: %[1]s, %%k1: %[2]s, %%k2: tensor<T>, %%k3: tensor<I>) -> (%[3]s, %[4]s) {
  %%r:2 = "stablehlo.reduce"(%%k0, %%k1, %%k2, %%k3) <{dimensions = array<i64: %[5]d>}> ({
  ^bb0(%%x: tensor<T>, %%i: tensor<I>, %%y: tensor<T>, %%j: tensor<I>):
    %[6]s
  }) : (%[1]s, %[2]s, tensor<T>, tensor<I>) -> (%[3]s, %[4]s)
  return %%r#0, %%r#1 : %[3]s, %[4]s
}`, typ(c.in, dt), typ(c.in, index), typ(c.out, dt), typ(c.out, index), c.dim, body))
					general := strings.Replace(text, "stablehlo.return %v, %w", "%z = stablehlo.convert %v : (tensor<"+dt.String()+">) -> tensor<"+dt.String()+">\n    stablehlo.return %z, %w", 1)
					a, b := tensor.New(dt, c.in), tensor.New(index, c.in)
					values := []float64{0, math.Copysign(0, -1), 1, 2, 3, -1, math.Inf(1), math.Inf(-1), math.NaN(), 5}
					for k := range a.NumElements() {
						n := k * 7919 % 104729 % 997
						if dt.IsFloat() {
							v := values[n%len(values)]
							if n%31 != 0 && math.IsNaN(v) {
								v = 4
							}
							a.SetFloat(k, v)
						} else {
							a.SetInt(k, int64(n%11))
						}
						b.SetInt(k, int64(n%5))
					}
					args := []*tensor.Tensor{a, b, tensor.New(dt, nil), tensor.New(index, nil)}
					for text, chooses := range map[string]bool{text: true, general: false} {
						var plan strings.Builder
						if _, err := compileWith(t, text, interp.Options{Plan: &plan}, runtime.CompileOptions{}); err != nil {
							t.Fatal(err)
						}
						if is := strings.Contains(plan.String(), "choice of elements"); is != chooses {
							t.Fatalf("a kernel of choices is %v\n%s", is, plan.String())
						}
					}
					got, want := run(t, text, args...), run(t, general, args...)
					for k := range want {
						if !bytes.Equal(got[k].Bytes(), want[k].Bytes()) {
							t.Errorf("%s of %s and %s, result %d: %s, want %s\n%s", name, typ(c.in, dt), index, k, got[k].AppendLiteral(nil, 9), want[k].AppendLiteral(nil, 9), text)
						}
					}
				}
			}
		}
	}
}
