package gemm

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _gen && go run . -out ../gemm_amd64.s -stubs ../stubs_amd64.go -pkg gemm"

// best is chosen once, since the processor's features do not change.
var best = choose()

func choose() *kernel {
	switch {
	case cpu.X86.HasAVX512F:
		return &avx512
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return &avx2
	}
	return plain()
}

var avx512 = kernel{name: "AVX-512", rows: 8, cols: 32, tile: func(a, b, c []float32, k, rowC int, add bool) {
	_, _, _ = a[8*k-1], b[32*k-1], c[7*rowC+31]
	tileAVX512(&a[0], &b[0], &c[0], k, rowC, add)
}}

var avx2 = kernel{name: "AVX2", rows: 6, cols: 16, tile: func(a, b, c []float32, k, rowC int, add bool) {
	_, _, _ = a[6*k-1], b[16*k-1], c[5*rowC+15]
	tileAVX2(&a[0], &b[0], &c[0], k, rowC, add)
}}
