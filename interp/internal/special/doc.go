// Package special computes functions of float64 and complex128 numbers. Their results have the same bits on every
// processor. Go's math package does not return them: some of its functions are assembly on some processors only, and in
// the rest the compiler uses fused multiply-adds if the processor has them. Here a conversion rounds every product
// before an addition, or math.FMA fuses them. A test compiles the package for a processor with fused multiply-adds and
// checks that the code has no others. Functions of math that round correctly everywhere (Sqrt, FMA, Mod, Ldexp, Floor
// and the like) are used directly.
package special
