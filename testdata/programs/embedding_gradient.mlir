module @jit_embedding_gradient attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000x64xf32>, %arg1: tensor<5000xi32>, %arg2: tensor<5000x64xf32>) -> (tensor<1000x64xf32> {jax.result_info = "result[0]"}, tensor<64xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<5000xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<5000xi32>, tensor<5000xi32>) -> tensor<5000xi1>
    %c_0 = stablehlo.constant dense<1000> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<5000xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<5000xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<5000xi1>, tensor<5000xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<5000xi32>) -> tensor<5000x1xi32>
    %7 = "stablehlo.scatter"(%0, %6, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %16 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %16 : tensor<f32>
    }) : (tensor<1000x64xf32>, tensor<5000x1xi32>, tensor<5000x64xf32>) -> tensor<1000x64xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<5000xi32>
    %9 = stablehlo.compare LT, %arg1, %8, SIGNED : (tensor<5000xi32>, tensor<5000xi32>) -> tensor<5000xi1>
    %c_2 = stablehlo.constant dense<1000> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<5000xi32>
    %11 = stablehlo.add %arg1, %10 : tensor<5000xi32>
    %12 = stablehlo.select %9, %11, %arg1 : tensor<5000xi1>, tensor<5000xi32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<5000xi32>) -> tensor<5000x1xi32>
    %14 = "stablehlo.gather"(%arg0, %13) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 64>}> : (tensor<1000x64xf32>, tensor<5000x1xi32>) -> tensor<5000x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<5000x64xf32>, tensor<f32>) -> tensor<64xf32>
    return %7, %15 : tensor<1000x64xf32>, tensor<64xf32>
  }
}
