module @t16 {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.create_token : !stablehlo.token
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:3 = stablehlo.while(%iterArg = %0, %iterArg_0 = %c, %iterArg_1 = %arg0) : !stablehlo.token, tensor<i32>, tensor<4xf32>
    cond {
      %c_2 = stablehlo.constant dense<2> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_0, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %3 = stablehlo.add %iterArg_0, %c_2 : tensor<i32>
      %4:2 = stablehlo.custom_call @probe_cb(%iterArg, %iterArg_1) {api_version = 4 : i32, backend_config = {id = 1 : i64}, has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>]} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
      stablehlo.return %4#0, %3, %4#1 : !stablehlo.token, tensor<i32>, tensor<4xf32>
    }
    %2 = stablehlo.custom_call @probe_cb(%1#0, %arg1) {api_version = 4 : i32, backend_config = {id = 2 : i64}, has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
    return %1#2 : tensor<4xf32>
  }
}
