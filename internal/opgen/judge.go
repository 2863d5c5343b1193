package opgen

import (
	"fmt"
	"math"
	"math/cmplx"
	"strings"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Epsilon returns the distance from 1 to the next number of a floating-point type, or of the parts of a complex type.
// It returns 0 for other types.
func Epsilon(d tensor.DType) float64 {
	d = d.Part()
	if !d.IsFloat() {
		return 0
	}
	one := tensor.EncodeFloat(d, 1)
	return tensor.DecodeFloat(d, one+1) - 1
}

// functionLimit returns the allowed distance of two engines on a function, in units in the last place. Large bounds
// describe values far from the values of random programs; functionLimit replaces large bounds with randomLimit.
func (p *Program) functionLimit() uint64 {
	bound, _ := BoundOf(p.Op, Column(p.DType))
	if bound.ULP <= smallBound {
		return bound.ULP
	}
	return max(usual[Column(p.DType)], randomLimit(p.Op))
}

// smallBound is the largest bound that also applies to random programs: XLA's atanh of f64 is off by 128 ULP near
// 0.414.
const smallBound = 128

// randomLimit returns the limit for a function of random programs if its bound allows more. Their values are ordinary,
// far from most poles and from the values on which exponentials lose digits. The largest measured distances are 10
// (complex powers) and 14 (lgamma); lgamma and digamma have zeros among ordinary values, near which XLA loses digits.
func randomLimit(op string) uint64 {
	switch strings.TrimPrefix(shortOp(op), "broadcast_") {
	case "lgamma", "digamma":
		return 64
	}
	return 16
}

// Verdict counts, by name, the elements that each known deviation of XLA explains, for a program on which engine and
// XLA otherwise agree.
type Verdict map[string]int

// JudgeRandom compares the results of a program made by Random on the embedded engine (a) and on XLA (b). The program's
// rule requires the same bits, or limits the distance by the rounding errors of all terms. JudgeRandom returns an error
// if an element breaks the rule and no deviation explains it, or if the engine misses the results that the program
// expects. again executes the program on the engine with other arguments, to prove a deviation.
func JudgeRandom(p *Program, a, b []*tensor.Tensor, again func(args []*tensor.Tensor) ([]*tensor.Tensor, error)) (Verdict, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("%d results against %d", len(a), len(b))
	}
	out := Verdict{}
	e := &Element{Program: p, again: again}
	if p.want != nil {
		e.want = p.want(p.Args)
	}
	for k := range a {
		if a[k].DType() != b[k].DType() || !a[k].Shape().Equal(b[k].Shape()) {
			return nil, fmt.Errorf("result %d is %s against %s", k, typeText(a[k].DType(), a[k].Shape()), typeText(b[k].DType(), b[k].Shape()))
		}
		same := p.near(a[k], b[k])
		e.Result, e.Engine, e.XLA = k, a[k], b[k]
		bad, first, what := 0, 0, ""
		for i := range a[k].NumElements() {
			if e.want != nil && !(verify.Tolerance{}).Accepts(a[k], e.want[k], i) {
				return nil, fmt.Errorf("result %d: element %d is %s on the engine, but should be %s", k, i, elementText(a[k], i), elementText(e.want[k], i))
			}
			if same(i) {
				continue
			}
			if e.Index = i; e.explain(out) {
				continue
			}
			if bad++; bad == 1 {
				first, what = i, fmt.Sprintf("%s against %s", elementText(a[k], i), elementText(b[k], i))
			}
		}
		if bad > 0 {
			return nil, fmt.Errorf("result %d: %d of %d elements differ, first at %d: %s", k, bad, a[k].NumElements(), first, what)
		}
	}
	return out, nil
}

// near returns the function that compares element i of two results.
func (p *Program) near(a, b *tensor.Tensor) func(i int) bool {
	switch d := a.DType(); {
	case p.Rule.Exact || !d.IsFloat() && !d.IsComplex():
		return func(i int) bool { return (verify.Tolerance{}).Accepts(a, b, i) }
	case p.Rule.Terms == 0:
		limit := p.functionLimit()
		return func(i int) bool {
			ulp, special, _ := apart(a, b, i)
			return (verify.Tolerance{}).Accepts(a, b, i) || !special && ulp <= limit
		}
	}
	limit := float64(p.Rule.Terms) * Epsilon(a.DType()) * magnitude(p, a)
	return func(i int) bool {
		x, y := at(a, i), at(b, i)
		return x == y || cmplx.IsNaN(x) && cmplx.IsNaN(y) || cmplx.Abs(x-y) <= limit
	}
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
