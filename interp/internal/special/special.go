package special

import (
	"math"
)

// Special functions of CHLO on float64. A comment names the method if the standard library lacks the function.

// BesselI1e is exp(-|x|) I1(x). Up to 30 it uses the power series, whose terms are all positive; above 30, the
// asymptotic series.
func BesselI1e(x float64) float64 {
	a := math.Abs(x)
	var v float64
	switch {
	case math.IsNaN(x):
		return x
	case math.IsInf(x, 0):
		return math.Copysign(0, x)
	case a <= 30:
		h := a / 2
		q := h * h
		term, sum := h, h
		for k := 1.0; k < 500; k++ {
			term = float64(term * (q / (k * (k + 1))))
			sum += term
			if term < 1e-18*sum {
				break
			}
		}
		v = sum * exp(-a)
	default:
		term, sum := 1.0, 1.0
		for k := 1.0; k < 60; k++ {
			next := float64(term * -(4 - float64((2*k-1)*(2*k-1))) / (k * 8 * a))
			if math.Abs(next) >= math.Abs(term) || math.Abs(next) < 1e-18 {
				break
			}
			term = next
			sum += term
		}
		v = sum / (math.Sqrt(2*math.Pi) * math.Sqrt(a))
	}
	return math.Copysign(v, x)
}

func Square(x float64) float64 { return float64(x * x) }
