module @jit_mlp_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x256xf32>, %arg1: tensor<256x16xf32>, %arg2: tensor<256x512xf32>, %arg3: tensor<512x512xf32>, %arg4: tensor<512x16xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<256x512xf32> {jax.result_info = "result[1][0]"}, tensor<512x512xf32> {jax.result_info = "result[1][1]"}, tensor<512x16xf32> {jax.result_info = "result[1][2]"}) {
    %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x256xf32>, tensor<256x512xf32>) -> tensor<256x512xf32>
    %1:3 = call @silu(%0) : (tensor<256x512xf32>) -> (tensor<256x512xf32>, tensor<256x512xf32>, tensor<256x512xf32>)
    %2 = stablehlo.dot_general %1#0, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
    %3:3 = call @silu(%2) : (tensor<256x512xf32>) -> (tensor<256x512xf32>, tensor<256x512xf32>, tensor<256x512xf32>)
    %4 = stablehlo.dot_general %3#0, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x16xf32>) -> tensor<256x16xf32>
    %5 = stablehlo.subtract %4, %arg1 : tensor<256x16xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<256x16xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %8 = stablehlo.multiply %7, %5 : tensor<256x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<256x16xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %10 = stablehlo.divide %9, %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_3 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %11 = stablehlo.divide %cst_2, %cst_3 : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<256x16xf32>
    %13 = stablehlo.multiply %12, %8 : tensor<256x16xf32>
    %14 = stablehlo.dot_general %13, %3#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x16xf32>, tensor<256x512xf32>) -> tensor<16x512xf32>
    %15 = stablehlo.transpose %14, dims = [1, 0] : (tensor<16x512xf32>) -> tensor<512x16xf32>
    %16 = stablehlo.dot_general %13, %arg4, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<256x16xf32>, tensor<512x16xf32>) -> tensor<256x512xf32>
    %17 = call @silu_0(%3#1, %3#2, %2, %16) : (tensor<256x512xf32>, tensor<256x512xf32>, tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<256x512xf32>
    %18 = stablehlo.dot_general %17, %1#0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
    %19 = stablehlo.transpose %18, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>
    %20 = stablehlo.dot_general %17, %arg3, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
    %21 = call @silu_0(%1#1, %1#2, %0, %20) : (tensor<256x512xf32>, tensor<256x512xf32>, tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<256x512xf32>
    %22 = stablehlo.dot_general %21, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<256x256xf32>) -> tensor<512x256xf32>
    %23 = stablehlo.transpose %22, dims = [1, 0] : (tensor<512x256xf32>) -> tensor<256x512xf32>
    %cst_4 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %25 = stablehlo.multiply %24, %23 : tensor<256x512xf32>
    %26 = stablehlo.subtract %arg2, %25 : tensor<256x512xf32>
    %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %28 = stablehlo.multiply %27, %19 : tensor<512x512xf32>
    %29 = stablehlo.subtract %arg3, %28 : tensor<512x512xf32>
    %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<512x16xf32>
    %31 = stablehlo.multiply %30, %15 : tensor<512x16xf32>
    %32 = stablehlo.subtract %arg4, %31 : tensor<512x16xf32>
    return %10, %26, %29, %32 : tensor<f32>, tensor<256x512xf32>, tensor<512x512xf32>, tensor<512x16xf32>
  }
  func.func private @silu(%arg0: tensor<256x512xf32>) -> (tensor<256x512xf32>, tensor<256x512xf32>, tensor<256x512xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<256x512xf32>
    %1 = stablehlo.exponential %0 : tensor<256x512xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %3 = stablehlo.add %2, %1 : tensor<256x512xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %5 = stablehlo.divide %4, %3 : tensor<256x512xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %7 = stablehlo.subtract %6, %5 : tensor<256x512xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<256x512xf32>
    %9 = stablehlo.multiply %arg0, %5 : tensor<256x512xf32>
    return %9, %8, %5 : tensor<256x512xf32>, tensor<256x512xf32>, tensor<256x512xf32>
  }
  func.func private @silu_0(%arg0: tensor<256x512xf32>, %arg1: tensor<256x512xf32>, %arg2: tensor<256x512xf32>, %arg3: tensor<256x512xf32>) -> tensor<256x512xf32> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<256x512xf32>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<256x512xf32>
    %2 = stablehlo.multiply %0, %arg0 : tensor<256x512xf32>
    %3 = stablehlo.add %1, %2 : tensor<256x512xf32>
    return %3 : tensor<256x512xf32>
  }
}
