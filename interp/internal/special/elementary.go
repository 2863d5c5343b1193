package special

import (
	"math"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// The functions of float64 below return the same bits on every processor, and so does the engine. Go's math package
// does not: some of its functions are assembly on some processors only, and in the rest the compiler uses fused
// multiply-adds if the processor has them. Here a conversion rounds every product before an addition, or math.FMA fuses
// them. A test compiles the package for a processor with fused multiply-adds and checks that the code has no others.
// Functions of math that round correctly everywhere (Sqrt, FMA, Mod, Ldexp, Floor and the like) are used directly.

func exp(x float64) float64 { return vec.Exp(x) }

func expm1(x float64) float64 { return vec.Expm1(x) }

func Log(x float64) float64 { return vec.Log(x) }

func tanh(x float64) float64 { return vec.Tanh(x) }

// Hypot returns the square root of x^2 + y^2, without overflow or underflow in between. It corrects the root by its
// residual.
func Hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	switch {
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Inf(1)
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN()
	}
	if x < y {
		x, y = y, x
	}
	if y == 0 {
		return x
	}
	e := 0
	if x > 0x1p500 || y < 0x1p-400 {
		_, e = math.Frexp(x)
		x, y = math.Ldexp(x, -e), math.Ldexp(y, -e)
	}
	sum := squares(x, y)
	h := math.Sqrt(sum.hi)
	if h > 0 {
		h += (math.FMA(-h, h, sum.hi) + sum.lo) / float64(2*h)
	}
	return math.Ldexp(h, e)
}
