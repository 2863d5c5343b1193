package lapack

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/hlocb/hlocb/tensor"
)

// tridiagonalTarget is jaxlib's solver of tridiagonal systems that may be singular, as
// jax.lax.linalg.tridiagonal_solve(perturb_singular=True) calls it.
const tridiagonalTarget = "tridiagonal_solve_perturbed_ffi"

// solveTridiagonal solves tridiagonal systems by elimination with partial pivoting. A pivot that is smaller than the
// rounding error of the matrix becomes that error, so that a singular system has a large solution instead of NaN. The
// operands are the lower diagonal without its first element, the diagonal, the upper diagonal without its last element,
// all three of length n, and the right-hand sides, n rows each.
func solveTridiagonal(order Order, in, out []*tensor.Tensor) error {
	if len(in) != 4 || len(out) != 1 {
		return fmt.Errorf("%d operands and %d results given, expected 4 and 1", len(in), len(out))
	}
	b, x := in[3], out[0]
	shape, t := b.Shape(), b.DType()
	rank := len(shape)
	fits := rank >= 2 && x.Shape().Equal(shape) && x.DType() == t && (t.IsFloat() || t.IsComplex())
	for _, v := range in[:3] {
		fits = fits && v.Shape().Equal(shape[:rank-1]) && v.DType() == t
	}
	if !fits {
		return fmt.Errorf("the diagonals %v, %v and %v do not fit the right-hand sides %v and the result %v",
			in[0].Shape(), in[1].Shape(), in[2].Shape(), shape, x.Shape())
	}
	n, columns := int(shape[rank-2]), int(shape[rank-1])
	at := func(batch, i, j int) int {
		if order == ColumnMajor {
			return (batch*columns+j)*n + i
		}
		return (batch*n+i)*columns + j
	}
	epsilon := math.Ldexp(1, -23)
	if t == tensor.F64 || t == tensor.Complex128 {
		epsilon = math.Ldexp(1, -52)
	}
	for batch := range int(shape[:rank-2].NumElements()) {
		var lower, diagonal, upper []complex128
		norm := 0.0
		for i := range n {
			l, d, u := number(in[0], batch*n+i), number(in[1], batch*n+i), number(in[2], batch*n+i)
			if i == 0 {
				l = 0
			}
			if i == n-1 {
				u = 0
			}
			norm = max(norm, cmplx.Abs(l), cmplx.Abs(d), cmplx.Abs(u))
			lower, diagonal, upper = append(lower, l), append(diagonal, d), append(upper, u)
		}
		least := epsilon * norm
		if norm == 0 {
			least = epsilon
		}
		right := make([][]complex128, n)
		for i := range right {
			for j := range columns {
				right[i] = append(right[i], number(b, at(batch, i, j)))
			}
		}
		second := make([]complex128, n) // the diagonal above upper, which pivoting fills
		pivot := func(i int) {
			if a := cmplx.Abs(diagonal[i]); a < least {
				if a == 0 {
					diagonal[i] = complex(least, 0)
				} else {
					diagonal[i] *= complex(least/a, 0)
				}
			}
		}
		for i := range n - 1 {
			if cmplx.Abs(lower[i+1]) > cmplx.Abs(diagonal[i]) {
				diagonal[i], lower[i+1] = lower[i+1], diagonal[i]
				upper[i], diagonal[i+1] = diagonal[i+1], upper[i]
				second[i], upper[i+1] = upper[i+1], 0
				right[i], right[i+1] = right[i+1], right[i]
			}
			pivot(i)
			f := lower[i+1] / diagonal[i]
			diagonal[i+1] -= f * upper[i]
			upper[i+1] -= f * second[i]
			for j := range columns {
				right[i+1][j] -= f * right[i][j]
			}
		}
		if n > 0 {
			pivot(n - 1)
		}
		for i := n - 1; i >= 0; i-- {
			for j := range columns {
				v := right[i][j]
				if i+1 < n {
					v -= upper[i] * right[i+1][j]
				}
				if i+2 < n {
					v -= second[i] * right[i+2][j]
				}
				right[i][j] = v / diagonal[i]
				if t.IsComplex() {
					x.SetComplex(at(batch, i, j), right[i][j])
				} else {
					x.SetFloat(at(batch, i, j), real(right[i][j]))
				}
			}
		}
	}
	return nil
}

// number returns an element of a float or complex tensor.
func number(t *tensor.Tensor, i int) complex128 {
	if t.DType().IsComplex() {
		return t.ComplexAt(i)
	}
	return complex(t.FloatAt(i), 0)
}
