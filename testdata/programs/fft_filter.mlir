module @jit_fft_filter attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x4096xf32>) -> (tensor<64x4096xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<64x4096xf32>) -> tensor<64x2049xcomplex<f32>>
    %1 = stablehlo.iota dim = 0 : tensor<2049xi32>
    %2 = stablehlo.negate %1 : tensor<2049xi32>
    %3 = stablehlo.convert %2 : (tensor<2049xi32>) -> tensor<2049xf32>
    %cst = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2049xf32>
    %5 = stablehlo.divide %3, %4 : tensor<2049xf32>
    %6 = stablehlo.exponential %5 : tensor<2049xf32>
    %7 = stablehlo.convert %6 : (tensor<2049xf32>) -> tensor<2049xcomplex<f32>>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<2049xcomplex<f32>>) -> tensor<1x2049xcomplex<f32>>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x2049xcomplex<f32>>) -> tensor<64x2049xcomplex<f32>>
    %10 = stablehlo.multiply %0, %9 : tensor<64x2049xcomplex<f32>>
    %11 = call @fft_0(%10) : (tensor<64x2049xcomplex<f32>>) -> tensor<64x4096xf32>
    return %11 : tensor<64x4096xf32>
  }
  func.func private @fft(%arg0: tensor<64x4096xf32>) -> tensor<64x2049xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [4096] : (tensor<64x4096xf32>) -> tensor<64x2049xcomplex<f32>>
    return %0 : tensor<64x2049xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<64x2049xcomplex<f32>>) -> tensor<64x4096xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [4096] : (tensor<64x2049xcomplex<f32>>) -> tensor<64x4096xf32>
    return %0 : tensor<64x4096xf32>
  }
}
