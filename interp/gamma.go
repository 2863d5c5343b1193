package interp

import "math"

// lgamma is the logarithm of the modulus of the gamma function: a polynomial about 2, to which the recurrence leads from 1 (where the
// logarithm that is left over has a zero, too) and from below 12; Stirling's series above; the reflection below 0.
func lgamma(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case math.IsInf(x, 0) || x == 0:
		return math.Inf(1)
	case x < 0:
		if x == math.Floor(x) {
			return math.Inf(1)
		}
		if x > -0x1p-60 {
			return -log(-x)
		}
		// |gamma(x) gamma(-x)| = pi / |x sin(pi x)|
		f := math.Abs(x - math.Round(x))
		return log(math.Pi/(-x*sine(math.Pi*f))) - lgamma(-x)
	case x < 0x1p-60:
		return -log(x)
	case x < 0.5:
		return aboutTwo(x) - log1p(x) - log(x)
	case x < 1.5:
		return aboutTwo(x-1) - log1p(x-1)
	case x <= 2.5:
		return aboutTwo(x - 2)
	case x < 12:
		p := 1.0
		for x > 2.5 {
			x--
			p *= x
		}
		return log(p) + aboutTwo(x-2)
	}
	inv := 1 / x
	series := inv * polynomial(inv*inv, 1.0/156, -691.0/360360, 1.0/1188, -1.0/1680, 1.0/1260, -1.0/360, 1.0/12)
	return float64((x-0.5)*(log(x)-1)) + (0.4189385332046727 + float64(series)) // log(2 pi)/2 - 1/2
}

// aboutTwo is lgamma(2+d) for |d| <= 1/2, d times a minimax polynomial.
func aboutTwo(d float64) float64 {
	return float64(d * polynomial(d, -1.3219945666117874e-07, 2.78740805211359e-07, -4.3252393445604814e-07, 9.200527894968101e-07,
		-2.0439048107029907e-06, 4.38470440459836e-06, -9.438715099211532e-06, 2.0505590755833454e-05, -4.49263133791557e-05,
		9.945767355819498e-05, -0.00022315475400520507, 0.0005096695154115458, -0.0011927539118428156, 0.002890510331034267,
		-0.0073855510286719986, 0.02058080842778038, -0.0673523010531981, 0.32246703342411326, 0.42278433509846713))
}
