module {
  func.func @unary(%f: tensor<4xf32>, %i: tensor<4xi32>, %c: tensor<4xcomplex<f32>>, %p: tensor<4xi1>) {
    %0 = stablehlo.abs %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %1 = stablehlo.cbrt %f {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
    %2 = stablehlo.ceil %f : tensor<4xf32>
    %3 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf32>
    %4 = stablehlo.cosine %f : tensor<4xf32>
    %5 = stablehlo.count_leading_zeros %i : tensor<4xi32>
    %6 = stablehlo.exponential %f : tensor<4xf32>
    %7 = stablehlo.exponential_minus_one %f : tensor<4xf32>
    %8 = stablehlo.floor %f : tensor<4xf32>
    %9 = stablehlo.imag %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %10 = stablehlo.is_finite %f : (tensor<4xf32>) -> tensor<4xi1>
    %11 = stablehlo.log %f : tensor<4xf32>
    %12 = stablehlo.log_plus_one %f : tensor<4xf32>
    %13 = stablehlo.logistic %f : tensor<4xf32>
    %14 = stablehlo.negate %f : tensor<4xf32>
    %15 = stablehlo.not %p : tensor<4xi1>
    %16 = stablehlo.popcnt %i : tensor<4xi32>
    %17 = stablehlo.real %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %18 = stablehlo.round_nearest_afz %f : tensor<4xf32>
    %19 = stablehlo.round_nearest_even %f : tensor<4xf32>
    %20 = stablehlo.rsqrt %f : tensor<4xf32>
    %21 = stablehlo.sign %f : tensor<4xf32>
    %22 = stablehlo.sine %f : tensor<4xf32>
    %23 = stablehlo.sqrt %f : tensor<4xf32>
    %24 = stablehlo.tan %f : tensor<4xf32>
    %25 = stablehlo.tanh %f : tensor<4xf32>
    %26 = stablehlo.bitcast_convert %f : (tensor<4xf32>) -> tensor<4x2xi16>
    %27 = stablehlo.reduce_precision %f, format = e5m10 : tensor<4xf32>
    return
  }
  func.func @binary(%f: tensor<4xf32>, %g: tensor<4xf32>, %i: tensor<4xi32>, %j: tensor<4xi32>, %p: tensor<4xi1>) {
    %0 = stablehlo.add %f, %g : tensor<4xf32>
    %1 = stablehlo.and %i, %j : tensor<4xi32>
    %2 = stablehlo.atan2 %f, %g : tensor<4xf32>
    %3 = stablehlo.divide %f, %g : tensor<4xf32>
    %4 = stablehlo.maximum %f, %g : tensor<4xf32>
    %5 = stablehlo.minimum %f, %g : tensor<4xf32>
    %6 = stablehlo.multiply %f, %g : tensor<4xf32>
    %7 = stablehlo.or %i, %j : tensor<4xi32>
    %8 = stablehlo.power %f, %g : tensor<4xf32>
    %9 = stablehlo.remainder %i, %j : tensor<4xi32>
    %10 = stablehlo.shift_left %i, %j : tensor<4xi32>
    %11 = stablehlo.shift_right_arithmetic %i, %j : tensor<4xi32>
    %12 = stablehlo.shift_right_logical %i, %j : tensor<4xi32>
    %13 = stablehlo.subtract %f, %g : tensor<4xf32>
    %14 = stablehlo.xor %i, %j : tensor<4xi32>
    %15 = stablehlo.clamp %f, %g, %f : tensor<4xf32>
    %16 = stablehlo.compare LT, %f, %g, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %17 = stablehlo.complex %f, %g : tensor<4xcomplex<f32>>
    %18 = stablehlo.select %p, %f, %g : tensor<4xi1>, tensor<4xf32>
    %19 = "stablehlo.map"(%f, %g) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %20 = stablehlo.multiply %a, %b : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return
  }
}
