//go:build !amd64

package gemm

func vectorKernels() []*kernel[float32] { return nil }

func otherKernels() ([]*kernel[float64], []*kernel[int32]) { return nil, nil }
