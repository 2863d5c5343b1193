module @t4 {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.create_token : !stablehlo.token
    %1 = stablehlo.custom_call @probe_cb(%0, %arg0) {api_version = 4 : i32, backend_config = {id = 1 : i64}, has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
    %2 = stablehlo.exponential %arg0 : tensor<4xf32>
    %3:2 = stablehlo.custom_call @probe_cb(%1, %2) {api_version = 4 : i32, backend_config = {id = 2 : i64}, has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>]} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
    %4 = stablehlo.after_all %1, %3#0 : !stablehlo.token
    %5 = stablehlo.custom_call @probe_cb(%4, %arg0) {api_version = 4 : i32, backend_config = {id = 3 : i64}, has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
    return %3#1 : tensor<4xf32>
  }
}
