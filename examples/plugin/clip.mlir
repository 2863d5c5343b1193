func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @host(%x) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "clip", limit = 2.5 : f32}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
