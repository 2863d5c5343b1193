// Package gemm multiplies f32, f64 and i32 matrices with a blocked product over packed panels. At program start it
// chooses vector kernels in assembly (AVX-512, or AVX2 with FMA), or plain Go if the processor has neither. All kernels
// return the same bits. _gen generates the assembly; run go generate after a change.
package gemm
