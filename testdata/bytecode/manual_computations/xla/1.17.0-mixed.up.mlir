module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  sdy.mesh @one = <["x"=1]>
  sdy.mesh @dev = <["x"=2], device_ids=[1, 0]>
  sdy.mesh @empty = <[]>
  func.func @main(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
      sdy.return %arg1 : tensor<4x8xf32>
    } : (tensor<16x8xf32>) -> tensor<16x8xf32>
    return %0 : tensor<16x8xf32>
  }
}
