package interp

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/tensor"
)

// Matrices are computed in float64 or complex128. Each element of the result is rounded once.

// matrixOf returns n elements of t, starting at element at, as complex128s.
func matrixOf(t *tensor.Tensor, at, n int) []complex128 {
	out := make([]complex128, n)
	loadMatrix(out, t, at, nil)
	return out
}

// loadMatrix is matrixOf into existing memory: out, and for real tensors f, which holds as many float64s.
func loadMatrix(out []complex128, t *tensor.Tensor, at int, f []float64) {
	dt := t.DType()
	if dt.IsComplex() {
		decodeComplex(dt, out, t, at)
		return
	}
	if f == nil {
		f = make([]float64, len(out))
	}
	f = f[:len(out)]
	decode64(dt, f, t, at)
	for i, v := range f {
		out[i] = complex(v, 0)
	}
}

// storeMatrix rounds m into t, starting at element at; see loadMatrix.
func storeMatrix(t *tensor.Tensor, at int, m []complex128, f []float64) {
	dt := t.DType()
	if dt.IsComplex() {
		encodeComplex(dt, t, at, m)
		return
	}
	if f == nil {
		f = make([]float64, len(m))
	}
	f = f[:len(m)]
	for i, v := range m {
		f[i] = real(v)
	}
	encode64(dt, t, at, f)
}

func squareBatch(t vtype) (batches, n int, err error) {
	rank := len(t.shape)
	if rank < 2 || t.shape[rank-1] != t.shape[rank-2] || !t.dt.IsFloat() && !t.dt.IsComplex() {
		return 0, 0, fmt.Errorf("expects square matrices, but got %s", t)
	}
	return int(t.shape[:rank-2].NumElements()), int(t.shape[rank-1]), nil
}

// makeCholesky compiles cholesky (spec, "cholesky"). The spec does not define the other triangle of the result; here it
// is zero. A matrix that is not positive definite yields NaNs.
func makeCholesky(s *spec) (kernel, error) {
	return choleskyKernel(&s.signature, boolAttr(s.op, stablehlo.AttrLower, false))
}

func choleskyKernel(s *signature, lower bool) (kernel, error) {
	if err := sameShape(s, 1); err != nil {
		return kernel{}, err
	}
	batches, n, err := squareBatch(s.in[0])
	if err != nil {
		return kernel{}, err
	}
	return kernel{scratch: (3*16 + 8) * int64(n) * int64(n), run: func(in, out []*tensor.Tensor) error {
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
						sum -= cmul(l[i*n+k], cmplx.Conj(l[j*n+k]))
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
		return nil
	}}, nil
}

// makeTriangularSolve compiles triangular_solve (spec, "triangular_solve").
func makeTriangularSolve(s *spec) (kernel, error) {
	return solveKernel(&s.signature, boolAttr(s.op, stablehlo.AttrLeftSide, false), boolAttr(s.op, stablehlo.AttrLower, false),
		boolAttr(s.op, stablehlo.AttrUnitDiagonal, false), enumAttr(s.op, stablehlo.AttrTransposeA, "NO_TRANSPOSE"))
}

func solveKernel(s *signature, left, lower, unit bool, trans string) (kernel, error) {
	if len(s.in) != 2 || len(s.out) != 1 || s.in[0].dt != s.out[0].dt || !s.in[1].shape.Equal(s.out[0].shape) || len(s.in[1].shape) < 2 {
		return kernel{}, errors.New("expects a matrix and right-hand sides of the result's type")
	}
	batches, n, err := squareBatch(s.in[0])
	if err != nil {
		return kernel{}, err
	}
	rank := len(s.in[1].shape)
	rows, cols := int(s.in[1].shape[rank-2]), int(s.in[1].shape[rank-1])
	if left && rows != n || !left && cols != n || batches*rows*cols != s.out[0].n {
		return kernel{}, fmt.Errorf("cannot solve %s for %s", s.in[0], s.in[1])
	}
	return kernel{scratch: (16 + 8) * int64(n*n+rows*cols), run: func(in, out []*tensor.Tensor) error {
		a, x, f := make([]complex128, n*n), make([]complex128, rows*cols), make([]float64, max(n*n, rows*cols))
		for b := range batches {
			loadMatrix(a, in[0], b*n*n, f)
			loadMatrix(x, in[1], b*rows*cols, f)
			at := func(i, j int) complex128 { // element of op(a), whose triangle is effLower
				switch trans {
				case "TRANSPOSE":
					return a[j*n+i]
				case "ADJOINT":
					return cmplx.Conj(a[j*n+i])
				}
				return a[i*n+j]
			}
			effLower := lower == (trans != "TRANSPOSE" && trans != "ADJOINT")
			// Rewrite x op(a) = b as op(a)^T x^T = b^T. The coefficient of unknown j in equation i is then at(j, i).
			coef := at
			count, elem := cols, func(v, i int) *complex128 { return &x[i*cols+v] }
			if !left {
				coef = func(i, j int) complex128 { return at(j, i) }
				effLower = !effLower
				count, elem = rows, func(v, i int) *complex128 { return &x[v*cols+i] }
			}
			for v := range count {
				for step := range n {
					i := step
					if !effLower {
						i = n - 1 - step
					}
					sum := *elem(v, i)
					for done := range step {
						j := done
						if !effLower {
							j = n - 1 - done
						}
						sum -= cmul(coef(i, j), *elem(v, j))
					}
					if !unit {
						sum = divide(sum, coef(i, i))
					}
					*elem(v, i) = sum
				}
			}
			storeMatrix(out[0], b*rows*cols, x, f)
		}
		return nil
	}}, nil
}

// divide divides reals as reals, to return correct infinities.
func divide(a, b complex128) complex128 {
	if imag(a) == 0 && imag(b) == 0 {
		return complex(real(a)/real(b), 0)
	}
	return complexDiv(a, b)
}
