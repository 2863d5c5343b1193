package special

import (
	"math"
	"testing"
)

// TestSineNearMultiplesOfPi: the sine of a number next to a multiple of pi is the distance between the two.
func TestSineNearMultiplesOfPi(t *testing.T) {
	const piLow = 1.2246467991473532e-16 // pi - math.Pi
	if got := Sine(math.Pi); got != piLow {
		t.Errorf("sin(float64(pi)) = %v, want %v", got, piLow)
	}
	// 2^1000 and the largest float64: values from the argument reduction literature (Ng, 1992: 10^22).
	if got, want := Sine(1e22), -0.8522008497671888; math.Abs(got-want) > 2e-16 {
		t.Errorf("sin(1e22) = %v, want %v", got, want)
	}
	if got, want := Sine(math.MaxFloat64), 0.004961954789184062; math.Abs(got-want) > 1e-18 {
		t.Errorf("sin(max) = %v, want %v", got, want)
	}
	for x := 1.0; x < 1e6; x *= 1.7 {
		s, c := Sincos(x)
		if math.Abs(s*s+c*c-1) > 4e-16 || math.Abs(s-math.Sin(x)) > 1e-15 {
			t.Errorf("sincos(%v) = %v, %v", x, s, c)
		}
	}
}
