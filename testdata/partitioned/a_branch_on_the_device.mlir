module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<f32>) -> tensor<8x8xf32> {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%p: tensor<2x8xf32>, %k: tensor<f32>) {
%i = stablehlo.partition_id : tensor<ui32>
%one = stablehlo.constant dense<1> : tensor<ui32>
%c = stablehlo.compare EQ, %i, %one : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
%r = "stablehlo.if"(%c) ({
  %b = stablehlo.custom_call @probe(%p) {api_version = 4 : i32, backend_config = {name = "one"}, has_side_effect = true} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  stablehlo.return %b : tensor<2x8xf32>
}, {
  stablehlo.custom_call @probe(%p) {api_version = 4 : i32, backend_config = {name = "others"}, has_side_effect = true} : (tensor<2x8xf32>) -> ()
  stablehlo.return %p : tensor<2x8xf32>
}) : (tensor<i1>) -> tensor<2x8xf32>
sdy.return %r : tensor<2x8xf32>
    } : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
