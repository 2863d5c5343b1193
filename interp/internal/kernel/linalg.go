package kernel

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/hlocb/hlocb/interp/internal/special"
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
	Decode64(dt, f, t, at)
	for i, v := range f {
		out[i] = complex(v, 0)
	}
}

// storeMatrix rounds m into t, starting at element at; see loadMatrix.
func storeMatrix(t *tensor.Tensor, at int, m []complex128, f []float64) {
	dt := t.DType()
	if dt.IsComplex() {
		EncodeComplex(dt, t, at, m)
		return
	}
	if f == nil {
		f = make([]float64, len(m))
	}
	f = f[:len(m)]
	for i, v := range m {
		f[i] = real(v)
	}
	Encode64(dt, t, at, f)
}

func squareBatch(t Type) (batches, n int, err error) {
	rank := len(t.Shape)
	if rank < 2 || t.Shape[rank-1] != t.Shape[rank-2] || !t.DType.IsFloat() && !t.DType.IsComplex() {
		return 0, 0, fmt.Errorf("expects square matrices, but got %s", t)
	}
	return int(t.Shape[:rank-2].NumElements()), int(t.Shape[rank-1]), nil
}

func CholeskyKernel(s *Signature, lower bool) (Kernel, error) {
	if err := SameShape(s, 1); err != nil {
		return Kernel{}, err
	}
	batches, n, err := squareBatch(s.In[0])
	if err != nil {
		return Kernel{}, err
	}
	return Kernel{Family: "Cholesky", Scratch: (3*16 + 8) * int64(n) * int64(n), Run: func(in, out []*tensor.Tensor) error {
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
		return nil
	}}, nil
}

func SolveKernel(s *Signature, left, lower, unit bool, trans string) (Kernel, error) {
	if len(s.In) != 2 || len(s.Out) != 1 || s.In[0].DType != s.Out[0].DType || !s.In[1].Shape.Equal(s.Out[0].Shape) || len(s.In[1].Shape) < 2 {
		return Kernel{}, errors.New("expects a matrix and right-hand sides of the result's type")
	}
	batches, n, err := squareBatch(s.In[0])
	if err != nil {
		return Kernel{}, err
	}
	rank := len(s.In[1].Shape)
	rows, cols := int(s.In[1].Shape[rank-2]), int(s.In[1].Shape[rank-1])
	if left && rows != n || !left && cols != n || batches*rows*cols != s.Out[0].N {
		return Kernel{}, fmt.Errorf("cannot solve %s for %s", s.In[0], s.In[1])
	}
	return Kernel{Family: "triangular solve", Scratch: (16 + 8) * int64(n*n+rows*cols), Run: func(in, out []*tensor.Tensor) error {
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
						sum -= special.Cmul(coef(i, j), *elem(v, j))
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
	return special.ComplexDiv(a, b)
}
