module @jit_ode attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x64xf32>, %arg1: tensor<64x64xf32>) -> (tensor<64x64xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %c, %iterArg_1 = %arg0) : tensor<64x64xf32>, tensor<i32>, tensor<64x64xf32>
    cond {
      %c_2 = stablehlo.constant dense<200> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_0, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg, %iterArg_1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg_0, %c_2 : tensor<i32>
      stablehlo.return %iterArg, %2, %1 : tensor<64x64xf32>, tensor<i32>, tensor<64x64xf32>
    }
    return %0#2 : tensor<64x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<64x64xf32>, %arg1: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.tanh %0 : tensor<64x64xf32>
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %3 = stablehlo.multiply %2, %arg1 : tensor<64x64xf32>
    %4 = stablehlo.subtract %1, %3 : tensor<64x64xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-03> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<64x64xf32>
    %7 = stablehlo.add %arg1, %6 : tensor<64x64xf32>
    %8 = stablehlo.dot_general %7, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %9 = stablehlo.tanh %8 : tensor<64x64xf32>
    %cst_1 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %11 = stablehlo.multiply %10, %7 : tensor<64x64xf32>
    %12 = stablehlo.subtract %9, %11 : tensor<64x64xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-03> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<64x64xf32>
    %15 = stablehlo.add %arg1, %14 : tensor<64x64xf32>
    %16 = stablehlo.dot_general %15, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %17 = stablehlo.tanh %16 : tensor<64x64xf32>
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %19 = stablehlo.multiply %18, %15 : tensor<64x64xf32>
    %20 = stablehlo.subtract %17, %19 : tensor<64x64xf32>
    %cst_4 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %22 = stablehlo.multiply %21, %20 : tensor<64x64xf32>
    %23 = stablehlo.add %arg1, %22 : tensor<64x64xf32>
    %24 = stablehlo.dot_general %23, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %25 = stablehlo.tanh %24 : tensor<64x64xf32>
    %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %27 = stablehlo.multiply %26, %23 : tensor<64x64xf32>
    %28 = stablehlo.subtract %25, %27 : tensor<64x64xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %30 = stablehlo.multiply %29, %12 : tensor<64x64xf32>
    %31 = stablehlo.add %4, %30 : tensor<64x64xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %33 = stablehlo.multiply %32, %20 : tensor<64x64xf32>
    %34 = stablehlo.add %31, %33 : tensor<64x64xf32>
    %35 = stablehlo.add %34, %28 : tensor<64x64xf32>
    %cst_8 = stablehlo.constant dense<0.00166666671> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
    %37 = stablehlo.multiply %36, %35 : tensor<64x64xf32>
    %38 = stablehlo.add %arg1, %37 : tensor<64x64xf32>
    return %38 : tensor<64x64xf32>
  }
}
