package interp

import "math"

// sincos is math.Sincos with an argument reduction that keeps the digits near multiples of pi/2: pi/2 in three
// parts of 53 bits, subtracted with fused multiply-adds (Cody and Waite). Beyond 2^20 the standard library's
// reduction is used.
func sincos(x float64) (sin, cos float64) {
	if math.Abs(x) < math.Pi/4 || !(math.Abs(x) < 1<<20) {
		return math.Sincos(x)
	}
	const p1, p2, p3 = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
	n := math.RoundToEven(x * (2 / math.Pi))
	t := math.FMA(-n, p1, x)
	w := n * p2
	we := math.FMA(n, p2, -w)
	r := t - w
	lo := ((t - r) - w) - we - n*p3
	s, c := math.Sincos(r)
	s, c = s+lo*c, c-lo*s
	switch int64(n) & 3 {
	case 1:
		s, c = c, -s
	case 2:
		s, c = -s, -c
	case 3:
		s, c = -c, s
	}
	return s, c
}

func sine(x float64) float64 {
	s, _ := sincos(x)
	return s
}

func cosine(x float64) float64 {
	_, c := sincos(x)
	return c
}

func tangent(x float64) float64 {
	s, c := sincos(x)
	return s / c
}
