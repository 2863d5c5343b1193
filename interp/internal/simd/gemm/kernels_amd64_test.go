package gemm

import "github.com/hlocb/hlocb/interp/internal/simd/vec"

func vectorKernels() []*kernel[float32] {
	return map[int][]*kernel[float32]{32: {short32}, 64: {wide32, short32}}[vec.Bytes()]
}

func otherKernels() ([]*kernel[float64], []*kernel[int32]) {
	return map[int][]*kernel[float64]{32: {short64}, 64: {wide64, short64}}[vec.Bytes()], map[int][]*kernel[int32]{32: {shortInt}, 64: {wideInt, shortInt}}[vec.Bytes()]
}
