module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  sdy.mesh @one = <["x"=1]>
  sdy.mesh @dev = <["x"=2], device_ids=[1, 0]>
  sdy.mesh @empty = <[]>
  func.func @main(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x8xf32>
    %0:2 = sdy.manual_computation(%arg0, %arg0) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>, %arg2: tensor<4x8xf32>) {
      %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<4x8xf32>
      %3 = stablehlo.add %arg1, %cst_0 : tensor<4x8xf32>
      sdy.return %3, %arg2 : tensor<4x8xf32>, tensor<4x8xf32>
    } : (tensor<16x8xf32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>)
    %1 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
      sdy.return %arg1 : tensor<4x8xf32>
    } : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %2 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} () {
      %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<4x8xf32>
      sdy.return %cst_0 : tensor<4x8xf32>
    } : () -> tensor<16x8xf32>
    return %1 : tensor<16x8xf32>
  }
}
