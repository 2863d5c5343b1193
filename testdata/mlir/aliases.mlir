// Hooks whose operands are an argument, a value that others use too, and a value that ends there.
func.func public @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = stablehlo.custom_call @ask(%x) {has_side_effect = true, api_version = 4 : i32, backend_config = {name = "first"}} : (tensor<4xf32>) -> tensor<4xf32>
  %v = stablehlo.sine %a : tensor<4xf32>
  %q = stablehlo.multiply %v, %v : tensor<4xf32>
  stablehlo.custom_call @ask(%v) {has_side_effect = true, api_version = 4 : i32, backend_config = {name = "look"}} : (tensor<4xf32>) -> ()
  %r = stablehlo.add %v, %v : tensor<4xf32>
  %i:2 = stablehlo.custom_call @ask(%r) {has_side_effect = true, api_version = 4 : i32, backend_config = {name = "two"}} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %q, %i#0, %i#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
