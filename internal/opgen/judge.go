package opgen

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Epsilon returns the distance from 1 to the next number of a floating-point type, of the parts of a complex one; 0 for
// others.
func Epsilon(d tensor.DType) float64 {
	if d.IsComplex() {
		d = verify.PartType(d)
	}
	if !d.IsFloat() {
		return 0
	}
	one := tensor.EncodeFloat(d, 1)
	return tensor.DecodeFloat(d, one+1) - 1
}

// JudgeRandom compares the results of a program made by Random on two engines. It returns nil where they are as close as
// the program's rule asks: the same, or apart by no more than the sum of the rounding errors of all its terms.
func JudgeRandom(p *Program, a, b []*tensor.Tensor) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d results against %d", len(a), len(b))
	}
	for k := range a {
		if p.Rule.Exact {
			if c := verify.Compare(a[k], b[k], verify.Tolerance{}); !c.Equal() {
				return fmt.Errorf("result %d: %s", k, c.Summary())
			}
			continue
		}
		if a[k].DType() != b[k].DType() || !a[k].Shape().Equal(b[k].Shape()) {
			return fmt.Errorf("result %d is of another type", k)
		}
		limit := float64(p.Rule.Terms) * Epsilon(a[k].DType()) * magnitude(p, a[k])
		for i := range a[k].NumElements() {
			x, y := at(a[k], i), at(b[k], i)
			if x == y || cmplx.IsNaN(x) && cmplx.IsNaN(y) {
				continue
			}
			if !(cmplx.Abs(x-y) <= limit) {
				return fmt.Errorf("result %d differs at element %d: %v against %v, more than %g apart", k, i, x, y, limit)
			}
		}
	}
	return nil
}

func at(t *tensor.Tensor, i int) complex128 {
	if t.DType().IsComplex() {
		return t.ComplexAt(i)
	}
	return complex(t.FloatAt(i), 0)
}

// magnitude bounds the size of one term: the largest result, or the product of the largest elements of the arguments
// that have the result's type.
func magnitude(p *Program, result *tensor.Tensor) float64 {
	biggest := func(t *tensor.Tensor) float64 {
		m := 0.0
		for i := range t.NumElements() {
			if v := cmplx.Abs(at(t, i)); !math.IsInf(v, 0) && !math.IsNaN(v) {
				m = max(m, v)
			}
		}
		return m
	}
	product := 1.0
	for _, t := range p.Args {
		if t.DType() == result.DType() || t.DType().IsFloat() {
			product *= max(1, biggest(t))
		}
	}
	return max(product, biggest(result))
}
