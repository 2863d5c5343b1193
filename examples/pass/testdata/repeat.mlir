// RUN: tally-opt %s --tally-simplify | FileCheck %s
// RUN: tally-opt %s --tally-to-stablehlo | FileCheck %s --check-prefix=LOW
// RUN: tally-opt %s --tally-simplify='max-trips=3' --canonicalize | FileCheck %s --check-prefix=ALL
// RUN: not tally-opt %s --tally-simplify='max-trip=3' 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: pass "tally-simplify" has no option "max-trip"; did you mean max-trips?

// CHECK-LABEL: func.func @main
// CHECK: "tally.repeat"(%arg0) <{times = 3 : i64}>
// CHECK-COUNT-1: stablehlo.sine
// CHECK-NOT: times = 0

// LOW-LABEL: func.func @main
// LOW: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i64>
// LOW-NEXT: %[[LOOP:.*]]:2 = stablehlo.while(%[[I:.*]] = %[[ZERO]], %[[V:.*]] = %arg0)
// LOW-NEXT: cond {
// LOW: stablehlo.compare LT, %[[I]], %{{.*}}, SIGNED
// LOW: do {
// LOW-DAG: stablehlo.add %[[I]]
// LOW-DAG: stablehlo.add %[[V]], %[[V]]
// LOW: custom_call @host
// LOW: stablehlo.sine %[[LOOP]]#1
// LOW-NOT: tally.

// ALL-LABEL: func.func @main
// ALL-COUNT-3: custom_call @host
// ALL-NOT: custom_call @host
// ALL: stablehlo.sine
// ALL-NEXT: return
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tally.repeat"(%x) <{times = 3 : i64}> ({
  ^bb0(%v: tensor<f32>):
    %w = stablehlo.add %v, %v : tensor<f32>
    stablehlo.custom_call @host(%w) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "step"}} : (tensor<f32>) -> ()
    "tally.yield"(%w) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  %1 = "tally.repeat"(%0) <{times = 1 : i64}> ({
  ^bb0(%v: tensor<f32>):
    %w = stablehlo.sine %v : tensor<f32>
    "tally.yield"(%w) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  %2 = "tally.repeat"(%1) <{times = 0 : i64}> ({
  ^bb0(%v: tensor<f32>):
    %w = stablehlo.cosine %v : tensor<f32>
    "tally.yield"(%w) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
