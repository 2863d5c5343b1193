package special

import (
	"math"
)

// AsinAcosKernel is the common part of CHLO's asin, acos, asinh and acosh of complex numbers (CHLO,
// "_asin_acos_kernel"): asin z = atan2(Re z, Re w) + i sign(Im z) Im w, with Re w = Re sqrt(1 - z^2).
func AsinAcosKernel(z complex128) complex128 {
	x, y := math.Abs(real(z)), math.Abs(imag(z))
	w := ComplexAsin(complex(x, y))
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return complex(math.NaN(), imag(w))
	case x > 1e150 || y > 1e150: // sqrt(1 - z^2) is z rotated by 90 degrees
		return complex(y, imag(w))
	}
	_, _, _, root := hullParts(x, y)
	return complex(root, imag(w))
}
