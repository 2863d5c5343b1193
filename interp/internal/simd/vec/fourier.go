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
	if f, lanes := radix4(); f != nil && s%lanes == 0 {
		f(&yr[0], &yi[0], &xr[0], &xi[0], &w[0], m, s)
		return
	}
	radix4Go(yr, yi, xr, xi, w, m, s)
}

// radix4Pass is Radix4 in assembly.
type radix4Pass = func(yr, yi, xr, xi, w *float64, m, s int)

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
