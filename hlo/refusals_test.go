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
		{"func.func @main(%x: tensor<f32> {mhlo.sharding = \"{wrong}\"}) -> tensor<f32> {\n  return %x : tensor<f32>\n}", "1:1: error: mhlo.sharding cannot be read: "},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = stablehlo.negate %x {mhlo.sharding = \"{replicated} more\"} : tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: mhlo.sharding cannot be read: expected the end of the sharding, found "},
		{"func.func @main(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<f32> {\n  %r = \"stablehlo.reduce\"(%x, %y) <{dimensions = array<i64: 0>}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n" +
			"    %c = stablehlo.add %a, %y : tensor<f32>\n    stablehlo.return %c : tensor<f32>\n  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"4:10: error: an HLO computation cannot use a value that is defined outside of it"},
		{"func.func @main() -> tensor<f32> {\n  %r = \"stablehlo.constant\"() <{value = \"text\"}> : () -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: this constant has no equivalent in HLO"},
		{"func.func @main() -> tensor<2xf32> {\n  %r = stablehlo.constant dense_resource<missing> : tensor<2xf32>\n  return %r : tensor<2xf32>\n}", "2:8: error: "},
		{"func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {\n  %r = \"stablehlo.transpose\"(%x) <{permutation = array<i64: 1>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>\n  return %r : tensor<3x2xf32>\n}",
			"2:8: error: "},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = \"stablehlo.composite\"(%x) {name = \"a.b\"} : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: the composite has no decomposition"},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = stablehlo.composite \"a.b\" %x {decomposition = @f} : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: the composite has no decomposition"},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = stablehlo.custom_call @c(%x) {called_computations = [@f]} : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: function f does not exist"},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = stablehlo.custom_call @c(%x) {mhlo.window = \"wrong\"} : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: mhlo.window cannot be read: "},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = stablehlo.custom_call @c(%x) {mhlo.dim_labels = \"b0f_0io->b0f more\"} : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: mhlo.dim_labels cannot be read: expected the end of dim_labels, found "},
		{"func.func @main(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {\n  %r:2 = \"stablehlo.all_to_all\"(%x, %y) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, " +
			"replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)\n  return %r#0, %r#1 : tensor<4x2xf32>, tensor<4x2xf32>\n}",
			"2:10: error: this all_to_all has no equivalent in HLO"},
		{"func.func private @f(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\nfunc.func private @g(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\nfunc.func @main(%x: tensor<f32>) -> tensor<f32> {\n" +
			"  %s = \"mhlo.async_start\"(%x) {called_computation = [@f, @g], execution_thread = \"t\"} : (tensor<f32>) -> !mhlo.async_bundle<tensor<f32>, tensor<f32>>\n  return %x : tensor<f32>\n}",
			"8:8: error: 'mhlo.async_start' must call one function with its operands"},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = \"mhlo.async_done\"(%x) : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: 'mhlo.async_done' needs the value of an async_start"},
		{"func.func @main(%x: tuple<tensor<f32>>) -> tensor<f32> {\n  %r = \"mhlo.async_done\"(%x) : (tuple<tensor<f32>>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: 'mhlo.async_done' needs the value of an async_start"},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = \"mhlo.domain\"(%x) {kind = #mhlo<kind sharding>, entry_metadata = \"{wrong}\", exit_metadata = \"\"} : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: entry_metadata is not a sharding: "},
		{"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = \"mhlo.domain\"(%x) {kind = #mhlo<kind sharding>, entry_metadata = \"\", exit_metadata = \"wrong\"} : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}",
			"2:8: error: exit_metadata is not a sharding: "},
		{"func.func private @f(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\nfunc.func private @g(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}", "error: a module without a function main has no entry computation"},
		{"func.func @main(%x: tensor<?xf32>) -> tensor<*xf32> {\n  %r = stablehlo.custom_call @c(%x) : (tensor<?xf32>) -> tensor<*xf32>\n  return %r : tensor<*xf32>\n}", "error: type tensor<*xf32> has no equivalent in HLO"},
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
