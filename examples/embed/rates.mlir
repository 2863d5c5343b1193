func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %out:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<f32>
   cond {
    %more = stablehlo.compare LT, %i, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %rate = stablehlo.custom_call @ask(%i) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "rate"}} : (tensor<i32>) -> tensor<f32>
    %step = stablehlo.multiply %rate, %v : tensor<f32>
    %next = stablehlo.subtract %v, %step : tensor<f32>
    stablehlo.custom_call @ask(%next) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "value"}} : (tensor<f32>) -> ()
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<f32>
  }
  return %out#1 : tensor<f32>
}
