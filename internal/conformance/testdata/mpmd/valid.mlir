// Modules of the dialect mpmd, each valid, that shardings_test.go changes at random.
sdy.mesh @m = <["a"=2, "b"=2]>
func.func @f(%x: !mpmd.mesh_tensor<"a", tensor<4x8xf32>, sharding=<@m, [{"a"}, {}]>>, %y: !mpmd.mesh_tensor<"b", tensor<4xf32>, memory_kind="device">) -> !mpmd.mesh_tensor<"b", tensor<4x8xf32>, sharding=<@m, [{?}, {"b"}], replicated={"a"}>, memory_kind="pinned_host"> attributes {topology = #mpmd.topology<<"a" : <["a"=2, "b"=2]>>, <"b" : <["a"=2, "b"=2]>>, <"c" : <["c"=4]>>>} {
  %0 = mpmd.transfer %x : (!mpmd.mesh_tensor<"a", tensor<4x8xf32>, sharding=<@m, [{"a"}, {}]>>) -> !mpmd.mesh_tensor<"b", tensor<4x8xf32>, sharding=<@m, [{"a", "b"}, {}]>>
  %1 = mpmd.transfer %0 : (!mpmd.mesh_tensor<"b", tensor<4x8xf32>, sharding=<@m, [{"a", "b"}, {}]>>) -> !mpmd.mesh_tensor<"b", tensor<4x8xf32>, sharding=<@m, [{?}, {"b"}], replicated={"a"}>, memory_kind="pinned_host">
  return %1 : !mpmd.mesh_tensor<"b", tensor<4x8xf32>, sharding=<@m, [{?}, {"b"}], replicated={"a"}>, memory_kind="pinned_host">
}
// -----
func.func @f(%x: !mpmd.mesh_tensor<"a", tensor<4xf32>> {mhlo.memory_kind = "device"}) attributes {topology = #mpmd.topology<<"a" : <["a"=2, "b"=2]>>, <"b" : <["a"=2, "b"=2]>>, <"c" : <["c"=4]>>>} {
  %0 = mpmd.fragment<mesh="a", origin=[]> (%x) {res_attrs = [{mhlo.memory_kind = "device"}]} (%p: tensor<4xf32>) {
    mpmd.return %p : tensor<4xf32>
  } : (!mpmd.mesh_tensor<"a", tensor<4xf32>>) -> !mpmd.mesh_tensor<"a", tensor<4xf32>>
  %1 = mpmd.transfer {mhlo.memory_kind = "device"} %0 : (!mpmd.mesh_tensor<"a", tensor<4xf32>>) -> !mpmd.mesh_tensor<"c", tensor<4xf32>>
  %2 = mpmd.transfer %x : (!mpmd.mesh_tensor<"a", tensor<4xf32>>) -> !mpmd.mesh_tensor<"c", tensor<4xf32>>
  return
}
// -----
sdy.mesh @m = <["a"=2, "b"=2]>
func.func @f(%x: !mpmd.mesh_tensor<"a", tensor<4x8xf32>, sharding=<@m, [{"a"}, {}]>>, %y: !mpmd.mesh_tensor<"a", tensor<8x4xf32>>, %t: !stablehlo.token) attributes {topology = #mpmd.topology<<"a" : <["a"=2, "b"=2]>>, <"b" : <["a"=2, "b"=2]>>, <"c" : <["c"=4]>>>} {
  %0:2 = mpmd.fragment<mesh="a", origin=["f"(1), "g"], stage=2, in_shardings=[<@m, [{"a"}, {}]>, <@m, [{}, {}]>], out_shardings=[<@m, [{}, {"b"}]>, <@m, [{?}, {?}]>]> (%x, %y) {arg_attrs = [{mhlo.memory_kind = "device"}, {}], res_attrs = [{}, {jax.result_info = "loss"}]} (%p: tensor<4x8xf32>, %q: tensor<8x4xf32>) {
    %1 = stablehlo.abs %p : tensor<4x8xf32>
    mpmd.return %1, %q : tensor<4x8xf32>, tensor<8x4xf32>
  } : (!mpmd.mesh_tensor<"a", tensor<4x8xf32>, sharding=<@m, [{"a"}, {}]>>, !mpmd.mesh_tensor<"a", tensor<8x4xf32>>) -> (!mpmd.mesh_tensor<"a", tensor<4x8xf32>>, !mpmd.mesh_tensor<"a", tensor<8x4xf32>, sharding=<@m, [{"b"}, {}]>>)
  %2 = mpmd.fragment<mesh="c", origin=[]> (%t) (%p: !stablehlo.token) {
    mpmd.return %p : !stablehlo.token
  } : (!stablehlo.token) -> !stablehlo.token
  mpmd.fragment<mesh="b", origin=[], out_shardings=[]> () () {
    mpmd.return
  } : () -> ()
  return
}
// -----
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {topology = #mpmd.topology<<"a" : <["a"=2, "b"=2]>>, <"b" : <["a"=2, "b"=2]>>, <"c" : <["c"=4]>>>} {
  %0 = mpmd.named_tensor %x name="w" : tensor<4x8xf32>
  %1:2 = mpmd.named_computation<"f"(2)> (%0, %x) {mpmd.use_set = #mpmd.meshes_with_origins<"a"["f", "g"], "b">} (%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) {
    %2 = stablehlo.add %p, %q : tensor<4x8xf32>
    mpmd.return %2, %p : tensor<4x8xf32>, tensor<4x8xf32>
  } : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %3 = mpmd.reduce<max> %1#0, %1#1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = mpmd.reduce<none> %3 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = mpmd.broadcast %4 : tensor<4x8xf32>
  %6 = mpmd.assign {origin = "f"} %5 : (tensor<4x8xf32>) -> !mpmd.mesh_tensor<"a", tensor<4x8xf32>>
  %7 = mpmd.assign %5 : (tensor<4x8xf32>) -> !mpmd.mesh_tensor<"c", tensor<4x8xf32>, sharding=<mesh<["a"=2]>, [{}, {?}]>>
  %8 = mpmd.unassign {origin = "f"} %6 : (!mpmd.mesh_tensor<"a", tensor<4x8xf32>>) -> tensor<4x8xf32>
  return %8 : tensor<4x8xf32>
}
// -----
func.func @f(%x: tensor<4xf32>, %y: !mpmd.mesh_tensor<"a", tensor<4xf32>>) -> !mpmd.mesh_tensor<"a", tensor<4xf32>> attributes {topology = #mpmd.topology<<"a" : <["a"=2, "b"=2]>>, <"b" : <["a"=2, "b"=2]>>, <"c" : <["c"=4]>>>} {
  %0 = mpmd.for (%x) {iterations = 8 : ui32, unroll_factor = 4 : ui32} (%p: tensor<4xf32>, %i: tensor<ui32>) {
    %1 = stablehlo.abs %p : tensor<4xf32>
    mpmd.return %1 : tensor<4xf32>
  } : tensor<4xf32>
  %2:2 = mpmd.for (%y, %y) {iterations = 2 : ui32} (%p: !mpmd.mesh_tensor<"a", tensor<4xf32>>, %q: !mpmd.mesh_tensor<"a", tensor<4xf32>>, %i: !mpmd.mesh_tensor<"a", tensor<ui32>>) {
    %3 = mpmd.fragment<mesh="a", origin=["f"]> (%p) (%r: tensor<4xf32>) {
      mpmd.return %r : tensor<4xf32>
    } : (!mpmd.mesh_tensor<"a", tensor<4xf32>>) -> !mpmd.mesh_tensor<"a", tensor<4xf32>>
    mpmd.return %q, %3 : !mpmd.mesh_tensor<"a", tensor<4xf32>>, !mpmd.mesh_tensor<"a", tensor<4xf32>>
  } : !mpmd.mesh_tensor<"a", tensor<4xf32>>, !mpmd.mesh_tensor<"a", tensor<4xf32>>
  return %2#0 : !mpmd.mesh_tensor<"a", tensor<4xf32>>
}
// -----
func.func @f(%x: !mpmd.mesh_tensor<"a", tensor<4xf32>>) -> !mpmd.mesh_tensor<"a", tensor<4xf32>> attributes {topology = #mpmd.topology<<"a" : <["a"=2, "b"=2]>>, <"b" : <["a"=2, "b"=2]>>, <"c" : <["c"=4]>>>} {
  %0 = mpmd.fragment_call<mesh="a", origin=["f"]> @g(%x) {remat} : (!mpmd.mesh_tensor<"a", tensor<4xf32>>) -> !mpmd.mesh_tensor<"a", tensor<4xf32>>
  %1 = mpmd.call @h(%0) {call_counter = 3 : ui32} : (!mpmd.mesh_tensor<"a", tensor<4xf32>>) -> !mpmd.mesh_tensor<"a", tensor<4xf32>>
  return %1 : !mpmd.mesh_tensor<"a", tensor<4xf32>>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mesh_shape = #sdy.mesh<["a"=2, "b"=2]>} {
  return %x : tensor<4xf32>
}
func.func private @h(%x: !mpmd.mesh_tensor<"a", tensor<4xf32>>) -> !mpmd.mesh_tensor<"a", tensor<4xf32>> attributes {topology = #mpmd.topology<<"a" : <["a"=2, "b"=2]>>, <"b" : <["a"=2, "b"=2]>>, <"c" : <["c"=4]>>>} {
  return %x : !mpmd.mesh_tensor<"a", tensor<4xf32>>
}
