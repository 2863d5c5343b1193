// Package gemm multiplies f32 matrices with a blocked product over packed panels. At program start it chooses a vector
// kernel in assembly (AVX-512, or AVX2 with FMA), or plain Go if the processor has neither. All kernels return the same
// bits. _gen generates the assembly; run go generate in interp/gemm after a change.
package gemm
