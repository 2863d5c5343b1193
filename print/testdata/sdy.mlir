module {
  sdy.mesh @mesh = <["i"=2, "j"=4], device_ids=[0,2,1,3,4,5,6,7]> {stablehlo.mesh = {axes = [{name = "i", size = 2 : i64}]}}
  sdy.mesh @empty_mesh = <[]>
  sdy.mesh @max = <[], device_ids=[0]>
  func.func public @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"i", ?}p1, {"j":(1)2}], replicated={"j":(2)2}>}) -> (tensor<4x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"i"}, {}]>] out_shardings=[<@mesh, [{"i"}, {}]>] manual_axes={"i"} (%arg1: tensor<2x8xf32>) {
      %2 = stablehlo.add %arg1, %arg1 : tensor<2x8xf32>
      sdy.return %2 : tensor<2x8xf32>
    } {foo = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"i"}, {"j", ?}]> : tensor<4x8xf32>
    %3:2 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{?}, {}]>, <mesh<["x"=2]>, []>] manual_axes={} () {
      %c = stablehlo.constant dense<1.0> : tensor<4x8xf32>
      %d = stablehlo.constant dense<1.0> : tensor<f32>
      sdy.return %c, %d : tensor<4x8xf32>, tensor<f32>
    } : () -> (tensor<4x8xf32>, tensor<f32>)
    sdy.sharding_group %1 group_id=3 : tensor<4x8xf32>
    %4 = sdy.reshard %1 <@mesh, [{}, {}]> : tensor<4x8xf32>
    %5 = sdy.propagation_barrier %4 allowed_direction=BACKWARD : tensor<4x8xf32>
    %7 = sdy.named_computation<"foo">(%5) in_shardings=[<@mesh, [{}, {}]>] (%a: tensor<4x8xf32>) { sdy.return %a : tensor<4x8xf32> } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}
