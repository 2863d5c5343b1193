module {
  func.func @move(%m: tensor<2x3xf32>, %v: tensor<3xf32>, %s: tensor<f32>, %i: tensor<i32>, %idx: tensor<2xi64>) {
    %0 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    %1 = stablehlo.iota dim = 1 : tensor<2x3xi32>
    %2 = stablehlo.broadcast %v, sizes = [2] : (tensor<3xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
    %4 = stablehlo.concatenate %m, %m, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %5 = stablehlo.dynamic_slice %m, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %6 = stablehlo.dynamic_update_slice %m, %5, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %7 = stablehlo.pad %m, %s, low = [0, 1], high = [1, -1], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
    %8 = stablehlo.reshape %m : (tensor<2x3xf32>) -> tensor<6xf32>
    %9 = stablehlo.reverse %m, dims = [1] : tensor<2x3xf32>
    %10 = stablehlo.slice %m [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
    %11:2 = "stablehlo.sort"(%m, %1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %20 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    }) : (tensor<2x3xf32>, tensor<2x3xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    %12 = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %13 = "stablehlo.torch_index_select"(%m, %idx) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
    return
  }
  func.func @gather(%m: tensor<3x4xf32>, %idx: tensor<2x1xi64>, %u: tensor<2x4xf32>, %sizes: tensor<2xi64>) {
    %0 = "stablehlo.gather"(%m, %idx) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>
    %1 = "stablehlo.dynamic_gather"(%m, %idx, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x?xf32>
    %2 = "stablehlo.scatter"(%m, %idx, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %20 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<3x4xf32>
    return
  }
  func.func @dynamic(%m: tensor<?x3xf32>, %s: tensor<f32>, %n: tensor<i32>, %shape: tensor<2xi32>, %k: tensor<1x4x2xf32>, %w: tensor<2x2x3xf32>, %pad: tensor<1x2xi32>) {
    %0 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %1 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi32>) -> tensor<?x?xi32>
    %2 = stablehlo.dynamic_pad %m, %s, %shape, %shape, %shape : (tensor<?x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %3 = stablehlo.dynamic_reshape %m, %shape : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %4 = stablehlo.get_dimension_size %m, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %5 = stablehlo.set_dimension_size %m, %n, dim = 1 : (tensor<?x3xf32>, tensor<i32>) -> tensor<?x?xf32, #stablehlo.bounds<?, 3>>
    %6 = stablehlo.real_dynamic_slice %m, %shape, %shape, %shape : (tensor<?x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %7 = "stablehlo.dynamic_conv"(%k, %w, %pad) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<1x4x2xf32>, tensor<2x2x3xf32>, tensor<1x2xi32>) -> tensor<1x?x3xf32>
    return
  }
}
