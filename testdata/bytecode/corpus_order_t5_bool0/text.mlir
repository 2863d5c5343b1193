module @t5 {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %c = stablehlo.constant dense<false> : tensor<i1>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<0xi1>
    %1 = stablehlo.custom_call @probe_cb(%0, %arg0) {api_version = 4 : i32, backend_config = {id = 1 : i64}, has_side_effect = true} : (tensor<0xi1>, tensor<4xf32>) -> tensor<0xi1>
    %2:2 = stablehlo.custom_call @probe_cb(%1, %arg0) {api_version = 4 : i32, backend_config = {id = 2 : i64}, has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>]} : (tensor<0xi1>, tensor<4xf32>) -> (tensor<0xi1>, tensor<4xf32>)
    return %2#1 : tensor<4xf32>
  }
}
