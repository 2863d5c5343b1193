// Four partitions by Shardy: a hook on each shard before a collective, and one on the sum after it.
module @sharded_shardy attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<f32>) -> (tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<2xf32>) {
    %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>] manual_axes={"x"} (%arg2: tensor<2x2xf32>, %arg3: tensor<f32>) {
      stablehlo.custom_call @probe(%arg2) {api_version = 4 : i32, backend_config = {name = "shard"}, has_side_effect = true} : (tensor<2x2xf32>) -> ()
      %1 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
      %2 = stablehlo.multiply %arg2, %1 : tensor<2x2xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
      %4 = "stablehlo.all_reduce"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %5 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %5 : tensor<f32>
      }) : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.custom_call @probe(%4) {api_version = 4 : i32, backend_config = {name = "sum"}, has_side_effect = true} : (tensor<2xf32>) -> ()
      sdy.return %2, %4 : tensor<2x2xf32>, tensor<2xf32>
    } : (tensor<8x2xf32>, tensor<f32>) -> (tensor<8x2xf32>, tensor<2xf32>)
    return %0#0, %0#1 : tensor<8x2xf32>, tensor<2xf32>
  }
}
