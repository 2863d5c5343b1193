module @jit_bessel_sum attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<500000xf32>) -> (tensor<500000xf32> {jax.result_info = "result"}) {
    %0 = chlo.erf %arg0 : tensor<500000xf32> -> tensor<500000xf32>
    %1 = stablehlo.multiply %arg0, %arg0 : tensor<500000xf32>
    %2 = stablehlo.log_plus_one %1 : tensor<500000xf32>
    %3 = stablehlo.abs %arg0 : tensor<500000xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<500000xf32>
    %5 = stablehlo.add %3, %4 : tensor<500000xf32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<500000xf32>
    %7 = stablehlo.power %5, %6 : tensor<500000xf32>
    %8 = stablehlo.multiply %2, %7 : tensor<500000xf32>
    %9 = stablehlo.add %0, %8 : tensor<500000xf32>
    return %9 : tensor<500000xf32>
  }
}
