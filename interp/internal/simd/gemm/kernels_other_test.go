//go:build !amd64

package gemm

func vectorKernels() []*kernel { return nil }
