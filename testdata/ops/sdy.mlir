module {
  sdy.mesh @mesh = <["a"=2, "b"=2, "c"=4]>
  func.func @sdy(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x8xf32> {
    %0 = sdy.all_slice [{"a"}, {"b", "c":(1)2}] %x out_sharding=<@mesh, [{"a"}, {"b", "c":(1)2}]> : tensor<8x8xf32>
    %1 = sdy.all_gather [{"a"}, {}] %0 out_sharding=<@mesh, [{}, {"b", "c":(1)2}]> : tensor<8x8xf32>
    %2 = sdy.all_to_all [{"b", "c":(1)2}: 1->0] %1 out_sharding=<@mesh, [{"b", "c":(1)2}, {}]> : tensor<8x8xf32>
    %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"c":(1)2, "b"}, {}]> : tensor<8x8xf32>
    %4 = sdy.all_reduce {"a"} %3 out_sharding=<@mesh, [{"c":(1)2, "b"}, {}]> : tensor<8x8xf32>
    %5 = sdy.constant dense<1.000000e+00> : tensor<8x8xf32>
    %30 = stablehlo.abs %x : tensor<8x8xf32>
    %6 = sdy.data_flow_edge %30 sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
    %7 = call @callee(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %8 = sdy.func_data_flow_edge %7 : tensor<8x8xf32>
    %9 = sdy.reduce_scatter [{"a"}, {}] %x out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
    %10 = sdy.replicated_to_unreduced {"a"} %x out_sharding=<@mesh, [{}, {}], unreduced={"a"}> : tensor<8x8xf32>
    %11 = sdy.sharded_to_unreduced [{"a"}, {}] %y out_sharding=<@mesh, [{}, {}], unreduced={"a"}> : tensor<8x8xf32>
    %12 = sdy.sharding_constraint %x <@mesh, [{"a"}, {}]> : tensor<8x8xf32>
    %13 = sdy.reshard %x <@mesh, [{"b"}, {}]> : tensor<8x8xf32>
    sdy.sharding_group %x group_id=3 : tensor<8x8xf32>
    %14 = sdy.propagation_barrier %x allowed_direction=BACKWARD : tensor<8x8xf32>
    %15 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%arg: tensor<4x8xf32>) {
      %20 = stablehlo.negate %arg : tensor<4x8xf32>
      sdy.return %20 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %16 = sdy.named_computation<"name">(%x) (%arg: tensor<8x8xf32>) {
      sdy.return %arg : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %15 : tensor<8x8xf32>
  }
  func.func private @callee(tensor<8x8xf32>) -> tensor<8x8xf32>
}
