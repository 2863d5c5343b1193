// RUN: tally-opt %s | FileCheck %s

// CHECK: tally.scaled_dot %arg0 x %arg0 by 2 perm [1, 0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// CHECK: tally.scaled_dot %0 x %arg0 by 3 {site = "b"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = tally.scaled_dot %a x %a by 2 perm [1, 0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = tally.scaled_dot %0 x %a by 3 {site = "b"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
