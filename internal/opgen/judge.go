package opgen

import (
	"fmt"
	"math"
	"math/cmplx"
	"strings"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Epsilon returns the distance from 1 to the next number of a floating-point type, of the parts of a complex one; 0 for
// others.
func Epsilon(d tensor.DType) float64 {
	d = d.Part()
	if !d.IsFloat() {
		return 0
	}
	one := tensor.EncodeFloat(d, 1)
	return tensor.DecodeFloat(d, one+1) - 1
}

// functionLimit returns how many units in the last place engines may be apart on a function: what bounds them elsewhere, too,
// or the limit of the note that explains more. A note whose limit is large, or that has none, is about values far from those of
// random programs, and lets them be apart by randomLimit.
func (p *Program) functionLimit() uint64 {
	op := bare(p.Op)
	column := Column(p.DType)
	limit := (&Row{Op: op}).Bound(column)
	short, _ := strings.CutPrefix(op, "chlo.broadcast_")
	for _, name := range []string{op, "stablehlo." + short, "chlo." + short} {
		if n := NoteOn(Notes(), name, column); n != nil {
			if n.Limit <= smallNote {
				limit = max(limit, n.Limit)
			} else {
				limit = max(limit, randomLimit(short))
			}
		}
	}
	return limit
}

// smallNote is the largest limit of a note that random programs are held to, too: XLA's atanh of f64 is off by 128 ULP near 0.414.
const smallNote = 128

// randomLimit is how far a function of random programs may be off where a note lets it by more: their values are ordinary ones, far from most poles and
// from where exponentials lose digits. 10 was measured at most (complex powers), 14 of lgamma; lgamma and digamma have zeros among ordinary values, where XLA
// loses digits.
func randomLimit(short string) uint64 {
	switch short {
	case "chlo.lgamma", "chlo.digamma", "lgamma", "digamma":
		return 64
	}
	return 16
}

// Verdict is what JudgeRandom says of a program on which the engine and XLA agree but for known deviations of XLA: how
// many elements each explains, by name.
type Verdict map[string]int

// JudgeRandom compares the results of a program made by Random on the embedded engine (a) and on XLA (b). It returns an
// error where they are not as close as the program's rule asks (the same; or apart by no more than the sum of the
// rounding errors of all its terms) in an element that none of Deviations explains, or where the engine is not at what
// the program should give, if it says that. again executes the program on the engine with other arguments; it is asked
// where a deviation has to be proven.
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

// near returns how elements of two results are compared.
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
