package special

import (
	"math"
)

// Erf is the error function: a polynomial in x^2 near zero, else 1 - erfc(x).
func Erf(x float64) float64 {
	a := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return x
	case a < 1:
		z := float64(x * x)
		// A minimax polynomial of erf(x)/x - 1.
		p := polynomial(z, 5.957176147748911e-11, -1.1372848856791674e-09, 1.4659775274047436e-08, -1.6350312701054695e-07,
			1.6461000484121368e-06, -1.4925595266831182e-05, 0.0001205533111164271, -0.000854832698083379, 0.0052239776248180145,
			-0.026866170645076792, 0.11283791670954879, -0.3761263890318375, 0.1283791670955126)
		return x + float64(x*p)
	case a > 6:
		return math.Copysign(1, x)
	}
	return math.Copysign(1-erfcTail(a), x)
}

func Erfc(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x < 0.5:
		return 1 - Erf(x)
	case x > 28:
		return 0
	}
	return erfcTail(x)
}

// erfcTail returns erfc(x) for 0.5 <= x <= 28: e^(-x^2)/(1+2x) times a minimax polynomial in (x-4)/(x+4).
func erfcTail(x float64) float64 {
	t := (x - 4) / (x + 4)
	p := polynomial(t, 1.5219277812612269e-09, 2.409489044428507e-09, -1.4704421774400366e-08, -1.9736872590355543e-08,
		1.105584872255078e-07, 7.714626220432877e-08, -8.255322259262831e-07, 2.9184665855580794e-07, 5.709619407460769e-06,
		-1.1221081791490601e-05, -2.439911565558233e-05, 0.00015062138417805605, -0.0001992567302266955, -0.0007577732313710945,
		0.005031969984911938, -0.016197734064788704, 0.03716751553673969, -0.06633036581171674, 0.09373283499839091,
		-0.10103906603632293, 0.06809705425469167, 0.015379652102620016, -0.1396211168405625, 1.2329951186255526)
	h := float64(x * x)
	// Use two steps if the square is large: a denormal result is then rounded only once.
	e := wordExp(word{-h, -math.FMA(x, x, -h)})
	if h < 700 {
		return e * (p / (1 + float64(2*x)))
	}
	e = wordExp(word{600 - h, -math.FMA(x, x, -h)})
	return e * (p / (1 + float64(2*x))) * 2.6503965530043108e-261
}

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
			off = Erf(y) - a
		} else {
			off = (1 - a) - Erfc(y)
		}
		slope := 1.1283791670955126 * exp(-float64(y*y))
		u := off / slope
		y -= u / (1 + float64(y*u))
	}
	return math.Copysign(y, x)
}
