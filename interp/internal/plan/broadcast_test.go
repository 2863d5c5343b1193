package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestBroadcastsInChains: a chain reads a value that it broadcasts, along any dimensions, for elements of each size. A
// sum beside it is computed element by element.
func TestBroadcastsInChains(t *testing.T) {
	for _, c := range []struct {
		shape tensor.Shape
		dims  []int
		one   bool // the operand's first dimension has size 1
		fused bool // the chain reads the operand itself
	}{
		{tensor.Shape{50, 60}, nil, false, true},
		{tensor.Shape{50, 60}, []int{1}, false, true},
		{tensor.Shape{50, 60}, []int{0}, false, true},
		{tensor.Shape{50, 60}, []int{0, 1}, true, true},
		{tensor.Shape{3, 1009}, []int{1}, false, true},
		{tensor.Shape{1009, 3}, []int{1}, false, true},
		{tensor.Shape{1009, 3}, []int{0}, false, true},
		{tensor.Shape{7, 31, 13}, []int{1}, false, true},
		{tensor.Shape{7, 31, 13}, []int{0}, false, true},
		{tensor.Shape{7, 31, 13}, []int{2}, false, true},
		{tensor.Shape{7, 31, 13}, []int{0, 1}, false, true},
		{tensor.Shape{7, 31, 13}, []int{1, 2}, false, true},
		{tensor.Shape{7, 31, 13}, []int{0, 2}, false, false},
		{tensor.Shape{5, 7, 9, 11}, []int{1, 2}, false, true},
		{tensor.Shape{5, 7, 9, 11}, []int{0, 2}, false, false},
		{tensor.Shape{4096}, []int{0}, true, true},
	} {
		for _, dt := range []string{"i8", "i16", "i32", "i64"} {
			small := tensor.Shape{}
			for i, d := range c.dims {
				if size := c.shape[d]; i > 0 || !c.one {
					small = append(small, size)
				} else {
					small = append(small, 1)
				}
			}
			typ := func(s tensor.Shape) string {
				text := "tensor<"
				for _, d := range s {
					text += fmt.Sprint(d, "x")
				}
				return text + dt + ">"
			}
			x, y := typ(small), typ(c.shape)
			text := fmt.Sprintf(`func.func @main(%%x: %[1]s, %%y: %[2]s) -> %[2]s {
  %%b = stablehlo.broadcast_in_dim %%x, dims = %[3]s : (%[1]s) -> %[2]s
  %%c = stablehlo.multiply %%y, %%y : %[2]s
  %%d = stablehlo.subtract %%c, %%b : %[2]s
  %%e = stablehlo.xor %%d, %%y : %[2]s
  return %%e : %[2]s
}`, x, y, strings.ReplaceAll(fmt.Sprint(c.dims), " ", ", "))
			var printed strings.Builder
			exe, err := compileWith(t, text, interp.Options{Plan: &printed}, runtime.CompileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if fused := strings.Contains(printed.String(), "stablehlo.broadcast_in_dim + "); fused != c.fused {
				t.Errorf("%s: the plan is\n%s", text, printed.String())
			}
			a, b := tensor.New(mustType(t, dt), small), tensor.New(mustType(t, dt), c.shape)
			for i := range a.NumElements() {
				a.SetInt(i, int64(i*i%119))
			}
			for i := range b.NumElements() {
				b.SetInt(i, int64(i%11))
			}
			out, err := exe.Run(t.Context(), []*tensor.Tensor{a, b})
			if err != nil {
				t.Fatal(err)
			}
			want := tensor.New(a.DType(), c.shape)
			index := make([]int64, len(c.shape))
			for i := range b.NumElements() {
				rest := int64(i)
				for d := len(c.shape) - 1; d >= 0; d-- {
					index[d], rest = rest%c.shape[d], rest/c.shape[d]
				}
				at := int64(0)
				for k, d := range c.dims {
					at *= small[k]
					if small[k] > 1 {
						at += index[d]
					}
				}
				v := b.IntAt(i)
				want.SetInt(i, (v*v-a.IntAt(int(at)))^v)
			}
			if string(out[0].Bytes()) != string(want.Bytes()) {
				t.Errorf("%s is wrong:\n%s\nwant\n%s", text, out[0].AppendLiteral(nil, 60), want.AppendLiteral(nil, 60))
			}
		}
	}
}
