package ops_test

import (
	"testing"
)

// runText runs a module whose main has no arguments, and compares its results as literals.
func runText(t *testing.T, text string, want ...string) {
	t.Helper()
	out, err := tryRun(t, text)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	for i, r := range out {
		got := string(r.AppendLiteral(nil, 1000))
		if i >= len(want) || got != want[i] {
			t.Errorf("result %d is %s, not %s", i, got, want[min(i, len(want)-1)])
		}
	}
	if len(out) != len(want) {
		t.Errorf("%d results, not %d", len(out), len(want))
	}
}

func TestScan(t *testing.T) {
	// Sums along the second dimension, both ways; the carry is an input of the module, too.
	runText(t, `func.func @main() -> (tensor<2x3xi32>, tensor<2xi32>, tensor<2x3xi32>) {
  %x = stablehlo.constant dense<[[1, 2, 3], [10, 20, 30]]> : tensor<2x3xi32>
  %z = stablehlo.constant dense<[100, 200]> : tensor<2xi32>
  %0:2 = "chlo.scan"(%x, %z) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):
    %s = stablehlo.add %a, %b : tensor<2xi32>
    stablehlo.return %s, %s : tensor<2xi32>, tensor<2xi32>
  }) : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  %1:2 = "chlo.scan"(%x, %z) <{dimension = 1 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):
    %s = stablehlo.add %a, %b : tensor<2xi32>
    stablehlo.return %b, %s : tensor<2xi32>, tensor<2xi32>
  }) : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  return %0#0, %0#1, %1#0 : tensor<2x3xi32>, tensor<2xi32>, tensor<2x3xi32>
}`, "dense<[[101, 103, 106], [210, 230, 260]]> : tensor<2x3xi32>", "dense<[106, 260]> : tensor<2xi32>", "dense<[[105, 103, 100], [250, 230, 200]]> : tensor<2x3xi32>")

	// One value is both scanned and carried; a scan has no input; a size becomes known at run time.
	runText(t, `func.func @main() -> (tensor<2xi32>, tensor<2xi32>, tensor<4xi32>, tensor<i32>, tensor<3xi32>) {
  %x = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %0:2 = "chlo.scan"(%x, %x) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<2xi32>):
    %w = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %s = stablehlo.multiply %w, %b : tensor<2xi32>
    stablehlo.return %a, %s : tensor<i32>, tensor<2xi32>
  }) : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  %one = stablehlo.constant dense<1> : tensor<i32>
  %1:2 = "chlo.scan"(%one) <{dimension = 0 : i64, scan_dim_size = 4 : i64, operandSegmentSizes = array<i32: 0, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%b: tensor<i32>):
    %s = stablehlo.add %b, %b : tensor<i32>
    stablehlo.return %b, %s : tensor<i32>, tensor<i32>
  }) : (tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  %n = stablehlo.constant dense<3> : tensor<1xi32>
  %d = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %2:2 = "chlo.scan"(%d, %one) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s, %s : tensor<i32>, tensor<i32>
  }) : (tensor<?xi32>, tensor<i32>) -> (tensor<?xi32>, tensor<i32>)
  %r = stablehlo.dynamic_reshape %2#0, %n : (tensor<?xi32>, tensor<1xi32>) -> tensor<3xi32>
  return %0#0, %0#1, %1#0, %1#1, %r : tensor<2xi32>, tensor<2xi32>, tensor<4xi32>, tensor<i32>, tensor<3xi32>
}`, "dense<[3, 4]> : tensor<2xi32>", "dense<[36, 48]> : tensor<2xi32>", "dense<[1, 2, 4, 8]> : tensor<4xi32>", "dense<16> : tensor<i32>", "dense<[1, 2, 4]> : tensor<3xi32>")
}
