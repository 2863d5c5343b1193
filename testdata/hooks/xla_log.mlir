module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<3xf32>
    stablehlo.custom_call @xla.debug.Log(%0, %arg0) {api_version = 2 : i32, backend_config = "{\22debug_attributes_config\22: {\22callback_id\22: \227\22, \22log_mode\22: \22GUARANTEED\22}}", has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    %1 = stablehlo.add %0, %0 : tensor<3xf32>
    stablehlo.custom_call @xla.debug.Log(%1) {api_version = 2 : i32, backend_config = "{\22debug_attributes_config\22: {\22callback_id\22: 8, \22log_mode\22: \22NO_FUSION\22, \22op_id\22: 1}}", has_side_effect = true} : (tensor<3xf32>) -> ()
    return %1 : tensor<3xf32>
  }
}
