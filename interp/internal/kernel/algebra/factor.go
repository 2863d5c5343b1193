package algebra

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

// The factorizations below are XLA's: its custom calls of these names have the same results, signs included.

// matrices checks that t holds matrices of floats, and returns their number and their dimensions.
func matrices(t kernel.Type) (batches, m, n int) {
	rank := len(t.Shape)
	kernel.FailIf(rank < 2 || !t.DType.IsFloat() && !t.DType.IsComplex(), "expects matrices of floats or complex numbers, but got %s", t)
	return int(t.Shape[:rank-2].NumElements()), int(t.Shape[rank-2]), int(t.Shape[rank-1])
}

// counts checks the numbers of a call's operands and results.
func counts(s *kernel.Signature, in, out int) {
	kernel.FailIf(len(s.In) != in || len(s.Out) != out, "expects %d operands and %d results, but has %d and %d", in, out, len(s.In), len(s.Out))
}

// QRKernel factors matrices: R is the upper triangle of the first result, the reflectors are below it, and the second
// result holds their scales.
func QRKernel(s *kernel.Signature) kernel.Kernel {
	counts(s, 1, 2)
	batches, m, n := matrices(s.In[0])
	k := min(m, n)
	kernel.FailIf(s.Out[0].DType != s.In[0].DType || !s.Out[0].Shape.Equal(s.In[0].Shape) || s.Out[1].DType != s.In[0].DType || s.Out[1].N != batches*k,
		"expects results of the operand's type and of %d scales, but has %s and %s", k, s.Out[0], s.Out[1])
	return kernel.Kernel{Family: "QR", Scratch: 16 * int64(m*n+k), Run: func(in, out []*tensor.Tensor) {
		a, taus := make([]complex128, m*n), make([]complex128, k)
		for b := range batches {
			loadMatrix(a, in[0], b*m*n, nil)
			for j := range k {
				taus[j] = reflect(a, m, n, j)
			}
			storeMatrix(out[0], b*m*n, a, nil)
			storeMatrix(out[1], b*k, taus, nil)
		}
	}}
}

// reflect stores the reflector of column j below its diagonal, applies it to the columns after j, and returns its
// scale.
func reflect(a []complex128, m, n, j int) complex128 {
	alpha, norm := a[j*n+j], 0.0
	for i := j + 1; i < m; i++ {
		norm = special.Hypot(norm, special.ComplexAbs(a[i*n+j]))
	}
	if norm == 0 && imag(alpha) == 0 {
		return 0
	}
	beta := special.Hypot(special.ComplexAbs(alpha), norm)
	if real(alpha) >= 0 {
		beta = -beta
	}
	tau := special.ComplexDiv(complex(beta, 0)-alpha, complex(beta, 0))
	for i := j + 1; i < m; i++ {
		a[i*n+j] = special.ComplexDiv(a[i*n+j], alpha-complex(beta, 0))
	}
	a[j*n+j] = complex(beta, 0)
	for c := j + 1; c < n; c++ {
		applyReflector(a, m, n, j, c, a, n, cmplx.Conj(tau))
	}
	return tau
}

// applyReflector subtracts tau v (v* x) from column c of x, which has columns columns. Column j of a holds v.
func applyReflector(a []complex128, m, n, j, c int, x []complex128, columns int, tau complex128) {
	sum := x[j*columns+c]
	for i := j + 1; i < m; i++ {
		sum += special.Cmul(cmplx.Conj(a[i*n+j]), x[i*columns+c])
	}
	sum = special.Cmul(sum, tau)
	x[j*columns+c] -= sum
	for i := j + 1; i < m; i++ {
		x[i*columns+c] -= special.Cmul(a[i*n+j], sum)
	}
}

// ReflectorsKernel multiplies reflectors, as QRKernel returns them, to the first columns of the matrix Q.
func ReflectorsKernel(s *kernel.Signature) kernel.Kernel {
	counts(s, 2, 1)
	batches, m, n := matrices(s.In[0])
	k := 0
	if r := len(s.In[1].Shape); r > 0 {
		k = int(s.In[1].Shape[r-1])
	}
	kernel.FailIf(s.Out[0].DType != s.In[0].DType || !s.Out[0].Shape.Equal(s.In[0].Shape) || s.In[1].DType != s.In[0].DType || s.In[1].N != batches*k || k > n || n > m,
		"expects matrices with at least as many rows as columns and as many columns as scales, but got %s and %s", s.In[0], s.In[1])
	return kernel.Kernel{Family: "product of reflectors", Scratch: 16 * int64(2*m*n+k), Run: func(in, out []*tensor.Tensor) {
		a, q, taus := make([]complex128, m*n), make([]complex128, m*n), make([]complex128, k)
		for b := range batches {
			loadMatrix(a, in[0], b*m*n, nil)
			loadMatrix(taus, in[1], b*k, nil)
			clear(q)
			for i := range n {
				q[i*n+i] = 1
			}
			for j := k - 1; j >= 0; j-- {
				for c := j; c < n; c++ {
					applyReflector(a, m, n, j, c, q, n, taus[j])
				}
			}
			storeMatrix(out[0], b*m*n, q, nil)
		}
	}}
}

// EigenOptions are the numbers in the configuration of XLA's call Eigh.
type EigenOptions struct {
	Lower, Sort bool
	Sweeps      int     // at most
	Tolerance   float64 // of the elements outside the diagonal, relative to all
}

