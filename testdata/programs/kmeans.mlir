module @jit_kmeans attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5000x16xf32>, %arg1: tensor<32x16xf32>) -> (tensor<32x16xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %arg1) : tensor<5000x16xf32>, tensor<i32>, tensor<32x16xf32>
    cond {
      %c_2 = stablehlo.constant dense<10> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_0, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg, %iterArg_1) : (tensor<5000x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg_0, %c_2 : tensor<i32>
      stablehlo.return %iterArg, %2, %1 : tensor<5000x16xf32>, tensor<i32>, tensor<32x16xf32>
    }
    return %0#2 : tensor<32x16xf32>
  }
  func.func private @closed_call(%arg0: tensor<5000x16xf32>, %arg1: tensor<32x16xf32>) -> tensor<32x16xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<5000x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<5000x16xf32>, tensor<f32>) -> tensor<5000xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<5000xf32>) -> tensor<5000x1xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5000x16xf32>
    %4 = stablehlo.multiply %3, %arg0 : tensor<5000x16xf32>
    %5 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %6 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5000x16xf32>, tensor<16x32xf32>) -> tensor<5000x32xf32>
    %7 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<5000x1xf32>) -> tensor<5000x32xf32>
    %8 = stablehlo.subtract %7, %6 : tensor<5000x32xf32>
    %9 = stablehlo.multiply %arg1, %arg1 : tensor<32x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<32xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<32xf32>) -> tensor<1x32xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x32xf32>) -> tensor<5000x32xf32>
    %13 = stablehlo.add %8, %12 : tensor<5000x32xf32>
    %14 = call @argmin(%13) : (tensor<5000x32xf32>) -> tensor<5000xi32>
    %15 = call @_one_hot(%14) : (tensor<5000xi32>) -> tensor<5000x32xf32>
    %16 = stablehlo.transpose %15, dims = [1, 0] : (tensor<5000x32xf32>) -> tensor<32x5000xf32>
    %17 = stablehlo.dot_general %16, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x5000xf32>, tensor<5000x16xf32>) -> tensor<32x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<5000x32xf32>, tensor<f32>) -> tensor<32xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x1xf32>
    %21 = stablehlo.add %19, %20 : tensor<32x1xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x16xf32>
    %23 = stablehlo.divide %17, %22 : tensor<32x16xf32>
    return %23 : tensor<32x16xf32>
  }
  func.func private @argmin(%arg0: tensor<5000x32xf32>) -> tensor<5000xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<5000x32xi32>
    %cst = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<5000x32xf32>, tensor<5000x32xi32>, tensor<f32>, tensor<i32>) -> (tensor<5000xf32>, tensor<5000xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<f32>, tensor<i32>
    }
    return %1#1 : tensor<5000xi32>
  }
  func.func private @_one_hot(%arg0: tensor<5000xi32>) -> tensor<5000x32xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<5000xi32>) -> tensor<5000x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x32xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<5000x1xi32>) -> tensor<5000x32xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x32xi32>) -> tensor<5000x32xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<5000x32xi32>, tensor<5000x32xi32>) -> tensor<5000x32xi1>
    %5 = stablehlo.convert %4 : (tensor<5000x32xi1>) -> tensor<5000x32xf32>
    return %5 : tensor<5000x32xf32>
  }
}
