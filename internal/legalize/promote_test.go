package legalize_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestPromotingRegions: a region may compute in a wider type than its operands (is_promotable). In f32 the sum of 256,
// 1 and 1 in bf16 is 258; sums in bf16 stop at 256. The operands do not change.
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
			for _, dynamic := range []bool{false, true} {
				text := fmt.Sprintf(`func.func @main(%%a: tensor<3xbf16>) -> (%[1]s, tensor<3xbf16>) {
  %%z = stablehlo.constant dense<0.0> : tensor<bf16>
  %%i = stablehlo.constant dense<1> : tensor<3x1xi32>
  %%0 = %[2]s
  return %%0, %%a : %[1]s, tensor<3xbf16>
}`, c.result, strings.Replace(c.op, "@", body, 1))
				if dynamic {
					kind += " dynamic"
					text = strings.NewReplacer("<3xbf16", "<?xbf16", "<3xf32", "<?xf32", "<2xf32", "<?xf32").Replace(text)
				}
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
}

// TestPromotingQuantizedRegions: quantized operands may be promoted to quantized values of more bits, even with another
// scale. Sums of three hundreds are 300 in i32 and 127 in i8. The same holds for operands of dynamic shape.
func TestPromotingQuantizedRegions(t *testing.T) {
	const q, w = "!quant.uniform<i8:f32, 1.0:-2>", "!quant.uniform<i32:f32, 0.5>"
	region := `({
  ^bb0(%x: tensor<W>, %y: tensor<W>):
    %s = stablehlo.add %x, %y : tensor<W>
    stablehlo.return %s : tensor<W>
  })`
	nested := `({
  ^bb0(%x: tensor<W>, %y: tensor<W>):
    %l = stablehlo.constant dense<true> : tensor<i1>
    %s = "stablehlo.if"(%l) ({
      %h = stablehlo.add %x, %y : tensor<W>
      stablehlo.return %h : tensor<W>
    }, {
      stablehlo.return %x : tensor<W>
    }) : (tensor<i1>) -> tensor<W>
    stablehlo.return %s : tensor<W>
  })`
	for _, c := range []struct {
		name, op, result string
		want             []float64
	}{
		{"reduce", `"stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> @ : (tensor<3xQ>, tensor<Q>) -> tensor<W>`, "tensor<W>", []float64{300}},
		{"reduce_window", `"stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 2>}> @ : (tensor<3xQ>, tensor<Q>) -> tensor<2xW>`, "tensor<2xW>", []float64{200, 200}},
		{"scatter", `"stablehlo.scatter"(%a, %i, %a) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> @
    : (tensor<3xQ>, tensor<3x1xi32>, tensor<3xQ>) -> tensor<3xW>`, "tensor<3xW>", []float64{100, 400, 100}},
		{"select_and_scatter", `"stablehlo.select_and_scatter"(%a, %a, %z) <{window_dimensions = array<i64: 3>, padding = dense<1> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<Q>, %y: tensor<Q>):
    %s = stablehlo.compare GE, %x, %y : (tensor<Q>, tensor<Q>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, @ : (tensor<3xQ>, tensor<3xQ>, tensor<Q>) -> tensor<3xW>`, "tensor<3xW>", []float64{200, 100, 0}},
		{"all_reduce", `"stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> @ : (tensor<3xQ>) -> tensor<3xW>`, "tensor<3xW>", []float64{100, 100, 100}},
	} {
		for kind, body := range map[string]string{"": region, " nested": nested} {
			if c.name == "select_and_scatter" {
				body = strings.TrimPrefix(body, "(")
			}
			real := strings.Replace(c.result, "W", "f32", 1)
			text := `func.func @main(%f: tensor<3xf32>) -> ` + real + ` {
  %a = stablehlo.uniform_quantize %f : (tensor<3xf32>) -> tensor<3xQ>
  %n = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.uniform_quantize %n : (tensor<f32>) -> tensor<Q>
  %i = stablehlo.constant dense<1> : tensor<3x1xi32>
  %0 = ` + strings.Replace(c.op, "@", body, 1) + `
  %1 = stablehlo.uniform_dequantize %0 : (` + c.result + `) -> ` + real + `
  return %1 : ` + real + `
}`
			text = strings.NewReplacer("Q>", q+">", "W>", w+">").Replace(text)
			for _, dynamic := range []bool{false, true} {
				if dynamic {
					kind += " dynamic"
					text = strings.NewReplacer("<3x1x", "<3x1x", "<3x", "<?x", "<2x", "<?x").Replace(text)
				}
				a := tensor.New(tensor.F32, tensor.Shape{3})
				for i := range 3 {
					a.SetFloat(i, 100)
				}
				out, err := tryRun(t, text, a)
				if err != nil {
					t.Errorf("%s%s: %v\n%s", c.name, kind, err, text)
					continue
				}
				var got []float64
				for i := range out[0].NumElements() {
					got = append(got, out[0].FloatAt(i))
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s%s gives %v, not %v", c.name, kind, got, c.want)
				}
			}
		}
	}
}
