module {
  func.func @quantized(%f: tensor<4xf32>) {
    %28 = stablehlo.uniform_quantize %f : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %29 = stablehlo.uniform_dequantize %28 : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xf32>
    return
  }
}
