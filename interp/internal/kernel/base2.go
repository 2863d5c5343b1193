package kernel

import (
	"math"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/interp/internal/special"
)

// exp2 returns 2**x. It is exact for integers.
func exp2(x float64) float64 {
	n := math.RoundToEven(x)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case n > 1100: // Ldexp overflows or underflows before
		n = 1100
	case n < -1100:
		n = -1100
	}
	return math.Ldexp(vec.Exp(max(min(x-n, 1), -1)*math.Ln2), int(n))
}

// log2 returns the logarithm of x to the base of two. It is exact for powers of two.
func log2(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return vec.Log(x)
	}
	f, e := math.Frexp(x)
	if f < math.Sqrt2/2 { // around 1, the exponent is 0
		f, e = 2*f, e-1
	}
	return float64(e) + vec.Log(f)/math.Ln2
}

func complexExp2(v complex128) complex128 {
	return special.ComplexExp(complex(real(v)*math.Ln2, imag(v)*math.Ln2))
}

func complexLog2(v complex128) complex128 {
	v = special.ComplexLog(v)
	return complex(real(v)/math.Ln2, imag(v)/math.Ln2)
}
