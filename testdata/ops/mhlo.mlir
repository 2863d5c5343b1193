module {
  func.func @mhlo(%a: tensor<6x4xf32>, %i: tensor<6x4xi32>, %u: tensor<6x4xui32>, %t: !mhlo.token, %s: tensor<2xindex>, %w: tensor<3x4x5xf32>, %g: tensor<3xi32>, %z: tensor<4xf32>) {
    %0 = mhlo.acos %a : tensor<6x4xf32>
    %1 = mhlo.acosh %a : tensor<6x4xf32>
    %2 = mhlo.asin %a : tensor<6x4xf32>
    %3 = mhlo.asinh %a : tensor<6x4xf32>
    %4 = mhlo.atanh %a : tensor<6x4xf32>
    %5 = mhlo.cosh %a : tensor<6x4xf32>
    %6 = mhlo.erf %a : tensor<6x4xf32>
    %7 = mhlo.sinh %a : tensor<6x4xf32>
    %8 = mhlo.add_dependency %a, %t : (tensor<6x4xf32>, !mhlo.token) -> tensor<6x4xf32>
    %9 = mhlo.copy %a : tensor<6x4xf32>
    %10 = mhlo.bitcast %a : (tensor<6x4xf32>) -> tensor<24xf32>
    %11 = "mhlo.domain"(%a) <{entry_metadata = "", exit_metadata = "", kind = #mhlo<kind sharding>}> : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %12 = mhlo.mulhi %i, %i : tensor<6x4xi32>
    %13:2 = mhlo.topk(%a, k = 2) : tensor<6x4xf32> -> (tensor<6x2xf32>, tensor<6x2xi32>)
    mhlo.trace %a, "tag" : tensor<6x4xf32>
    %14 = mhlo.xla.rng_get_and_update_state {delta = 1 : i64}
    %15:2 = mhlo.minimum_broadcast_shapes %s, %s : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>, tensor<2xindex>
    %16 = "mhlo.stochastic_convert"(%a, %u) : (tensor<6x4xf32>, tensor<6x4xui32>) -> tensor<6x4xf16>
    %17 = "mhlo.fusion"(%a) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
    ^bb0(%x: tensor<6x4xf32>):
      mhlo.return %x : tensor<6x4xf32>
    }) : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %18 = "mhlo.ragged_dot"(%a, %w, %g) <{ragged_dot_dimension_numbers = #mhlo.ragged_dot<dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<6x5xf32>
    %19 = "mhlo.async_start"(%a) <{called_computation = @callee, execution_thread = "main"}> : (tensor<6x4xf32>) -> !mhlo.async_bundle<tuple<tensor<6x4xf32>>, tensor<6x4xf32>>
    %20 = "mhlo.async_update"(%19) : (!mhlo.async_bundle<tuple<tensor<6x4xf32>>, tensor<6x4xf32>>) -> !mhlo.async_bundle<tuple<tensor<6x4xf32>>, tensor<6x4xf32>>
    %21 = "mhlo.async_done"(%20) : (!mhlo.async_bundle<tuple<tensor<6x4xf32>>, tensor<6x4xf32>>) -> tensor<6x4xf32>
    %22:2 = "mhlo.scan"(%a, %z) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
      %30 = mhlo.add %x, %y : tensor<4xf32>
      mhlo.return %30, %30 : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<6x4xf32>, tensor<4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>)
    return
  }
  func.func private @callee(tensor<6x4xf32>) -> tensor<6x4xf32> attributes {execution_thread = "main"}
}
