module @jit_ode_adaptive attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<2xf32> {jax.result_info = "result[1]"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %0:3 = stablehlo.while(%iterArg = %cst, %iterArg_1 = %arg0, %iterArg_2 = %cst_0) : tensor<f32>, tensor<2xf32>, tensor<f32>
    cond {
      %cst_3 = stablehlo.constant dense<2.000000e+01> : tensor<f32>
      %1 = stablehlo.compare LT, %iterArg, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.slice %iterArg_1 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
      %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
      %3 = stablehlo.slice %iterArg_1 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
      %4 = stablehlo.reshape %3 : (tensor<1xf32>) -> tensor<f32>
      %5 = stablehlo.sine %4 : tensor<f32>
      %6 = stablehlo.negate %5 : tensor<f32>
      %7 = stablehlo.slice %iterArg_1 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
      %8 = stablehlo.reshape %7 : (tensor<1xf32>) -> tensor<f32>
      %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %9 = stablehlo.multiply %cst_3, %8 : tensor<f32>
      %10 = stablehlo.subtract %6, %9 : tensor<f32>
      %11 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %12 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %13 = stablehlo.concatenate %11, %12, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
      %14 = stablehlo.broadcast_in_dim %iterArg_2, dims = [] : (tensor<f32>) -> tensor<2xf32>
      %15 = stablehlo.multiply %14, %13 : tensor<2xf32>
      %16 = stablehlo.add %iterArg_1, %15 : tensor<2xf32>
      %17 = stablehlo.slice %16 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
      %18 = stablehlo.reshape %17 : (tensor<1xf32>) -> tensor<f32>
      %19 = stablehlo.slice %16 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
      %20 = stablehlo.reshape %19 : (tensor<1xf32>) -> tensor<f32>
      %21 = stablehlo.sine %20 : tensor<f32>
      %22 = stablehlo.negate %21 : tensor<f32>
      %23 = stablehlo.slice %16 [1:2] : (tensor<2xf32>) -> tensor<1xf32>
      %24 = stablehlo.reshape %23 : (tensor<1xf32>) -> tensor<f32>
      %cst_4 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %25 = stablehlo.multiply %cst_4, %24 : tensor<f32>
      %26 = stablehlo.subtract %22, %25 : tensor<f32>
      %27 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %28 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<1xf32>
      %29 = stablehlo.concatenate %27, %28, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
      %30 = stablehlo.subtract %13, %29 : tensor<2xf32>
      %31 = stablehlo.abs %30 : tensor<2xf32>
      %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %32 = stablehlo.reduce(%31 init: %cst_5) applies stablehlo.maximum across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
      %33 = stablehlo.multiply %32, %iterArg_2 : tensor<f32>
      %34 = stablehlo.add %iterArg, %iterArg_2 : tensor<f32>
      %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %35 = stablehlo.divide %iterArg_2, %cst_6 : tensor<f32>
      %36 = stablehlo.add %13, %29 : tensor<2xf32>
      %37 = stablehlo.broadcast_in_dim %35, dims = [] : (tensor<f32>) -> tensor<2xf32>
      %38 = stablehlo.multiply %37, %36 : tensor<2xf32>
      %39 = stablehlo.add %iterArg_1, %38 : tensor<2xf32>
      %cst_7 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %40 = stablehlo.multiply %iterArg_2, %cst_7 : tensor<f32>
      %cst_8 = stablehlo.constant dense<9.99999971E-10> : tensor<f32>
      %41 = stablehlo.add %33, %cst_8 : tensor<f32>
      %cst_9 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %42 = stablehlo.divide %cst_9, %41 : tensor<f32>
      %43 = stablehlo.sqrt %42 : tensor<f32>
      %44 = stablehlo.multiply %40, %43 : tensor<f32>
      %cst_10 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
      %cst_11 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %45 = func.call @clip(%44, %cst_10, %cst_11) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
      stablehlo.return %34, %39, %45 : tensor<f32>, tensor<2xf32>, tensor<f32>
    }
    return %0#0, %0#1, %0#2 : tensor<f32>, tensor<2xf32>, tensor<f32>
  }
  func.func private @clip(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.maximum %0, %arg0 : tensor<f32>
    %2 = stablehlo.convert %arg2 : tensor<f32>
    %3 = stablehlo.minimum %2, %1 : tensor<f32>
    return %3 : tensor<f32>
  }
}
