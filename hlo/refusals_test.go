package hlo_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/dialect/all"
	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/parse"
)

// TestExportRefuses: an op without an equivalent is one error at the op, and no module.
func TestExportRefuses(t *testing.T) {
	reg, err := all.Registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ text, want string }{
		{"func.func private @f(%x: tensor<f32>) -> tensor<f32>\nfunc.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = func.call @f(%x) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"1:1: error: function f has no body"},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = func.call @main(%x) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"1:1: error: function main calls itself"},
		{"func.func private @f(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\nfunc.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %s = \"mhlo.async_start\"() {called_computation = @f, execution_thread = \"t\"} : () -> !mhlo.async_bundle<tensor<f32>, tensor<f32>>\n  return %x : tensor<f32>\n}",
			"5:8: error: 'mhlo.async_start' must call one function with its operands"},
		{"func.func @main(%x: tensor<f32>, %s: !mhlo.async_bundle<tensor<f32>, tensor<f32>>) -> tensor<f32> {\n  %r = \"mhlo.async_done\"(%s) : (!mhlo.async_bundle<tensor<f32>, tensor<f32>>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"error: "},
		{"func.func @main(%x: tensor<2x!quant.uniform<i8:f32, 1.0>>) {\n  return\n}", "error: type tensor<2x!quant.uniform<i8:f32, 1.000000e+00>> has no equivalent in HLO"},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = \"foreign.op\"(%x) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: 'foreign.op' has no equivalent in HLO"},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = func.call @g(%x) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: function g does not exist"},
	} {
		m, err := parse.Parse(diag.NewSource("m.mlir", []byte(test.text)), ir.NewContext(reg), parse.Options{})
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		out, err := hlo.Export(m)
		if list := diag.ListOf(err); out != nil || len(list) != 1 || !strings.Contains(err.Error(), test.want) || !list[0].Pos.IsValid() {
			t.Errorf("%s:\n%v, want %s", test.text, err, test.want)
		}
		if again, also := hlo.Update(m); again != nil || also == nil || err != nil && also.Error() != err.Error() {
			t.Errorf("%s: updated: %v", test.text, also)
		}
	}
}
