module @jit_po attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]> {stablehlo.mesh = {axes = [], device_ids = dense<0> : tensor<1xi64>}}
  func.func public @main(%arg0: !stablehlo.token {jax.token = true}, %arg1: tensor<4xf32>) -> (!stablehlo.token {jax.token = true}, tensor<4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.sine %arg1 : tensor<4xf32>
    %1 = stablehlo.optimization_barrier %0 : tensor<4xf32>
    %2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0, %1) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}, operand_layouts = [dense<> : tensor<0xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (!stablehlo.token, tensor<4xf32>) -> !stablehlo.token
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.optimization_barrier %3 : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %6 = stablehlo.add %4, %5 : tensor<4xf32>
    %7:2 = stablehlo.optimization_barrier %6, %0 : tensor<4xf32>, tensor<4xf32>
    %8 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%7#1) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 1 : ui64}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>], sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<4xf32>) -> tensor<4xf32>
    %9 = stablehlo.optimization_barrier %8 : tensor<4xf32>
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%9) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 2 : ui64}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [], sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<4xf32>) -> ()
    %10:2 = stablehlo.optimization_barrier %0, %8 : tensor<4xf32>, tensor<4xf32>
    %11 = stablehlo.add %10#0, %10#1 : tensor<4xf32>
    %12:2 = stablehlo.optimization_barrier %11, %7#0 : tensor<4xf32>, tensor<4xf32>
    %13 = stablehlo.add %12#0, %12#1 : tensor<4xf32>
    return %2, %13 : !stablehlo.token, tensor<4xf32>
  }
}
