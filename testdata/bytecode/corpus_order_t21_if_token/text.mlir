module @t21 {
  func.func public @main(%arg0: tensor<i1>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.create_token : !stablehlo.token
    %1:2 = "stablehlo.if"(%arg0) ({
      %4:2 = stablehlo.custom_call @probe_cb(%0, %arg1) {api_version = 4 : i32, backend_config = {id = 1 : i64}, has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>]} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
      stablehlo.return %4#0, %4#1 : !stablehlo.token, tensor<4xf32>
    }, {
      stablehlo.return %0, %arg1 : !stablehlo.token, tensor<4xf32>
    }) : (tensor<i1>) -> (!stablehlo.token, tensor<4xf32>)
    %2:2 = stablehlo.custom_call @probe_cb(%1#0, %arg1) {api_version = 4 : i32, backend_config = {id = 2 : i64}, has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
    %3:2 = stablehlo.optimization_barrier %2#0, %1#1 : !stablehlo.token, tensor<4xf32>
    return %3#1 : tensor<4xf32>
  }
}