// EigenKernel computes the eigenvectors and eigenvalues of Hermitian matrices by Jacobi rotations in XLA's order.
func EigenKernel(s *kernel.Signature, o EigenOptions) kernel.Kernel {
	counts(s, 1, 2)
	batches, n := squareBatch(s.In[0])
	kernel.FailIf(s.Out[0].DType != s.In[0].DType || !s.Out[0].Shape.Equal(s.In[0].Shape) || s.Out[1].N != batches*n || s.Out[1].DType != s.In[0].DType.Part(),
		"expects results of the operand's type and of %d real numbers, but has %s and %s", n, s.Out[0], s.Out[1])
	return kernel.Kernel{Family: "eigenvectors", Scratch: 5 * 16 * int64(n+1) * int64(n+1), Run: func(in, out []*tensor.Tensor) {
		a, values := make([]complex128, n*n), make([]complex128, n)
		for b := range batches {
			loadMatrix(a, in[0], b*n*n, nil)
			eigen(a, values, n, o)
			storeMatrix(out[0], b*n*n, a, nil)
			for i, v := range values {
				out[1].SetFloat(b*n+i, real(v))
			}
		}
	}}
}

// eigen replaces a by its eigenvectors. Each round rotates rows i and i+k, and columns, for all i at once, and then
// permutes rows and columns, as in a tournament: after 2k-1 rounds, a sweep, each pair met once.
func eigen(a, values []complex128, n int, o EigenOptions) {
	k := (n + 1) / 2
	size := 2 * k
	w, v := make([]complex128, size*size), make([]complex128, size*size)
	for i := range n {
		for j := range i {
			x := a[i*n+j]
			if !o.Lower {
				x = cmplx.Conj(a[j*n+i])
			}
			w[i*size+j], w[j*size+i] = x, cmplx.Conj(x)
		}
		w[i*size+i] = complex(real(a[i*n+i]), 0)
	}
	for i := range size {
		v[i*size+i] = 1
	}
	from := make([]int, size) // the row that moves to each row
	for i := range k {
		from[i], from[k+i] = i-1, k+i+1
	}
	if size > 0 {
		from[0], from[size-1] = 0, k-1
	}
	switch {
	case k == 1:
		from[1] = 1
	case k > 1:
		from[1] = k
	}
	next := make([]complex128, size*size)
	permuteRows := func(x []complex128) {
		for i, f := range from {
			copy(next[i*size:(i+1)*size], x[f*size:(f+1)*size])
		}
		copy(x, next)
	}
	for sweep := 0; n > 1 && sweep < o.Sweeps && !diagonal(w, size, o.Tolerance); sweep++ {
		for range size - 1 {
			for i := range k {
				rotate(w, v, size, i, i+k)
			}
			permuteRows(w)
			permuteRows(v)
			for i := range size {
				for j, f := range from {
					next[i*size+j] = w[i*size+f]
				}
			}
			copy(w, next)
		}
	}
	order := make([]int, n)
	for i := range n {
		order[i] = i
	}
	if o.Sort {
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(real(w[i*size+i]), real(w[j*size+j])) })
	}
	for j, f := range order {
		values[j] = w[f*size+f]
		for i := range n {
			a[i*n+j] = cmplx.Conj(v[f*size+i])
		}
	}
}

// diagonal reports whether the elements outside the diagonal are small enough.
func diagonal(w []complex128, size int, tolerance float64) bool {
	all, outside := 0.0, 0.0
	for i, x := range w {
		sq := float64(real(x)*real(x)) + float64(imag(x)*imag(x))
		all += sq
		if i%(size+1) != 0 {
			outside += sq
		}
	}
	return !(all*tolerance*tolerance < outside)
}

// rotate makes the elements p, q and q, p of w zero, and applies the rotation to the rows of v.
func rotate(w, v []complex128, size, p, q int) {
	pp, pq, qq := real(w[p*size+p]), w[p*size+q], real(w[q*size+q])
	abs, phase := real(pq), complex(1, 0)
	if imag(pq) != 0 {
		abs = special.ComplexAbs(pq)
		phase = special.ComplexDiv(cmplx.Conj(pq), complex(abs, 0))
	}
	t := 0.0
	if math.Abs(abs) > 1e-6 {
		tau := (qq - pp) / (2 * abs)
		root := math.Sqrt(1 + float64(tau*tau))
		if tau < 0 {
			root = -root
		}
		t = 1 / (tau + root)
	}
	c := complex(1/math.Sqrt(1+float64(t*t)), 0)
	s := special.Cmul(complex(t*real(c), 0), phase)
	rows := func(x []complex128) {
		for j := range size {
			x1, x2 := x[p*size+j], x[q*size+j]
			x[p*size+j], x[q*size+j] = special.Cmul(x1, c)-special.Cmul(x2, cmplx.Conj(s)), special.Cmul(x1, s)+special.Cmul(x2, c)
		}
	}
	rows(w)
	rows(v)
	for i := range size {
		x1, x2 := w[i*size+p], w[i*size+q]
		w[i*size+p], w[i*size+q] = special.Cmul(x1, c)-special.Cmul(x2, s), special.Cmul(x1, cmplx.Conj(s))+special.Cmul(x2, c)
	}
	shift := float64(t * abs)
	w[p*size+p], w[p*size+q], w[q*size+p], w[q*size+q] = complex(pp-shift, 0), 0, 0, complex(qq+shift, 0)
}
