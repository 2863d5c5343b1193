package ir_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/ir"
)

// TestVerifyLayouts: result_layouts of ops that have it as a discardable attribute has one layout for each result.
func TestVerifyLayouts(t *testing.T) {
	layout := "dense<0> : tensor<1xindex>"
	for _, c := range []struct {
		name, text string // $ stands for the layouts
		want       int    // their number
	}{
		{"function", "func.func private @f() -> (tensor<2xf32>, tensor<2xf32>) attributes {result_layouts = $}", 2},
		{"call", "func.func private @f() -> (tensor<2xf32>, tensor<2xf32>)\nfunc.func @g() {\n  %0:2 = func.call @f() {result_layouts = $} : () -> (tensor<2xf32>, tensor<2xf32>)\n  return\n}", 2},
		{"if", "func.func @g(%p: tensor<i1>, %a: tensor<2xf32>) {\n  %0:2 = \"stablehlo.if\"(%p) ({\n    stablehlo.return %a, %a : tensor<2xf32>, tensor<2xf32>\n  }, {\n    stablehlo.return %a, %a : tensor<2xf32>, tensor<2xf32>\n  }) {result_layouts = $} : (tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>)\n  return\n}", 2},
		{"of mhlo", "func.func @g(%a: tensor<2xf32>) {\n  %0 = \"mhlo.sine\"(%a) {result_layouts = $} : (tensor<2xf32>) -> tensor<2xf32>\n  return\n}", 1},
		{"tuple", "func.func @g(%a: tensor<2xf32>) {\n  %0 = \"stablehlo.tuple\"(%a, %a, %a) {result_layouts = $} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>, tensor<2xf32>>\n  return\n}", 3},
	} {
		for n := range 5 {
			list := "[" + strings.TrimSuffix(strings.Repeat(layout+", ", n), ", ") + "]"
			err := ir.Verify(read(t, strings.ReplaceAll(c.text, "$", list)))
			right := n == c.want || c.name == "tuple" && n == 1
			if wrong := err != nil && strings.Contains(err.Error(), fmt.Sprintf("but it has %d", n)); right && err != nil || !right && !wrong {
				t.Errorf("%s, %d layouts: %v", c.name, n, err)
			}
		}
	}
}
