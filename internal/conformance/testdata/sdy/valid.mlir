// Modules of Shardy's dialect, each valid, that shardings_test.go changes at random.
sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>
sdy.mesh @n = <["a"=2, "b"=2, "c"=4], device_ids=[1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]>
sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @none = <[]>
func.func @f(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {"c":(1)2, ?}p1], replicated={"b"}>}, %t: !stablehlo.token {sdy.sharding = #sdy.sharding<@one, []>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}, {?}]>}) {
  return %x : tensor<8x8xf32>
}
// -----
sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>
func.func @f(%x: tensor<8x8xf32>, %y: tensor<4xf32>) {
  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a", "b"}, {"c":(1)2, ?}]>]>} : tensor<8x8xf32>
  %1:2 = "stablehlo.optimization_barrier"(%0, %y) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"a"}, {}], unreduced={"b", "c":(2)2}>, <@m, [{"c"}]>]>} : (tensor<8x8xf32>, tensor<4xf32>) -> (tensor<8x8xf32>, tensor<4xf32>)
  "stablehlo.custom_call"(%x) <{call_target_name = "g", has_side_effect = true}> {sdy.sharding = #sdy.sharding_per_value<[<@m, []>]>} : (tensor<8x8xf32>) -> ()
  return
}
// -----
sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>
func.func @f(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a", "b"}, {"c"}]>}) {
  %0 = sdy.all_gather [{"b"}, {"c":(2)2}] %x out_sharding=<@m, [{"a"}, {"c":(1)2}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{"b"}, {"c":(2)2}] %0 out_sharding=<@m, [{"a", "b"}, {"c"}]> : tensor<8x8xf32>
  return
}
// -----
sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>
sdy.mesh @n = <["a"=2, "b"=2, "c"=4], device_ids=[1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]>
func.func @f(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a", "b"}, {"c"}, {}]>}) {
  %0 = sdy.all_to_all [{"b"}: 0->2] %x out_sharding=<@m, [{"a"}, {"c"}, {"b"}]> : tensor<8x8x8xf32>
  %1 = sdy.collective_permute %0 out_sharding=<@m, [{"b"}, {"c"}, {"a"}]> : tensor<8x8x8xf32>
  %2 = sdy.collective_permute %1 out_sharding=<@n, [{"b"}, {"c"}, {"a"}]> : tensor<8x8x8xf32>
  return
}
// -----
sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>
func.func @f(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}], unreduced={"b", "c"}>}) {
  %0 = sdy.all_reduce {"b"} %x out_sharding=<@m, [{"a"}, {}], unreduced={"c"}> : tensor<8x8xf32>
  %1 = sdy.reduce_scatter [{}, {"c"}] %0 out_sharding=<@m, [{"a"}, {"c"}]> : tensor<8x8xf32>
  %2 = sdy.sharded_to_unreduced [{"a"}, {"c"}] %1 out_sharding=<@m, [{}, {}], unreduced={"a", "c"}> : tensor<8x8xf32>
  %3 = sdy.replicated_to_unreduced {"b"} %2 out_sharding=<@m, [{}, {}], unreduced={"a", "b", "c"}> : tensor<8x8xf32>
  return
}
// -----
sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>
func.func @f(%x: tensor<8x8xf32>, %y: tensor<4xf32>, %t: !stablehlo.token) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %x <@m, [{"a"}, {?}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@m, [{"b", "c":(1)2}, {}], replicated={"a"}> : tensor<8x8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=BACKWARD : tensor<8x8xf32>
  sdy.sharding_group %2 group_id=3 : tensor<8x8xf32>
  %3 = stablehlo.abs %2 : tensor<8x8xf32>
  %4 = sdy.data_flow_edge %3 sharding=<@m, [{"a"}, {}]> : tensor<8x8xf32>
  %5 = sdy.constant dense<1.0> : tensor<8x8xf32>
  %6 = sdy.reshard %5 <@m, [{}, {"c":(2)2}]> : tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}
// -----
sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>
func.func @f(%x: tensor<8x8xf32>, %y: tensor<16xf32>) -> tensor<16x8xf32> {
  %0 = sdy.manual_computation(%x, %y) in_shardings=[<@m, [{"a", "b"}, {?}]>, <@m, [{}], replicated={"a"}>] out_shardings=[<@m, [{"a"}, {"b"}]>] manual_axes={"a"} (%p: tensor<4x8xf32>, %q: tensor<16xf32>) {
    %1 = stablehlo.concatenate %p, %p, dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %2 = sdy.manual_computation(%1) in_shardings=[<@m, [{"b"}, {}]>] out_shardings=[<@m, [{}, {"b"}]>] manual_axes={"b"} (%r: tensor<4x8xf32>) {
      %3 = stablehlo.reshape %r : (tensor<4x8xf32>) -> tensor<8x4xf32>
      sdy.return %3 : tensor<8x4xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %2 : tensor<8x8xf32>
  } : (tensor<8x8xf32>, tensor<16xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// -----
sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>
func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.named_computation<"name">(%x) in_shardings=[<@m, [{"a"}, {}]>] out_shardings=[<@m, [{}, {"b"}]>] (%p: tensor<8x8xf32>) {
    %1 = stablehlo.abs %p : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.all_gather [{}, {"b"}] %0 out_sharding=<@m, [{}, {}]> : tensor<8x8xf32>
  %3 = sdy.manual_computation() in_shardings=[] out_shardings=[<@m, [{"a"}, {}]>] manual_axes={"a"} () {
    %4 = stablehlo.constant dense<1.0> : tensor<4x8xf32>
    sdy.return %4 : tensor<4x8xf32>
  } : () -> tensor<8x8xf32>
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  return %3 : tensor<8x8xf32>
}
// -----
func.func @f(%x: tensor<2x4xf32>, %y: tensor<4x8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.reshape %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([ij]) {i=2, j=4}>} : (tensor<2x4xf32>) -> tensor<8xf32>
  %1 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=2, j=8, k=4} reduction={k} need_replication={i} blocked_propagation={i, j}, custom>} : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %2 = stablehlo.add %0, %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i], [i])->([i]) {i=8} permutation={i}>} : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

sdy.mesh @m = <["a"=2, "b"=2]>
func.func @manual_axes(%x: tensor<8xf32>) -> tensor<8xf32> {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"a", "b"} () {
    %c = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.custom_call @tap(%c) {has_side_effect = true} : (tensor<i32>) -> ()
    sdy.return
  } : () -> ()
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"a"}]>] out_shardings=[<@m, [{"a"}]>] manual_axes={"b", "a"} (%p: tensor<4xf32>) {
    sdy.return %p : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
