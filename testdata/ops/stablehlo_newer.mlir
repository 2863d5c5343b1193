module {
  func.func @newer(%v: tensor<4x8xf32>, %r: tensor<1xi32>, %m: tensor<3x4xf32>) {
    %5 = "stablehlo.collective_reduce"(%v, %r) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %20 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<4x8xf32>
    %10 = "stablehlo.async_start"(%v) ({
    ^bb0(%a: tensor<4x8xf32>):
      %20 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
      stablehlo.return %20 : tensor<4x8xf32>
    }) : (tensor<4x8xf32>) -> !stablehlo.future<tensor<4x8xf32>>
    %11 = "stablehlo.async_done"(%10) : (!stablehlo.future<tensor<4x8xf32>>) -> tensor<4x8xf32>
    %3 = stablehlo.unary_einsum %m, config = "ab->a" : (tensor<3x4xf32>) -> tensor<3xf32>
    return
  }
}
