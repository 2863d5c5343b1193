module @jit_transformer attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x64x128xf32>, %arg1: tensor<128x128xf32>, %arg2: tensor<128x128xf32>, %arg3: tensor<128x128xf32>, %arg4: tensor<128x128xf32>, %arg5: tensor<128x512xf32>, %arg6: tensor<512x128xf32>) -> (tensor<4x64x128xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %cst_0 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x64x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x64x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = call @_var(%arg0, %c) : (tensor<4x64x128xf32>, tensor<i32>) -> tensor<4x64x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %8 = stablehlo.add %6, %7 : tensor<4x64x1xf32>
    %9 = stablehlo.rsqrt %8 : tensor<4x64x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %11 = stablehlo.multiply %5, %10 : tensor<4x64x128xf32>
    %12 = stablehlo.dot_general %11, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<128x128xf32>) -> tensor<4x64x128xf32>
    %13 = stablehlo.reshape %12 : (tensor<4x64x128xf32>) -> tensor<4x64x8x16xf32>
    %14 = stablehlo.transpose %13, dims = [0, 2, 1, 3] : (tensor<4x64x8x16xf32>) -> tensor<4x8x64x16xf32>
    %15 = stablehlo.dot_general %11, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<128x128xf32>) -> tensor<4x64x128xf32>
    %16 = stablehlo.reshape %15 : (tensor<4x64x128xf32>) -> tensor<4x64x8x16xf32>
    %17 = stablehlo.transpose %16, dims = [0, 2, 1, 3] : (tensor<4x64x8x16xf32>) -> tensor<4x8x64x16xf32>
    %18 = stablehlo.dot_general %11, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<128x128xf32>) -> tensor<4x64x128xf32>
    %19 = stablehlo.reshape %18 : (tensor<4x64x128xf32>) -> tensor<4x64x8x16xf32>
    %20 = stablehlo.transpose %19, dims = [0, 2, 1, 3] : (tensor<4x64x8x16xf32>) -> tensor<4x8x64x16xf32>
    %21 = stablehlo.dot_general %14, %17, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x64x16xf32>, tensor<4x8x64x16xf32>) -> tensor<4x8x64x64xf32>
    %cst_2 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %22 = stablehlo.sqrt %cst_2 : tensor<f32>
    %23 = stablehlo.convert %22 : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<4x8x64x64xf32>
    %25 = stablehlo.divide %21, %24 : tensor<4x8x64x64xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_3) applies stablehlo.maximum across dimensions = [3] : (tensor<4x8x64x64xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x8x64xf32>
    %28 = stablehlo.maximum %27, %26 : tensor<4x8x64xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<4x8x64xf32>) -> tensor<4x8x64x1xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<4x8x64x1xf32>) -> tensor<4x8x64x64xf32>
    %31 = stablehlo.subtract %25, %30 : tensor<4x8x64x64xf32>
    %32 = stablehlo.exponential %31 : tensor<4x8x64x64xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_5) applies stablehlo.add across dimensions = [3] : (tensor<4x8x64x64xf32>, tensor<f32>) -> tensor<4x8x64xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1, 2] : (tensor<4x8x64xf32>) -> tensor<4x8x64x1xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2, 3] : (tensor<4x8x64x1xf32>) -> tensor<4x8x64x64xf32>
    %36 = stablehlo.divide %32, %35 : tensor<4x8x64x64xf32>
    %37 = stablehlo.dot_general %36, %20, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x64x64xf32>, tensor<4x8x64x16xf32>) -> tensor<4x8x64x16xf32>
    %38 = stablehlo.transpose %37, dims = [0, 2, 1, 3] : (tensor<4x8x64x16xf32>) -> tensor<4x64x8x16xf32>
    %39 = stablehlo.reshape %38 : (tensor<4x64x8x16xf32>) -> tensor<4x64x128xf32>
    %40 = stablehlo.dot_general %39, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<128x128xf32>) -> tensor<4x64x128xf32>
    %41 = stablehlo.add %arg0, %40 : tensor<4x64x128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %cst_7 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %45 = stablehlo.divide %43, %44 : tensor<4x64x1xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %47 = stablehlo.subtract %41, %46 : tensor<4x64x128xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %48 = call @_var(%41, %c_8) : (tensor<4x64x128xf32>, tensor<i32>) -> tensor<4x64x1xf32>
    %cst_9 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %50 = stablehlo.add %48, %49 : tensor<4x64x1xf32>
    %51 = stablehlo.rsqrt %50 : tensor<4x64x1xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %53 = stablehlo.multiply %47, %52 : tensor<4x64x128xf32>
    %54 = stablehlo.dot_general %53, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x128xf32>, tensor<128x512xf32>) -> tensor<4x64x512xf32>
    %55 = stablehlo.multiply %54, %54 : tensor<4x64x512xf32>
    %56 = stablehlo.multiply %55, %54 : tensor<4x64x512xf32>
    %cst_10 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x64x512xf32>
    %58 = stablehlo.multiply %57, %56 : tensor<4x64x512xf32>
    %59 = stablehlo.add %54, %58 : tensor<4x64x512xf32>
    %cst_11 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x64x512xf32>
    %61 = stablehlo.multiply %60, %59 : tensor<4x64x512xf32>
    %62 = stablehlo.tanh %61 : tensor<4x64x512xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x64x512xf32>
    %64 = stablehlo.add %63, %62 : tensor<4x64x512xf32>
    %cst_13 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x64x512xf32>
    %66 = stablehlo.multiply %65, %64 : tensor<4x64x512xf32>
    %67 = stablehlo.multiply %54, %66 : tensor<4x64x512xf32>
    %68 = stablehlo.dot_general %67, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64x512xf32>, tensor<512x128xf32>) -> tensor<4x64x128xf32>
    %69 = stablehlo.add %41, %68 : tensor<4x64x128xf32>
    return %69 : tensor<4x64x128xf32>
  }
  func.func private @_var(%arg0: tensor<4x64x128xf32>, %arg1: tensor<i32>) -> tensor<4x64x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %cst_0 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x64x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x128xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x64x128xf32>
    %6 = chlo.square %5 : tensor<4x64x128xf32> -> tensor<4x64x128xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x64x128xf32>, tensor<f32>) -> tensor<4x64xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<4x64x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<4x64x1xf32>, tensor<f32>) -> tensor<4x64x1xf32>
    return %14 : tensor<4x64x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<4x64x1xf32>, %arg2: tensor<f32>) -> tensor<4x64x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x64x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x64x1xf32>
    return %2 : tensor<4x64x1xf32>
  }
}
