//go:build !amd64

package gemm

func choose() (*kernel[float32], *kernel[float64], *kernel[int32]) { return plainKernels() }
