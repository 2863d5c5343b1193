module {
  func.func @newer(%v: tensor<4x8xf32>, %r: tensor<1xi32>, %h: tensor<4xf16>) {
    %0 = mhlo.exp2 %v {result_accuracy = #mhlo.result_accuracy<mode = #mhlo.result_accuracy_mode<HIGHEST>>} : tensor<4x8xf32>
    %1 = mhlo.log2 %h {mhlo.original_value = #mhlo.original_value<false, [<[], <"t", [1, 0]>>]>} : tensor<4xf16>
    %2 = "mhlo.collective_reduce"(%v, %r) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %20 = mhlo.add %a, %b : tensor<f32>
      mhlo.return %20 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<1xi32>) -> tensor<4x8xf32>
    %3:2 = mhlo.topk(%v, k = 2, largest = false, is_stable = false) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
    %4:2 = chlo.top_k(%v, k = 2, is_stable = false) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
    return
  }
}
