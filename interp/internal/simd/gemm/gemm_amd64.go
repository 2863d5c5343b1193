package gemm

import "github.com/hlocb/hlocb/interp/internal/simd/vec"

//go:generate sh -c "cd _gen && go run . -out ../gemm_amd64.s -stubs ../stubs_amd64.go -pkg gemm"

var (
	wide32   = &kernel[float32]{"AVX-512", 8, 32, tileF32AVX512, runsF32AVX512}
	wide64   = &kernel[float64]{"AVX-512", 8, 16, tileF64AVX512, runsF64AVX512}
	wideInt  = &kernel[int32]{"AVX-512", 8, 32, tileI32AVX512, runsI32AVX512}
	short32  = &kernel[float32]{"AVX2", 6, 16, tileF32AVX2, runsF32AVX2}
	short64  = &kernel[float64]{"AVX2", 6, 8, tileF64AVX2, runsF64AVX2}
	shortInt = &kernel[int32]{"AVX2", 6, 16, tileI32AVX2, runsI32AVX2}
)

func choose() (*kernel[float32], *kernel[float64], *kernel[int32]) {
	switch vec.Bytes() {
	case 64:
		return wide32, wide64, wideInt
	case 32:
		return short32, short64, shortInt
	}
	return plainKernels()
}
