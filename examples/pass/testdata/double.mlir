// RUN: tally-opt %s --double | FileCheck %s --check-prefixes=CHECK,FLOAT
// RUN: tally-opt %s --double=integers | FileCheck %s --check-prefixes=CHECK,BOTH
// RUN: tally-opt %s --double --stats 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: tally-opt %s --double=disable-patterns=sum-to-double --stats 2>&1 | FileCheck %s --check-prefix=OFF

// RULE: 1 double: rule sum-to-double
// OFF-NOT: rule sum-to-double
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[Y:[a-z0-9]+]]: tensor<4xi32>
// CHECK: %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT: stablehlo.multiply %[[X]], %[[TWO]] : tensor<4xf32>
// FLOAT-NEXT: stablehlo.add %[[Y]], %[[Y]] : tensor<4xi32>
// BOTH: stablehlo.multiply %[[Y]], %{{.*}} : tensor<4xi32>
func.func @main(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.add %y, %y : tensor<4xi32>
  return %0, %1 : tensor<4xf32>, tensor<4xi32>
}
