module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  sdy.mesh @one = <["x"=1]>
  sdy.mesh @dev = <["x"=2], device_ids=[1, 0]>
  sdy.mesh @empty = <[]>
  func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x", ?}]>}, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {?}]>}, %arg3: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x":(1)2}], replicated={"y"}>}, %arg4: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %arg5: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2, "y"}, {"x":(1)2}]>}, %arg6: tensor<8xf32> {sdy.sharding = #sdy.sharding<@dev, [{"x"}]>}, %arg7: tensor<8xf32> {sdy.sharding = #sdy.sharding<@one, [{"x"}]>}, %arg8: tensor<8xf32> {sdy.sharding = #sdy.sharding<@empty, [{}]>}, %arg9: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {?}]> : tensor<16x8xf32>
    %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<16x8xf32>
    %2 = call @f(%1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<16x8xf32>) -> tensor<16x8xf32>
    return %2 : tensor<16x8xf32>
  }
  func.func private @f(%arg0: tensor<16x8xf32> {mhlo.frontend_attributes = {z = "1"}, sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
    return %arg0 : tensor<16x8xf32>
  }
}
