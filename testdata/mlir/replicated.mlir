// Two replicas with a collective between two hooks.
module @replicated attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    stablehlo.custom_call @probe(%arg0) {api_version = 4 : i32, backend_config = {name = "before"}, has_side_effect = true} : (tensor<2xf32>) -> ()
    %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.custom_call @probe(%0) {api_version = 4 : i32, backend_config = {name = "after"}, has_side_effect = true} : (tensor<2xf32>) -> ()
    return %0 : tensor<2xf32>
  }
}
