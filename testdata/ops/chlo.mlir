module {
  func.func @unary(%f: tensor<4xf32>, %c: tensor<4xcomplex<f32>>) {
    %0 = chlo.acos %f : tensor<4xf32> -> tensor<4xf32>
    %1 = chlo.acosh %f : tensor<4xf32> -> tensor<4xf32>
    %2 = chlo.asin %f : tensor<4xf32> -> tensor<4xf32>
    %3 = chlo.asinh %f : tensor<4xf32> -> tensor<4xf32>
    %4 = chlo.atan %f : tensor<4xf32> -> tensor<4xf32>
    %5 = chlo.atanh %f : tensor<4xf32> -> tensor<4xf32>
    %6 = chlo.bessel_i1e %f : tensor<4xf32> -> tensor<4xf32>
    %7 = chlo.conj %f : tensor<4xf32> -> tensor<4xf32>
    %8 = chlo.cosh %f : tensor<4xf32> -> tensor<4xf32>
    %9 = chlo.digamma %f : tensor<4xf32> -> tensor<4xf32>
    %10 = chlo.erf %f : tensor<4xf32> -> tensor<4xf32>
    %11 = chlo.erf_inv %f : tensor<4xf32> -> tensor<4xf32>
    %12 = chlo.erfc %f : tensor<4xf32> -> tensor<4xf32>
    %13 = chlo.lgamma %f : tensor<4xf32> -> tensor<4xf32>
    %14 = chlo.sinh %f : tensor<4xf32> -> tensor<4xf32>
    %15 = chlo.square %f : tensor<4xf32> -> tensor<4xf32>
    %16 = chlo.tan %f : tensor<4xf32> -> tensor<4xf32>
    %17 = chlo.is_inf %f : tensor<4xf32> -> tensor<4xi1>
    %18 = chlo.is_neg_inf %f : tensor<4xf32> -> tensor<4xi1>
    %19 = chlo.is_pos_inf %f : tensor<4xf32> -> tensor<4xi1>
    %20 = chlo._asin_acos_kernel %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    return
  }
  func.func @binary(%f: tensor<4xf32>, %m: tensor<2x4xf32>, %i: tensor<4xi32>, %j: tensor<2x4xi32>, %p: tensor<4xi1>) {
    %0 = chlo.next_after %f, %f : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %1 = chlo.polygamma %f, %f : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %2 = chlo.zeta %f, %f : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %3 = chlo.mulhi %i, %i : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
    %4 = chlo.broadcast_add %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %5 = chlo.broadcast_atan2 %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %6 = chlo.broadcast_divide %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %7 = chlo.broadcast_maximum %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %8 = chlo.broadcast_minimum %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %9 = chlo.broadcast_multiply %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %10 = chlo.broadcast_next_after %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %11 = chlo.broadcast_polygamma %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %12 = chlo.broadcast_power %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %13 = chlo.broadcast_remainder %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %14 = chlo.broadcast_subtract %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %15 = chlo.broadcast_zeta %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %16 = chlo.broadcast_and %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
    %17 = chlo.broadcast_or %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
    %18 = chlo.broadcast_xor %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
    %19 = chlo.broadcast_shift_left %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
    %20 = chlo.broadcast_shift_right_arithmetic %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
    %21 = chlo.broadcast_shift_right_logical %i, %j : (tensor<4xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
    %22 = chlo.broadcast_compare %f, %m {comparison_direction = #chlo<comparison_direction LT>} : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
    %23 = chlo.broadcast_complex %f, %m : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xcomplex<f32>>
    %24 = chlo.broadcast_select %p, %f, %m : (tensor<4xi1>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    return
  }
  func.func @others(%m: tensor<6x4xf32>, %w: tensor<3x4x5xf32>, %g: tensor<3xi32>, %z: tensor<4xf32>) {
    %0 = chlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = "chlo.constant_like"(%m) <{value = 1.000000e+00 : f32}> : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %2 = "chlo.ragged_dot"(%m, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<6x5xf32>
    %3:2 = chlo.scan(%m) inits (%z) dimension=0 {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %20 = stablehlo.add %a, %b : tensor<4xf32>
      stablehlo.return %20, %20 : tensor<4xf32>, tensor<4xf32>
    } : (tensor<6x4xf32>, tensor<4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>)
    %4:2 = chlo.top_k(%m, k = 2) : tensor<6x4xf32> -> (tensor<6x2xf32>, tensor<6x2xi32>)
    return
  }
}
