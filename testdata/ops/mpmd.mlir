module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @mpmd(%x: tensor<4x8xf32>, %y: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>> attributes {topology = #mpmd.topology<<"m1" : <["x"=2, "y"=2]>>, <"m2" : <["x"=2, "y"=2]>>>} {
    %0 = mpmd.named_tensor %x name="weights" : tensor<4x8xf32>
    %1 = mpmd.named_computation<"layer"(1)> (%0) (%a: tensor<4x8xf32>) {
      %20 = stablehlo.abs %a : tensor<4x8xf32>
      mpmd.return %20 : tensor<4x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = mpmd.broadcast %1 : tensor<4x8xf32>
    %3 = mpmd.reduce<add> %1, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = mpmd.assign {origin = "layer"} %3 : (tensor<4x8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
    %5 = mpmd.unassign %4 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> tensor<4x8xf32>
    %6 = mpmd.fragment<mesh="m1", origin=["layer"(1)], stage=3, in_shardings=[<@mesh, [{"x"}, {}]>], out_shardings=[<@mesh, [{}, {"y"}]>]> (%y) (%a: tensor<4x8xf32>) {
      %20 = stablehlo.abs %a : tensor<4x8xf32>
      mpmd.return %20 : tensor<4x8xf32>
    } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {"y"}]>>
    %7 = mpmd.transfer %6 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{}, {"y"}]>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>, memory_kind="pinned_host">
    %8 = mpmd.transfer %7 : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>, memory_kind="pinned_host">) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
    %9 = mpmd.fragment_call<mesh="m2", origin=["layer"]> @fragment(%8) : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
    %10 = mpmd.for (%9) {iterations = 4 : ui32, unroll_factor = 2 : ui32} (%a: !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>, %i: tensor<ui32>) {
      %20 = mpmd.call @step(%a) {call_counter = 0 : ui32} : (!mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
      mpmd.return %20 : !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
    } : !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
    return %10 : !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
  }
  func.func private @step(%x: !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>> attributes {topology = #mpmd.topology<<"m1" : <["x"=2, "y"=2]>>, <"m2" : <["x"=2, "y"=2]>>>} {
    return %x : !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
  }
  func.func private @fragment(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {mesh_shape = #sdy.mesh<["x"=2, "y"=2]>} {
    return %x : tensor<4x8xf32>
  }
}
