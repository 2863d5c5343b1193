//go:build !amd64

package gemm

var best = plain()
