module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<f32>) -> tensor<8x8xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%p: tensor<4x8xf32>) {
stablehlo.custom_call @probe(%p) {api_version = 4 : i32, backend_config = {name = "tap"}, has_side_effect = true} : (tensor<4x8xf32>) -> ()
%1 = stablehlo.custom_call @probe(%p) {api_version = 4 : i32, backend_config = {name = "ask"}, has_side_effect = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
%2 = stablehlo.custom_call @probe() {api_version = 4 : i32, backend_config = {name = "feed"}, has_side_effect = true} : () -> tensor<4x8xf32>
      %3 = stablehlo.add %1, %2 : tensor<4x8xf32>
      sdy.return %3 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
