module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<f32>) -> tensor<8x8xf32> {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%p: tensor<2x8xf32>, %k: tensor<f32>) {
%z = stablehlo.constant dense<0> : tensor<i32>
%w:2 = stablehlo.while(%i = %z, %v = %p) : tensor<i32>, tensor<2x8xf32>
 cond {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
 } do {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %j = stablehlo.add %i, %one : tensor<i32>
  stablehlo.custom_call @probe(%v) {api_version = 4 : i32, backend_config = {name = "before"}, has_side_effect = true} : (tensor<2x8xf32>) -> ()
  %r = "stablehlo.all_reduce"(%v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %s = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %u = stablehlo.custom_call @probe(%r) {api_version = 4 : i32, backend_config = {name = "after"}, has_side_effect = true} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  stablehlo.return %j, %u : tensor<i32>, tensor<2x8xf32>
 }
sdy.return %w#1 : tensor<2x8xf32>
    } : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
