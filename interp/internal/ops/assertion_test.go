package ops_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// TestShapeAssertion: a check of jax.export fails with its own message, and passes silently.
func TestShapeAssertion(t *testing.T) {
	const text = `func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %p = stablehlo.compare EQ, %n, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%p, %n, %c) {api_version = 2 : i32, error_message = "Expected '{1}', found '{0}'", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  return %n : tensor<i32>
}`
	for n, want := range map[int64]string{3: "", 7: "Expected '3', found '7'"} {
		v := tensor.New(tensor.I32, tensor.Shape{})
		v.SetInt(0, n)
		_, err := tryRun(t, text, v)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "test.mlir:4:")) {
			t.Errorf("%d gives %v, want %q", n, err, want)
		}
	}
}
