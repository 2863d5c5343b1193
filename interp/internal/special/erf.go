package special

import (
	"math"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
)

// ErfInv inverts erf with Halley's method, starting from an approximation that is correct to three digits (Winitzki,
// 2008). Near 1 it inverts erfc instead, to use all digits of 1-x.
func ErfInv(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a > 1 || math.IsNaN(x):
		return math.NaN()
	case a == 1:
		return math.Copysign(math.Inf(1), x)
	case a < 0x1p-27:
		return x * 0.886226925452758 // sqrt(pi)/2
	}
	const shape = 0.147
	l := Log(float64((1 - a) * (1 + a)))
	b := 2/(math.Pi*shape) + float64(l/2)
	y := math.Sqrt(math.Sqrt(float64(b*b)-l/shape) - b)
	for range 3 {
		var off float64
		if a < 0.5 {
			off = vec.Erf(y) - a
		} else {
			off = (1 - a) - vec.Erfc(y)
		}
		slope := 1.1283791670955126 * exp(-float64(y*y))
		u := off / slope
		y -= u / (1 + float64(y*u))
	}
	return math.Copysign(y, x)
}
