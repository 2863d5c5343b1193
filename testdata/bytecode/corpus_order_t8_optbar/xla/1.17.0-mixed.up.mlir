module @t8 {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.custom_call @probe_cb(%arg0) {api_version = 4 : i32, backend_config = {id = 1 : i64}, has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
    %1:2 = stablehlo.optimization_barrier %0, %arg1 : tensor<4xf32>, tensor<4xf32>
    %2 = stablehlo.custom_call @probe_cb(%1#1) {api_version = 4 : i32, backend_config = {id = 2 : i64}, has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %2 : tensor<4xf32>, tensor<4xf32>
  }
}
