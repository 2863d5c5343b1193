// RUN: tally-opt %s --absorb-transposes --stats 2>&1 | FileCheck %s
// RUN: tally-opt %s --absorb-transposes --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// CHECK: dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [1] x [1]
// CHECK-SAME: {mhlo.frontend_attributes = {site = "a"}}
// CHECK-SAME: (tensor<5x2x3xbf16>, tensor<5x2x4xbf16>) -> tensor<5x3x4xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose
// CHECK: dot_general %[[T]]
// CHECK: 1 absorb-transposes: rule dot-of-transpose
// LOC: dot_general {{.*}} loc(#[[AT:.*]])
// LOC: #[[AT]] = loc("dot.py":7:0)
func.func @main(%x: tensor<5x2x3xbf16>, %y: tensor<5x2x4xbf16>, %z: tensor<2x3x4xf32>, %w: tensor<3xf32>) -> (tensor<5x3x4xf32>, tensor<4x2xf32>) {
  %t = stablehlo.transpose %x, dims = [0, 2, 1] : (tensor<5x2x3xbf16>) -> tensor<5x3x2xbf16>
  %0 = stablehlo.dot_general %t, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] {mhlo.frontend_attributes = {site = "a"}} : (tensor<5x3x2xbf16>, tensor<5x2x4xbf16>) -> tensor<5x3x4xf32> loc("dot.py":7:0)
  // The free dimensions change places.
  %u = stablehlo.transpose %z, dims = [2, 1, 0] : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %1 = stablehlo.dot_general %u, %w, contracting_dims = [1] x [0] : (tensor<4x3x2xf32>, tensor<3xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<5x3x4xf32>, tensor<4x2xf32>
}
