package ops_test

import "testing"

// TestMHLO: the engine executes MHLO without converting it first.
func TestMHLO(t *testing.T) {
	runText(t, `func.func @main() -> (tensor<4xi32>, tensor<i32>, tensor<2xf32>, tensor<2xi32>, tensor<4xi8>, tensor<i32>, tensor<2x2xi32>, tensor<4xi32>) {
  %x = mhlo.constant dense<[4, 1, 3, 2]> : tensor<4xi32>
  %zero = mhlo.constant dense<0> : tensor<i32>
  %sorted = "mhlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = mhlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    mhlo.return %c : tensor<i1>
  }) : (tensor<4xi32>) -> tensor<4xi32>
  %sum = mhlo.reduce(%x init: %zero) applies mhlo.add across dimensions = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
  %f = mhlo.constant dense<[2.5, -1.5, 0.25, 7.0]> : tensor<4xf32>
  %top:2 = mhlo.topk(%f, k = 2, largest = false) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %random = mhlo.constant dense<[0x80000000, 0x7fffffff, 0x3fffffff, 5]> : tensor<4xui32>
  %half = "mhlo.stochastic_convert"(%f, %random) : (tensor<4xf32>, tensor<4xui32>) -> tensor<4xi8>
  %w:2 = mhlo.while(%i = %zero, %acc = %sum) : tensor<i32>, tensor<i32>
  cond {
    %c = mhlo.compare LT, %i, %sum, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    mhlo.return %c : tensor<i1>
  } do {
    %one = mhlo.constant dense<1> : tensor<i32>
    %n = mhlo.add %i, %one : tensor<i32>
    %m = mhlo.add %acc, %n : tensor<i32>
    mhlo.return %n, %m : tensor<i32>, tensor<i32>
  }
  %bits = mhlo.bitcast %x : (tensor<4xi32>) -> tensor<2x2xi32>
  %fused = "mhlo.fusion"(%x) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
  ^bb0(%a: tensor<4xi32>):
    %m = mhlo.multiply %a, %a : tensor<4xi32>
    mhlo.return %m : tensor<4xi32>
  }) : (tensor<4xi32>) -> tensor<4xi32>
  %start = "mhlo.async_start"(%fused) <{called_computation = @double, execution_thread = "main"}> : (tensor<4xi32>) -> !mhlo.async_bundle<tuple<tensor<4xi32>>, tensor<4xi32>>
  %update = "mhlo.async_update"(%start) : (!mhlo.async_bundle<tuple<tensor<4xi32>>, tensor<4xi32>>) -> !mhlo.async_bundle<tuple<tensor<4xi32>>, tensor<4xi32>>
  %done = "mhlo.async_done"(%update) : (!mhlo.async_bundle<tuple<tensor<4xi32>>, tensor<4xi32>>) -> tensor<4xi32>
  return %sorted, %sum, %top#0, %top#1, %half, %w#1, %bits, %done : tensor<4xi32>, tensor<i32>, tensor<2xf32>, tensor<2xi32>, tensor<4xi8>, tensor<i32>, tensor<2x2xi32>, tensor<4xi32>
}
func.func private @double(%x: tensor<4xi32>) -> tensor<4xi32> {
  %y = mhlo.copy %x : tensor<4xi32>
  %t = mhlo.create_token : !mhlo.token
  %z = mhlo.add_dependency %y, %t : (tensor<4xi32>, !mhlo.token) -> tensor<4xi32>
  %r = mhlo.add %z, %x : tensor<4xi32>
  return %r : tensor<4xi32>
}`, "dense<[1, 2, 3, 4]> : tensor<4xi32>", "dense<10> : tensor<i32>", "dense<[-1.500000e+00, 2.500000e-01]> : tensor<2xf32>", "dense<[1, 2]> : tensor<2xi32>",
		"dense<[2, -2, 1, 7]> : tensor<4xi8>", "dense<65> : tensor<i32>", "dense<[[4, 1], [3, 2]]> : tensor<2x2xi32>", "dense<[32, 2, 18, 8]> : tensor<4xi32>")
}
