// Package vec computes elementary functions of float64, and of float32 in float64 with one rounding. It uses AVX-512 or
// AVX2 if the processor has them, else Go, always with the same bits. Each function is written once, in _gen, as a
// program of single operations that round alike everywhere. The Go code and the assembly are generated from it.
package vec

//go:generate sh -c "cd _gen && go run . -out ../vec_amd64.s -stubs ../stubs_amd64.go -pkg vec"
