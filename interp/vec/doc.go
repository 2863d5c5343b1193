// Package vec computes elementary functions of float64, and of float32 in float64 rounded once: with AVX-512 or AVX2 where
// the processor has them, else in Go, always with the same bits. Functions are written once, as programs of single
// operations that round alike everywhere (_gen); Go code and assembly are generated from them.
package vec

//go:generate sh -c "cd _gen && go run . -out ../vec_amd64.s -stubs ../stubs_amd64.go -pkg vec"
