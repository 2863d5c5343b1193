package vec

// Radix4 computes a pass of a Fourier transform by Stockham's algorithm. x holds 4m groups of s elements, as real and
// imaginary parts. For each p < m it transforms the groups p, p+m, p+2m and p+3m, multiplies element k by the power
// w[p][k-1] of a root of unity (real and imaginary part; 1 for k = 0), and writes them to the groups 4p to 4p+3 of y.
func Radix4(yr, yi, xr, xi, w []float64, m, s int) {
	if m <= 0 || s <= 0 {
		return
	}
	n := 4 * m * s
	yr, yi, xr, xi, w = yr[:n], yi[:n], xr[:n], xi[:n], w[:6*m]
	if f := fourier(); f.lanes > 0 && s%f.lanes == 0 {
		f.radix4(&yr[0], &yi[0], &xr[0], &xi[0], &w[0], m, s)
		return
	}
	radix4Go(yr, yi, xr, xi, w, m, s)
}

// fourierLoops holds the functions of this file in assembly, and the lanes of their vectors. Without assembly the
// number of lanes is 0.
type fourierLoops struct {
	lanes       int
	radix4      func(yr, yi, xr, xi, w *float64, m, s int)
	untangle    func(lowR, lowI, highR, highI, w *float64, m, s int)
	split, join func(re, im *float64, x *float32, n int)
}

func radix4Go(yr, yi, xr, xi, w []float64, m, s int) {
	for p := range m {
		f := w[6*p:][:6]
		for q := range s {
			i, o := p*s+q, 4*p*s+q
			ar, br, cr, dr := xr[i], xr[i+m*s], xr[i+2*m*s], xr[i+3*m*s]
			ai, bi, ci, di := xi[i], xi[i+m*s], xi[i+2*m*s], xi[i+3*m*s]
			sr, si, tr, ti := ar+cr, ai+ci, br+dr, bi+di
			ur, ui, vr, vi := ar-cr, ai-ci, br-dr, bi-di
			yr[o], yi[o] = sr+tr, si+ti
			for k, y := range [3][2]float64{{ur + vi, ui - vr}, {sr - tr, si - ti}, {ur - vi, ui + vr}} {
				o += s
				yr[o] = float64(y[0]*f[2*k]) - float64(y[1]*f[2*k+1])
				yi[o] = float64(y[0]*f[2*k+1]) + float64(y[1]*f[2*k])
			}
		}
	}
}

// Untangle converts, in place, the transform of h complex elements into elements 1 to h-1 of the transform of 2h reals.
// The reals were the parts of the complex elements. An element is a group of s numbers each for the real and the
// imaginary part. w holds a scale c and then, for k from 1 to h/2, c times the power k of the root of unity; c is 1/2.
// The caller computes elements 0 and h: the sum and the difference of the parts of group 0. With c = 1 and the real
// parts of the powers negated, Untangle is the inverse, twice as large, and the caller computes group 0.
func Untangle(re, im, w []float64, h, s int) {
	m := h / 2
	if m == 0 || s == 0 {
		return
	}
	re, im, w = re[:h*s], im[:h*s], w[:2*m+1]
	last := (h - 1) * s
	if f := fourier(); f.lanes > 0 && s%f.lanes == 0 {
		f.untangle(&re[s], &im[s], &re[last], &im[last], &w[0], m, s)
		return
	}
	untangleGo(re, im, w, h, s)
}

func untangleGo(re, im, w []float64, h, s int) {
	c := w[0]
	for k := 1; k <= h/2; k++ {
		wr, wi := w[2*k-1], w[2*k]
		for q := range s {
			i, j := k*s+q, (h-k)*s+q
			er, ei := float64((re[i]+re[j])*c), float64((im[i]-im[j])*c)
			dr, di := re[i]-re[j], im[i]+im[j]
			or, oi := float64(wr*di)+float64(wi*dr), float64(wi*di)-float64(wr*dr)
			re[j], im[j] = er-or, oi-ei
			re[i], im[i] = er+or, ei+oi
		}
	}
}

// SplitRows widens rows of 8 elements of x, in turn to re and to im.
func SplitRows(re, im []float64, x []float32) {
	re, im = re[:len(x)/2], im[:len(x)/2]
	if f := fourier(); f.lanes > 0 && len(x) >= 16 {
		f.split(&re[0], &im[0], &x[0], len(x)/16)
		return
	}
	splitGo(re, im, x)
}

func splitGo(re, im []float64, x []float32) {
	for i := range re {
		at := i/8*16 + i%8
		re[i], im[i] = float64(x[at]), float64(x[at+8])
	}
}

// JoinRows rounds rows of 8 elements, in turn from re and from im, to x.
func JoinRows(x []float32, re, im []float64) {
	re, im = re[:len(x)/2], im[:len(x)/2]
	if f := fourier(); f.lanes > 0 && len(x) >= 16 {
		f.join(&re[0], &im[0], &x[0], len(x)/16)
		return
	}
	joinGo(x, re, im)
}

func joinGo(x []float32, re, im []float64) {
	for i := range re {
		at := i/8*16 + i%8
		x[at], x[at+8] = float32(re[i]), float32(im[i])
	}
}
