// Package vec computes functions of elements: arithmetic, comparisons, choices, conversions, elementary functions of up
// to three operands, folds of rows, scalar products and transposes. It uses AVX-512 or AVX2 if the processor has them,
// else Go, always with the same bits. Package expr defines each function once, as a program of single operations that
// round alike everywhere. Its generator writes the Go code, and package machine encodes the vectors' code when a
// function first runs. Package _gen generates the assembly of transposes and Fourier transforms.
package vec

//go:generate sh -c "cd _gen && go run . -out ../vec_amd64.s -stubs ../stubs_amd64.go -pkg vec"
