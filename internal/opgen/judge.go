package opgen

import (
	"fmt"
	"io"
	"math"
	"math/cmplx"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/print"
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

// bound limits the distance of two engines on a function. Random programs have ordinary values, far from most poles and
// from the values on which exponentials lose digits: bounds above 128 do not apply to them. (XLA's atanh of f64 is off
// by 128 ULP near 0.414.) The largest measured distances are 18 (complex powers: XLA's error is 16) and 14 (lgamma);
// lgamma and digamma have zeros among ordinary values, near which XLA loses digits.
func (p *Program) bound() Bound {
	b := *boundOf(p.Op, p.DType)
	switch {
	case p.measured:
		return b
	case b.ULP > 128 && ops("lgamma", "digamma", "power")(bare(p.Op)):
		b.ULP = 64
	case b.ULP > 128:
		b.ULP = 16
	}
	return Bound{ULP: b.ULP, Zero: true}
}

// onOrdinary is the largest distance on ordinary operands, in units in the last place, of functions that have no bound
// or one above 128 on all of their values.
const onOrdinary = 16

// ordinary reports whether the absolute value of each part of each operand of element i is from 1/8 to 8.
func (p *Program) ordinary(i int) bool {
	for _, t := range p.Args {
		z := at(t, i)
		parts := []float64{real(z), imag(z)}
		if !t.DType().IsComplex() {
			parts = parts[:1]
		}
		for _, v := range parts {
			if v = math.Abs(v); !(v >= 1.0/8 && v <= 8) {
				return false
			}
		}
	}
	return true
}

// hasZeros reports whether a function is zero between ordinary operands that no float is. The distance of results below
// 1 is then measured in the last place of 1.
func (p *Program) hasZeros() bool { return ops("lgamma", "digamma")(bare(p.Op)) }

// Verdict counts, by name, the elements that each known deviation of XLA explains, for a program on which engine and
// XLA otherwise agree.
type Verdict map[string]int

// Judge compares the results of a program on the embedded engine (a) and on XLA (b). The program's rule requires the
// same bits, or limits the distance by the rounding errors of all terms, or by the bound of a function. Judge returns
// an error if an element breaks the rule and no deviation explains it, or if the engine misses the results that the
// program expects. again executes the program on the engine with other arguments, to prove a deviation.
func Judge(p *Program, a, b []*tensor.Tensor, again func(args []*tensor.Tensor) ([]*tensor.Tensor, error)) (Verdict, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("%d results against %d", len(a), len(b))
	}
	out := Verdict{}
	var want []*tensor.Tensor
	if p.want != nil {
		want = p.want(p.Args)
	}
	for k := range a {
		if a[k].DType() != b[k].DType() || !a[k].Shape().Equal(b[k].Shape()) {
			return nil, fmt.Errorf("result %d is %s against %s", k, typeText(a[k].DType(), a[k].Shape()), typeText(b[k].DType(), b[k].Shape()))
		}
		same := p.near(a[k], b[k])
		e := &Element{Program: p, Result: k, Engine: a[k], XLA: b[k], want: want, again: again}
		bad, worst, most := 0, 0, uint64(0)
		for i := range a[k].NumElements() {
			if want != nil && !(verify.Tolerance{}).Accepts(a[k], want[k], i) {
				return nil, fmt.Errorf("result %d: element %d is %s on the engine, but should be %s", k, i, elementText(a[k], i), elementText(want[k], i))
			}
			if same(i) {
				continue
			}
			if e.Index = i; e.explain(out) {
				continue
			}
			if ulp, _, _ := apart(a[k], b[k], i); bad == 0 || ulp > most {
				worst, most = i, ulp
			}
			bad++
		}
		if bad > 0 {
			what := elementText(a[k], worst) + " against " + elementText(b[k], worst)
			if p.measured {
				what = Text(p, []*tensor.Tensor{a[k], b[k]}, worst) + " (operands, engine, XLA)"
			}
			return nil, fmt.Errorf("result %d: %d of %d elements differ, most at %d by %d ULP: %s", k, bad, a[k].NumElements(), worst, most, what)
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
		bound := p.bound()
		return func(i int) bool {
			ulp, special, zero := apart(a, b, i)
			bound := bound
			if p.measured && bound.ULP > 128 && p.ordinary(i) {
				bound = Bound{ULP: onOrdinary, Zero: true}
				if near := cmplx.Abs(at(a, i) - at(b, i)); p.hasZeros() && near <= onOrdinary*Epsilon(a.DType()) {
					return true
				}
			}
			switch {
			case (verify.Tolerance{}).Accepts(a, b, i) || p.measured && tainted(p, a, b, i):
				return true
			case special:
				return bound.Special
			case zero:
				return bound.Zero
			}
			return ulp <= bound.ULP
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

// Difference is a random program on which two engines differ.
type Difference struct {
	Number  int // of the program, in the order of generation
	Program *Program
	A, B    []*tensor.Tensor // results
	Why     error            // the error of Judge or of an engine
}

// WriteDifferences writes all differences, each with its module, its arguments and both results.
func WriteDifferences(w io.Writer, list []Difference) {
	for _, d := range list {
		p := d.Program
		fmt.Fprintf(w, "\n== %s on %s, program %d: %v\n%s", p.Op, p.DType, d.Number, d.Why, print.String(p.Run.Module, print.Options{}))
		for i, values := range [][]*tensor.Tensor{p.Args, d.A, d.B} {
			for k, t := range values {
				fmt.Fprintf(w, "%s %d %s:", []string{"argument", "engine", "XLA"}[i], k, typeText(t.DType(), t.Shape()))
				for e := range min(t.NumElements(), 400) {
					fmt.Fprint(w, " ", elementText(t, e))
				}
				fmt.Fprintln(w)
			}
		}
	}
}

// Text formats element i of the operands and results of an element-wise program.
func Text(p *Program, results []*tensor.Tensor, i int) string {
	var parts []string
	for _, t := range append(p.Args[:len(p.Args):len(p.Args)], results...) {
		parts = append(parts, elementText(t, i))
	}
	return strings.Join(parts, ", ")
}

// elementText formats element i of a tensor.
func elementText(t *tensor.Tensor, i int) string {
	switch d := t.DType(); {
	case d == tensor.Complex64:
		return fmt.Sprint(complex64(t.ComplexAt(i)))
	case d.IsComplex():
		return fmt.Sprint(t.ComplexAt(i))
	case d.IsFloat():
		return fmt.Sprint(t.FloatAt(i))
	}
	return fmt.Sprint(t.IntAt(i))
}

// flushes reports whether a denormal of the type is denormal in the arithmetic of XLA's CPU code, which computes the
// narrower types in f32. f16 is the exception: its denormals are normal in f32.
func flushes(d tensor.DType) bool {
	switch d {
	case tensor.BF16, tensor.F32, tensor.F64, tensor.Complex64, tensor.Complex128, tensor.F8E8M0FNU:
		return true
	}
	return false
}

// denormalAt reports whether an element is denormal, and of a type that XLA flushes.
func denormalAt(t *tensor.Tensor, i int) bool {
	z := at(t, i)
	for _, v := range []float64{real(z), imag(z)} {
		if v != 0 && withoutDenormal(t.DType(), v) != v && !math.IsNaN(v) {
			return true
		}
	}
	return false
}

// tainted reports whether an operand or a result is denormal; XLA may have flushed it.
func tainted(p *Program, a, b *tensor.Tensor, i int) bool {
	return denormalAt(a, i) || denormalAt(b, i) || slices.ContainsFunc(p.Args, func(t *tensor.Tensor) bool { return denormalAt(t, i) })
}

// Crashes reports whether a program crashes XLA's CPU plugin. The plugin should refuse such a program.
func Crashes(p *Program) bool { return p.DType.IsComplex() && bare(p.Op) == "stablehlo.remainder" }

// apart returns the distance of two elements that differ. special means that only one side is infinite or NaN. zero
// means that only the signs of zeros differ.
func apart(a, b *tensor.Tensor, i int) (ulp uint64, special, zero bool) {
	d, x, y := a.DType(), at(a, i), at(b, i)
	special = !(cmplx.Abs(x) <= math.MaxFloat64 && cmplx.Abs(y) <= math.MaxFloat64)
	switch {
	case !d.IsComplex():
		ulp = tensor.Distance(a, b, i)
		return ulp, d.IsFloat() && special, ulp == 0
	case special, x == y:
		return 0, special, !special
	}
	_, e := math.Frexp(max(cmplx.Abs(x), cmplx.Abs(y)))
	return uint64(math.Ceil(cmplx.Abs(x-y) / math.Ldexp(Epsilon(d), e-1))), false, false
}
