module @reactant_step attributes {mhlo.num_partitions = 1 : i64, mhlo.num_replicas = 1 : i64} {
  func.func @main(%arg0: tensor<3x2xf32>) -> tensor<3x2xf32> {
    %0 = stablehlo.custom_call @reactant_julia_callback(%arg0) {api_version = 4 : i32, backend_config = {callback_ptr = 140051394826240 : i64}, has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<3x2xf32>) -> tensor<3x2xf32>
    %1:2 = stablehlo.custom_call @reactant_julia_callback(%0) {api_version = 4 : i32, backend_config = {callback_ptr = 140051394827264 : i64}, has_side_effect = true} : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<i64>)
    return %1#0 : tensor<3x2xf32>
  }
}
