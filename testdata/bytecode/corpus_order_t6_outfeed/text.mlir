module @t6 {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.create_token : !stablehlo.token
    %c = stablehlo.constant dense<1> : tensor<ui16>
    %1 = "stablehlo.outfeed"(%c, %0) <{outfeed_config = ""}> : (tensor<ui16>, !stablehlo.token) -> !stablehlo.token
    %2 = "stablehlo.outfeed"(%arg0, %1) <{outfeed_config = "cfg"}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %3:2 = "stablehlo.infeed"(%2) <{infeed_config = "ic"}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    %c_0 = stablehlo.constant dense<0> : tensor<ui16>
    %4 = "stablehlo.outfeed"(%c_0, %3#1) <{outfeed_config = ""}> : (tensor<ui16>, !stablehlo.token) -> !stablehlo.token
    return %3#0 : tensor<4xf32>
  }
}
