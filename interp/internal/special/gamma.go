package special

import "math"

// The logarithm of the gamma function and its derivatives. On the negative axis each is a difference of two terms,
// which cancel next to a zero. The functions lose digits there, as in XLA.

// Lgamma returns the logarithm of the modulus of the gamma function. It uses polynomials about the zeros at 1 and 2,
// which the recurrence extends down to 0 and up to 12; Stirling's series above 12; and the reflection formula below 0.
func Lgamma(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case math.IsInf(x, 0) || x == 0:
		return math.Inf(1)
	case x < 0:
		return lgammaNegative(x)
	case x < 0x1p-60:
		return -Log(x)
	case x < 0.75:
		d, p := x-1, x
		if x < 0.5 {
			d, p = x, x*(1+x)
		}
		return aboutTwo(d) - Log(p)
	case x < 1.5:
		return float64((1 - x) * -polynomial(x-1.125, -0.005984776659115886, 0.007022022163502789, -0.0034151537071772146, 0.004044913719284684,
			-0.006505100479452842, 0.007718401079069206, -0.00884475083801441, 0.01056892738492814, -0.012721270290297881, 0.015326703508536564,
			-0.01855659652398215, 0.02260565229949696, -0.02773339828544845, 0.03431576138899791, -0.04291278228375871, 0.054398365936347115,
			-0.07022575728644434, 0.0930276677810083, -0.12817371733732963, 0.18866417564908533, -0.31580604164541703, 0.7335424776996944, -0.48018547300831665))
	case x <= 2.5:
		return aboutTwo(x - 2)
	case x < 12:
		p := 1.0
		for x > 2.5 {
			x--
			p *= x
		}
		return Log(p) + aboutTwo(x-2)
	}
	inv := 1 / x
	series := inv * polynomial(inv*inv, 1.0/156, -691.0/360360, 1.0/1188, -1.0/1680, 1.0/1260, -1.0/360, 1.0/12)
	return float64((x-0.5)*(Log(x)-1)) + (0.4189385332046727 + float64(series)) // log(2 pi)/2 - 1/2
}

// lgammaNegative returns lgamma(x) for x < 0.
func lgammaNegative(x float64) float64 {
	if x == math.Floor(x) {
		return math.Inf(1)
	}
	if x > -0x1p-60 {
		return -Log(-x)
	}
	// |gamma(x) gamma(-x)| = pi / |x sin(pi x)|
	f := math.Abs(x - math.Round(x))
	return Log(math.Pi/(-x*Sine(math.Pi*f))) - Lgamma(-x)
}

// aboutTwo returns lgamma(2+d) for |d| <= 1/2: d times a minimax polynomial.
func aboutTwo(d float64) float64 {
	return float64(d * polynomial(d, -1.3219945666117874e-07, 2.78740805211359e-07, -4.3252393445604814e-07, 9.200527894968101e-07,
		-2.0439048107029907e-06, 4.38470440459836e-06, -9.438715099211532e-06, 2.0505590755833454e-05, -4.49263133791557e-05,
		9.945767355819498e-05, -0.00022315475400520507, 0.0005096695154115458, -0.0011927539118428156, 0.002890510331034267,
		-0.0073855510286719986, 0.02058080842778038, -0.0673523010531981, 0.32246703342411326, 0.42278433509846713))
}

// Digamma returns the derivative of log gamma. On [1, 2] it is the distance from its root times a polynomial, which the
// recurrence extends to arguments from 0 to 12. Above 12 it is the asymptotic series in 1/x^2 with Bernoulli numbers,
// below 0 the reflection formula. Poles, at the integers <= 0, are NaN.
func Digamma(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, -1):
		return math.NaN()
	case math.IsInf(x, 1):
		return x
	case x < 0:
		return digammaNegative(x)
	case x == 0:
		return math.NaN()
	case x < 1:
		return aboutRoot(x+1) - 1/x
	case x < 12:
		sum := 0.0
		for x > 2 {
			x--
			sum += 1 / x
		}
		return sum + aboutRoot(x)
	}
	inv := 1 / float64(x*x)
	series := inv * polynomial(inv, 1.0/12, -691.0/32760, 1.0/132, -1.0/240, 1.0/252, -1.0/120, 1.0/12)
	return Log(x) - (0.5/x + float64(series))
}

func digammaNegative(x float64) float64 {
	if x == math.Floor(x) {
		return math.NaN()
	}
	// psi(1-x) - pi cot(pi x); only the fraction of x enters the cotangent.
	f := x - math.Round(x)
	a, b := Digamma(1-x), 0.0
	if math.Abs(f) < 0.25 {
		b = math.Pi / Tangent(math.Pi*f)
	} else {
		b = math.Copysign(math.Pi*Tangent(math.Pi*(0.5-math.Abs(f))), f)
	}
	return a - b
}

// aboutRoot returns digamma(x) on [1, 2]: a minimax polynomial times the distance from the root. The root is stored in
// two parts.
func aboutRoot(x float64) float64 {
	const rootHigh, rootLow = 1.4616321449683622, 9.549995429965697e-17
	d := (x - rootHigh) - rootLow
	return float64(d * polynomial(x-1.5, -8.153978973309418e-05, 0.00012230983055406747, -6.11554261750751e-05, 9.173383289174792e-05,
		-0.0002178682145501451, 0.0003268068044141764, -0.0004599625144612576, 0.0006899717801166841, -0.001042261556504223,
		0.0015635679757533885, -0.002344650082351321, 0.0035180800751066694, -0.00528001782089874, 0.007927024067961237,
		-0.011908215172584002, 0.017907248195969127, -0.02697579684427536, 0.04076083394462657, -0.06192213327165706, 0.09498872445283,
		-0.14840492305391761, 0.24054248424078736, -0.42362742128146047, 0.9510558760318328))
}
