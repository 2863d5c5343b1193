module {
  func.func @flow(%i: tensor<i32>, %p: tensor<i1>, %v: tensor<4xf32>, %t: !stablehlo.token) {
    %0 = stablehlo.after_all %t, %t : !stablehlo.token
    %1 = stablehlo.create_token : !stablehlo.token
    %2 = "stablehlo.case"(%i) ({
      stablehlo.return %v : tensor<4xf32>
    }, {
      %20 = stablehlo.negate %v : tensor<4xf32>
      stablehlo.return %20 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %3 = "stablehlo.if"(%p) ({
      stablehlo.return %v : tensor<4xf32>
    }, {
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %4:2 = stablehlo.while(%iterArg = %i, %iterArg_0 = %v) : tensor<i32>, tensor<4xf32>
    cond {
      %20 = stablehlo.compare LT, %iterArg, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      stablehlo.return %iterArg, %iterArg_0 : tensor<i32>, tensor<4xf32>
    }
    %5:2 = stablehlo.optimization_barrier %v, %i : tensor<4xf32>, tensor<i32>
    return
  }
  func.func @host(%v: tensor<4xf32>, %t: !stablehlo.token) -> !stablehlo.token {
    %0:2 = "stablehlo.infeed"(%t) <{infeed_config = "queue"}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    %1 = "stablehlo.outfeed"(%0#0, %0#1) <{outfeed_config = "loss"}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %2 = "stablehlo.send"(%v, %1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %3:2 = "stablehlo.recv"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    return %3#1 : !stablehlo.token
  }
  func.func @extend(%v: tensor<4xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.custom_call @target(%v) {has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
    %1:2 = stablehlo.composite "lib.twice" %v {decomposition = @twice} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %2 = stablehlo.tuple %v, %i : tuple<tensor<4xf32>, tensor<i32>>
    %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
    return %1#0, %3 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @twice(%v: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %v, %v : tensor<4xf32>, tensor<4xf32>
  }
}
