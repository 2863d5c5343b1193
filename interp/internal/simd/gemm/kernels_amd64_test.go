package gemm

import "golang.org/x/sys/cpu"

func vectorKernels() []*kernel {
	var k []*kernel
	if cpu.X86.HasAVX512F {
		k = append(k, &avx512)
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		k = append(k, &avx2)
	}
	return k
}
