module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<f32>) -> tensor<8x8xf32> {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%p: tensor<2x8xf32>, %k: tensor<f32>) {
%i = stablehlo.partition_id : tensor<ui32>
%f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>
stablehlo.custom_call @probe(%f) {api_version = 4 : i32, backend_config = {name = "id"}, has_side_effect = true} : (tensor<f32>) -> ()
%b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
%r = stablehlo.multiply %p, %b : tensor<2x8xf32>
sdy.return %r : tensor<2x8xf32>
    } : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
