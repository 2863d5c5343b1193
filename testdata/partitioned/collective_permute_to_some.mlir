module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<f32>) -> tensor<8x8xf32> {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%p: tensor<2x8xf32>, %k: tensor<f32>) {
stablehlo.custom_call @probe(%p) {api_version = 4 : i32, backend_config = {name = "before"}, has_side_effect = true} : (tensor<2x8xf32>) -> ()
%r = "stablehlo.collective_permute"(%p) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x8xf32>) -> tensor<2x8xf32>
stablehlo.custom_call @probe(%r) {api_version = 4 : i32, backend_config = {name = "after"}, has_side_effect = true} : (tensor<2x8xf32>) -> ()
sdy.return %r : tensor<2x8xf32>
    } : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
