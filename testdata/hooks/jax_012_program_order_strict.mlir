module @jit_po2 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]> {stablehlo.mesh = {axes = [], device_ids = dense<0> : tensor<1xi64>}}
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.optimization_barrier %arg0 : tensor<4xf32>
    %1 = stablehlo.iota dim = 0 : tensor<4xf32>
    %2 = stablehlo.optimization_barrier %1 : tensor<4xf32>
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%2) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [], sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<4xf32>) -> ()
    %3:2 = stablehlo.optimization_barrier %0, %1 : tensor<4xf32>, tensor<4xf32>
    %4 = stablehlo.add %3#0, %3#1 : tensor<4xf32>
    %5 = stablehlo.optimization_barrier %4 : tensor<4xf32>
    %6 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%5) {backend_config = "", mhlo.backend_config = {index = 1 : ui64}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>], sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<4xf32>) -> tensor<4xf32>
    %7 = stablehlo.optimization_barrier %6 : tensor<4xf32>
    return %7 : tensor<4xf32>
  }
}
