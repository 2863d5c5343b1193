// Two streams of outfeeds that nothing connects, a question to the host without order, and what becomes of its answer.
func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = stablehlo.create_token : !stablehlo.token
  %s1 = "stablehlo.outfeed"(%x, %s) {outfeed_config = "loss"} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %t = stablehlo.create_token : !stablehlo.token
  %t1 = "stablehlo.outfeed"(%x, %t) {outfeed_config = "step"} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %s2 = "stablehlo.outfeed"(%x, %s1) {outfeed_config = "norm"} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %y = stablehlo.add %x, %x : tensor<2xf32>
  %ask = stablehlo.custom_call @xla_ffi_python_cpu_callback(%y) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (tensor<2xf32>) -> tensor<2xf32>
  stablehlo.custom_call @xla_ffi_python_cpu_callback(%ask) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 1 : ui64}} : (tensor<2xf32>) -> ()
  return %ask : tensor<2xf32>
}
