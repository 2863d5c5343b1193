package interp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// Regions may work on a wider type than the operands' (is_promotable): 256, 1 and 1 of bf16 are 258 in f32, where sums in bf16
// stay at 256. The operands are as before.
func TestPromotingRegions(t *testing.T) {
	region := `({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  })`
	general := strings.Replace(region, "%s = stablehlo.add %x, %y : tensor<f32>", "%h = stablehlo.add %x, %y : tensor<f32>\n    %s = stablehlo.maximum %h, %x : tensor<f32>", 1)
	for _, c := range []struct {
		name, op, result string
		want             []float64
	}{
		{"reduce", `"stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> @ : (tensor<3xbf16>, tensor<bf16>) -> tensor<f32>`, "tensor<f32>", []float64{258}},
		{"reduce_window", `"stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2>}> @ : (tensor<3xbf16>, tensor<bf16>) -> tensor<2xf32>`, "tensor<2xf32>", []float64{257, 2}},
		{"scatter", `"stablehlo.scatter"(%a, %i, %a) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> @
    : (tensor<3xbf16>, tensor<3x1xi32>, tensor<3xbf16>) -> tensor<3xf32>`, "tensor<3xf32>", []float64{256, 259, 1}},
		{"select_and_scatter", `"stablehlo.select_and_scatter"(%a, %a, %z) <{window_dimensions = array<i64: 3>, padding = dense<1> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %s = stablehlo.compare GE, %x, %y : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, @ : (tensor<3xbf16>, tensor<3xbf16>, tensor<bf16>) -> tensor<3xf32>`, "tensor<3xf32>", []float64{257, 1, 0}},
	} {
		for kind, body := range map[string]string{"": region, " general": general} {
			if c.name == "select_and_scatter" {
				body = strings.TrimPrefix(body, "(")
			}
			text := fmt.Sprintf(`func.func @main(%%a: tensor<3xbf16>) -> (%[1]s, tensor<3xbf16>) {
  %%z = stablehlo.constant dense<0.0> : tensor<bf16>
  %%i = stablehlo.constant dense<1> : tensor<3x1xi32>
  %%0 = %[2]s
  return %%0, %%a : %[1]s, tensor<3xbf16>
}`, c.result, strings.Replace(c.op, "@", body, 1))
			a := tensor.New(tensor.BF16, tensor.Shape{3})
			for i, v := range []float64{256, 1, 1} {
				a.SetFloat(i, v)
			}
			out, err := tryRun(t, text, a)
			if err != nil {
				t.Errorf("%s%s: %v", c.name, kind, err)
				continue
			}
			var got []float64
			for i := range out[0].NumElements() {
				got = append(got, out[0].FloatAt(i))
			}
			if !slices.Equal(got, c.want) || out[1].FloatAt(0) != 256 || out[1].FloatAt(2) != 1 {
				t.Errorf("%s%s gives %v, not %v", c.name, kind, got, c.want)
			}
		}
	}
}
