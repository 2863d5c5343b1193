package algebra

import (
	"math"
	"math/cmplx"

	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/simd/gemm"
	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

// Matrices are computed in float64 or complex128. Each element of the result is rounded once.

// loadMatrix stores elements of t, starting at element at, in out. f holds as many float64s or is nil.
func loadMatrix(out []complex128, t *tensor.Tensor, at int, f []float64) {
	dt := t.DType()
	if dt.IsComplex() {
		kernel.DecodeComplex(dt, out, t, at)
		return
	}
	if f == nil {
		f = make([]float64, len(out))
	}
	f = f[:len(out)]
	kernel.Decode64(dt, f, t, at)
	for i, v := range f {
		out[i] = complex(v, 0)
	}
}

// storeMatrix rounds m into t, starting at element at; see loadMatrix.
func storeMatrix(t *tensor.Tensor, at int, m []complex128, f []float64) {
	dt := t.DType()
	if dt.IsComplex() {
		kernel.EncodeComplex(dt, t, at, m)
		return
	}
	if f == nil {
		f = make([]float64, len(m))
	}
	f = f[:len(m)]
	for i, v := range m {
		f[i] = real(v)
	}
	kernel.Encode64(dt, t, at, f)
}

func squareBatch(t kernel.Type) (batches, n int) {
	rank := len(t.Shape)
	kernel.FailIf(rank < 2 || t.Shape[rank-1] != t.Shape[rank-2] || !t.DType.IsFloat() && !t.DType.IsComplex(),
		"expects square matrices, but got %s", t)
	return int(t.Shape[:rank-2].NumElements()), int(t.Shape[rank-1])
}

func CholeskyKernel(s *kernel.Signature, lower bool) kernel.Kernel {
	kernel.SameShape(s)
	batches, n := squareBatch(s.In[0])
	return kernel.Kernel{Family: "Cholesky", Scratch: (3*16 + 8) * int64(n) * int64(n), Run: func(in, out []*tensor.Tensor) {
		a, l, res, f := make([]complex128, n*n), make([]complex128, n*n), make([]complex128, n*n), make([]float64, n*n)
		for b := range batches {
			loadMatrix(a, in[0], b*n*n, f)
			get := func(i, j int) complex128 { // element of the lower triangle
				if lower {
					return a[i*n+j]
				}
				return cmplx.Conj(a[j*n+i])
			}
			bad := false
			for i := range n {
				for j := 0; j <= i; j++ {
					sum := get(i, j)
					for k := range j {
						sum -= special.Cmul(l[i*n+k], cmplx.Conj(l[j*n+k]))
					}
					if i == j {
						d := real(sum)
						bad = bad || !(d > 0)
						l[i*n+i] = complex(math.Sqrt(d), 0)
					} else {
						l[i*n+j] = sum / l[j*n+j]
					}
				}
			}
			for i := range n {
				for j := 0; j <= i; j++ {
					v := l[i*n+j]
					if bad {
						v = cmplx.NaN()
					}
					if lower {
						res[i*n+j] = v
					} else {
						res[j*n+i] = cmplx.Conj(v)
					}
				}
			}
			storeMatrix(out[0], b*n*n, res, f)
		}
	}}
}

func SolveKernel(s *kernel.Signature, left, lower, unit bool, trans string) kernel.Kernel {
	kernel.FailIf(s.In[0].DType != s.Out[0].DType || !s.In[1].Shape.Equal(s.Out[0].Shape) || len(s.In[1].Shape) < 2,
		"expects a matrix and right-hand sides of the result's type")
	batches, n := squareBatch(s.In[0])
	rank := len(s.In[1].Shape)
	rows, cols := int(s.In[1].Shape[rank-2]), int(s.In[1].Shape[rank-1])
	kernel.FailIf(left && rows != n || !left && cols != n || batches*rows*cols != s.Out[0].N, "cannot solve %s for %s", s.In[0], s.In[1])
	// The unknowns of an equation depend on the unknowns of earlier equations if op(a) is lower triangular; x op(a) = b
	// is op(a)^T x^T = b^T.
	e := equations{batches: batches, n: n, count: rows * cols / max(n, 1), left: left, unit: unit}
	e.transposed = (trans == "TRANSPOSE" || trans == "ADJOINT") == left
	e.forward = lower != e.transposed
	dt := s.In[0].DType
	k := kernel.Kernel{Family: "triangular solve", Scratch: 2*8*int64(n*n+rows*cols) + 8*solveBlock*int64(rows*cols/max(n, 1))}
	if !dt.IsComplex() {
		k.Run = func(in, out []*tensor.Tensor) {
			load := func(x []float64, t *tensor.Tensor, at int) { kernel.Decode64(dt, x, t, at) }
			store := func(t *tensor.Tensor, at int, x []float64) { kernel.Encode64(dt, t, at, x) }
			solveAll(e, in, out[0], load, load, store, solveReal)
		}
		return k
	}
	k.Scratch *= 2
	k.Run = func(in, out []*tensor.Tensor) {
		load := func(x []complex128, t *tensor.Tensor, at int) { kernel.DecodeComplex(dt, x, t, at) }
		conj := func(x []complex128, t *tensor.Tensor, at int) {
			load(x, t, at)
			for i, v := range x {
				x[i] = cmplx.Conj(v)
			}
		}
		if trans != "ADJOINT" {
			conj = load
		}
		store := func(t *tensor.Tensor, at int, x []complex128) { kernel.EncodeComplex(dt, t, at, x) }
		solveAll(e, in, out[0], conj, load, store, solveComplex)
	}
	return k
}

// equations describes batches of n equations in each of count columns.
type equations struct {
	batches, n, count               int
	left, unit, transposed, forward bool
}

// solveAll solves each batch. matrix, load and store convert elements of a tensor, starting at element at: of the
// matrices, the right-hand sides and the result. solve is solveReal or solveComplex.
func solveAll[T float64 | complex128](e equations, in []*tensor.Tensor, out *tensor.Tensor, matrix, load func(x []T, t *tensor.Tensor, at int), store func(t *tensor.Tensor, at int, x []T), solve func(l, y, work []T, n, count int, unit bool)) {
	n, count := e.n, e.count
	a, x, work := make([]T, n*n), make([]T, n*count), make([]T, solveBlock*count)
	// l is the lower triangle and y the right-hand sides, in the order of the equations.
	l, y := a, x
	ordered := e.left && e.forward && !e.transposed
	if !ordered {
		l, y = make([]T, n*n), make([]T, n*count)
	}
	place := func(i int) int {
		if e.forward {
			return i
		}
		return n - 1 - i
	}
	unknown := func(i, v int) *T {
		if e.left {
			return &x[place(i)*count+v]
		}
		return &x[v*n+place(i)]
	}
	for b := range e.batches {
		matrix(a, in[0], b*n*n)
		load(x, in[1], b*n*count)
		if ordered {
			solve(l, y, work, n, count, e.unit)
			store(out, b*n*count, y)
			continue
		}
		for i := range n {
			for j := range i + 1 {
				if e.transposed {
					l[i*n+j] = a[place(j)*n+place(i)]
				} else {
					l[i*n+j] = a[place(i)*n+place(j)]
				}
			}
			for v := range count {
				y[i*count+v] = *unknown(i, v)
			}
		}
		solve(l, y, work, n, count, e.unit)
		for i := range n {
			for v := range count {
				*unknown(i, v) = y[i*count+v]
			}
		}
		store(out, b*n*count, x)
	}
}

// solveComplex solves l y = y for the lower triangle l and the count columns of y.
func solveComplex(l, y, _ []complex128, n, count int, unit bool) {
	for i := range n {
		row := y[i*count : (i+1)*count]
		for j := range i {
			for v, w := range y[j*count : (j+1)*count] {
				row[v] -= special.Cmul(l[i*n+j], w)
			}
		}
		if !unit {
			for v := range row {
				row[v] = special.ComplexDiv(row[v], l[i*n+i])
			}
		}
	}
}

// solveBlock is the number of equations from which solveReal subtracts the earlier unknowns at once.
const solveBlock = 16

// solveReal is solveComplex for reals. It subtracts the unknowns of earlier blocks of equations as a matrix product, in
// work, which holds solveBlock rows.
func solveReal(l, y, work []float64, n, count int, unit bool) {
	kernel.Parallel((count+31)/32, max(1, 1<<18/max(1, 32*n*n)), func(lo, hi int) {
		c0, c1 := lo*32, min(hi*32, count)
		width := c1 - c0
		product := work[solveBlock*c0:]
		for from := 0; from < n; from += solveBlock {
			to := min(from+solveBlock, n)
			if from > 0 {
				gemm.Multiply(gemm.Problem[float64]{C: product, A: l[from*n:], B: y[c0:], M: to - from, N: width, K: from, RowA: n, ColA: 1, RowB: count, ColB: 1, RowC: width})
			}
			for i := from; i < to; i++ {
				row := y[i*count+c0 : i*count+c1]
				if from > 0 {
					for v, w := range product[(i-from)*width:][:width] {
						row[v] -= w
					}
				}
				j := from
				for ; j+1 < i; j += 2 { // two at a time: half the loads and stores of row
					f, g, next := l[i*n+j], l[i*n+j+1], y[(j+1)*count+c0:][:len(row)]
					for v, w := range y[j*count+c0:][:len(row)] {
						row[v] = row[v] - float64(f*w) - float64(g*next[v])
					}
				}
				for ; j < i; j++ {
					f := l[i*n+j]
					for v, w := range y[j*count+c0:][:len(row)] {
						row[v] -= float64(f * w)
					}
				}
				if !unit {
					for v := range row {
						row[v] /= l[i*n+i]
					}
				}
			}
		}
	})
}
