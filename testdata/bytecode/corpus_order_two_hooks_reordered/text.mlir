module @m {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<4xf32>) -> tensor<4x65536xf32>
    %1 = stablehlo.reshape %0 : (tensor<4x65536xf32>) -> tensor<512x512xf32>
    %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %3 = stablehlo.dot_general %2, %2, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %4 = stablehlo.dot_general %3, %3, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    stablehlo.custom_call @hook(%4) {api_version = 4 : i32, backend_config = {hook_id = 1 : i64}, has_side_effect = true} : (tensor<512x512xf32>) -> ()
    stablehlo.custom_call @hook(%arg0) {api_version = 4 : i32, backend_config = {hook_id = 2 : i64}, has_side_effect = true} : (tensor<4xf32>) -> ()
    return %arg0 : tensor<4xf32>
  }
}
