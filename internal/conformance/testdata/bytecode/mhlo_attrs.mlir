// Attributes of MHLO that no op holds.
module attributes {
  mhlo.array = #mhlo.original_array<"t", [1]>, mhlo.element = #mhlo.original_value_element<[0, 1], <"x", []>>,
  mhlo.axes = #mhlo.replica_group_mesh_axes<mesh = @m, axes = [#mhlo.axis_ref<name = "x">, #mhlo.axis_ref<name = "y", sub_axis_info = (2)4>]>,
  mhlo.call = #mhlo.original_value<true, []>, mhlo.value = #mhlo.original_value<false, [<[0], <"t", []>>, <[1], <"t", [2, 3]>>]>
} {
}
