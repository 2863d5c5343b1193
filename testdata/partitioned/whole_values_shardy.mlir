module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<f32>) -> tensor<8x8xf32> {
    stablehlo.custom_call @probe(%arg0) {api_version = 4 : i32, backend_config = {name = "argument"}, has_side_effect = true} : (tensor<8x8xf32>) -> ()
    %0 = stablehlo.add %arg0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
    stablehlo.custom_call @probe(%0) {api_version = 4 : i32, backend_config = {name = "twice"}, has_side_effect = true} : (tensor<8x8xf32>) -> ()
stablehlo.custom_call @probe(%arg1) {api_version = 4 : i32, backend_config = {name = "scalar"}, has_side_effect = true} : (tensor<f32>) -> ()
%1 = stablehlo.custom_call @probe(%0) {api_version = 4 : i32, backend_config = {name = "ask"}, has_side_effect = true} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.dot %1, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.custom_call @probe(%2) {api_version = 4 : i32, backend_config = {name = "product"}, has_side_effect = true} : (tensor<8x8xf32>) -> ()
    %3 = stablehlo.custom_call @probe(%2) {api_version = 4 : i32, backend_config = {name = "change"}, has_side_effect = true,
      output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %4 = stablehlo.custom_call @probe() {api_version = 4 : i32, backend_config = {name = "feed"}, has_side_effect = true} : () -> tensor<8x8xf32>
    %5 = stablehlo.add %3, %4 : tensor<8x8xf32>
    return %5 : tensor<8x8xf32>
  }
}
