// Package special computes functions of float64 and complex128 numbers. Their results have the same bits on every
// processor: package math differs in the last bit between architectures.
package special
