package gemm

import "github.com/hlocb/hlocb/interp/internal/simd/vec"

//go:generate sh -c "cd _gen && go run . -out ../gemm_amd64.s -stubs ../stubs_amd64.go -pkg gemm"

var (
	wide32   = &kernel[float32]{"AVX-512", 8, 32, tileF32AVX512, runsF32AVX512, &kernel[float32]{"AVX-512", 1, 32, nil, lineF32AVX512, nil}}
	wide64   = &kernel[float64]{"AVX-512", 8, 16, tileF64AVX512, runsF64AVX512, &kernel[float64]{"AVX-512", 1, 16, nil, lineF64AVX512, nil}}
	wideInt  = &kernel[int32]{"AVX-512", 8, 32, tileI32AVX512, runsI32AVX512, &kernel[int32]{"AVX-512", 1, 32, nil, lineI32AVX512, nil}}
	short32  = &kernel[float32]{"AVX2", 6, 16, tileF32AVX2, runsF32AVX2, &kernel[float32]{"AVX2", 1, 32, nil, lineF32AVX2, nil}}
	short64  = &kernel[float64]{"AVX2", 6, 8, tileF64AVX2, runsF64AVX2, &kernel[float64]{"AVX2", 1, 16, nil, lineF64AVX2, nil}}
	shortInt = &kernel[int32]{"AVX2", 6, 16, tileI32AVX2, runsI32AVX2, &kernel[int32]{"AVX2", 1, 32, nil, lineI32AVX2, nil}}
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
