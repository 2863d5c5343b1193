package opgen

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Proof counts the elements of an op and column on which the engines are too far apart, or differ in infinities, NaN
// or signs of zeros. Each element needs one of three reasons: a deviation of XLA explains it; the engine is within
// EngineBound of the true value; or no source defines the result.
type Proof struct {
	Beyond    int // all such elements
	Explained int // by a deviation of XLA
	Settled   int // by the true value
	Open      int // neither C99, the specification nor the function's series defines a value
	Unasked   int // above the number of elements to ask about, per kind and program
	Unsettled int // the value is defined, but no source knows it
	Samples   []string
}

func (f *Proof) add(g *Proof) {
	f.Beyond += g.Beyond
	f.Explained += g.Explained
	f.Settled += g.Settled
	f.Open += g.Open
	f.Unasked += g.Unasked
	f.Unsettled += g.Unsettled
}

// text describes the counts.
func (f *Proof) text() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{f.Explained, "%d meet the condition of a deviation of XLA"}, {f.Settled, "of %d the engine has the true value"}, {f.Open, "%d are open"}, {f.Unasked, "%d were not asked about"},
		{f.Unsettled, "nobody says who is right of %d"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf(p.what, p.n))
		}
	}
	return strings.Join(parts, ", ")
}

// tainted reports whether an operand or a result is denormal; XLA may have flushed it.
func tainted(p *Program, a, b *tensor.Tensor, i int) bool {
	return denormalAt(a, i) || denormalAt(b, i) || slices.ContainsFunc(p.Args, func(t *tensor.Tensor) bool { return denormalAt(t, i) })
}

// needProof adds the elements of a program that need a proof to the counts of its column. It returns the unexplained
// elements that the truth must settle: the elements furthest apart, the elements that only one side makes infinite or
// NaN, and the elements whose zeros differ in sign, at most most of each kind.
func (f *Proof) needProof(p *Program, a, b *tensor.Tensor, limit uint64, most int) []int {
	var distant []far
	var special, zeros []int
	e := &Element{Program: p, Engine: a, XLA: b}
	for i := range a.NumElements() {
		if (verify.Tolerance{}).Accepts(a, b, i) || tainted(p, a, b, i) {
			continue
		}
		ulp, s, z := apart(a, b, i)
		if !s && !z && ulp <= limit {
			continue
		}
		f.Beyond++
		if e.Index = i; e.explainedInTable() {
			f.Explained++
			continue
		}
		switch {
		case s:
			special = append(special, i)
		case z:
			zeros = append(zeros, i)
		default:
			distant = append(distant, far{i, ulp})
		}
	}
	rng := rand.New(rand.NewPCG(uint64(a.NumElements()), 6))
	for _, list := range [][]int{special, zeros} {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	out := furthest(distant, most)
	out = append(out, special[:min(most, len(special))]...)
	out = append(out, zeros[:min(most, len(zeros))]...)
	f.Unasked += len(distant) + len(special) + len(zeros) - len(out)
	return out
}

// settle counts the elements that have a true value. The caller checks the engine against it with all other elements.
func (f *Proof) settle(p *Program, a, b *tensor.Tensor, elements []int, truth []Value) {
	for k, i := range elements {
		switch {
		case k < len(truth) && truth[k].Known && !openZero(a, b, i, truth[k]):
			f.Settled++
		case leftOpen(p, a, b, i):
			f.Open++
		default:
			f.Unsettled++
			if len(f.Samples) < 4 {
				f.Samples = append(f.Samples, fmt.Sprintf("%s: engine %s, XLA %s", operandText(p.Args, i), elementText(a, i), elementText(b, i)))
			}
		}
	}
}

// explainedInTable reports whether a deviation of XLA other than denormals explains the element; elements with
// denormals are not compared.
func (e *Element) explainedInTable() bool {
	for _, d := range append(Deviations(), tableDeviations()...) {
		if d.Name != "no denormals" && d.Ops(bare(e.Program.Op)) && d.When(e) {
			return true
		}
	}
	return false
}

// tableDeviations are the deviations that occur only in the programs of all values and edge values.
func tableDeviations() []Deviation {
	return []Deviation{
		{
			Name: "products below the smallest normal number",
			Ops:  ops("multiply"),
			When: func(e *Element) bool {
				if e.Engine.DType() != tensor.BF16 {
					return false
				}
				product := e.value(0) * e.value(1) // exact in f64
				return math.Abs(product) < 0x1p-126 && e.Engine.Bits(e.Index) == tensor.EncodeFloat(tensor.BF16, product) && e.XLA.FloatAt(e.Index) == 0
			},
			Why: "a product just below the smallest normal bf16, which rounds up to it, XLA takes for zero; the engine has the exact product, rounded once",
		},
		{
			Name: "NaN of f4E2M1FN by functions",
			Ops:  ops("acos", "acosh", "asin", "atanh"),
			When: func(e *Element) bool {
				return e.Engine.DType() == tensor.F4E2M1FN && e.Engine.FloatAt(e.Index) == 0 && undefined[shortOp(e.Program.Op)](e.value(0), 0)
			},
			Why: "f4E2M1FN has no NaN: where the function of the reals has no value the engine gives 0, XLA 3 or a zero of the other sign",
		},
		{
			Name: "extrema of complex numbers",
			Ops:  ops("maximum", "minimum"),
			When: func(e *Element) bool {
				if !e.Engine.DType().IsComplex() {
					return false
				}
				x, y := e.Program.Args[0].ComplexAt(e.Index), e.Program.Args[1].ComplexAt(e.Index)
				if cmplx.IsNaN(x) || cmplx.IsNaN(y) || math.IsNaN(real(x)+imag(x)) || math.IsNaN(real(y)+imag(y)) {
					return false
				}
				larger := real(x) > real(y) || real(x) == real(y) && imag(x) > imag(y)
				want := y
				if larger == (shortOp(e.Program.Op) == "maximum") {
					want = x
				}
				return e.Engine.ComplexAt(e.Index) == want
			},
			Why: "the engine has the one that is larger by its real part or, if those are equal, by its imaginary part (specification, \"maximum\")",
		},
	}
}

// openZero reports whether two elements differ only in the sign of zeros, and no source defines this sign.
func openZero(a, b *tensor.Tensor, i int, v Value) bool {
	_, special, zero := apart(a, b, i)
	if special || !zero || !a.DType().IsComplex() {
		return false
	}
	x, y := a.ComplexAt(i), b.ComplexAt(i)
	return math.Signbit(real(x)) != math.Signbit(real(y)) && !v.signed[0] || math.Signbit(imag(x)) != math.Signbit(imag(y)) && !v.signed[1]
}

// leftOpen reports whether neither the specification nor C99 nor the function's series defines an element. These are
// complex functions of infinities and NaN that C99 does not list, and the signs of their zeros; extrema of complex
// numbers with NaN parts; complex powers that overflow or whose angle is above 2^30; atan2 of complex numbers on its
// branch cuts and, if the engine is infinite, at its poles; zeta and polygamma if their series diverge.
func leftOpen(p *Program, a, b *tensor.Tensor, i int) bool {
	op := shortOp(p.Op)
	if p.DType.IsFloat() && (op == "zeta" || op == "polygamma") {
		s, q := p.Args[0].FloatAt(i), p.Args[1].FloatAt(i)
		whole := s == math.Floor(s)
		if op == "polygamma" {
			return s < 0 || !whole || math.IsNaN(q) || math.IsInf(s, 0) || math.IsInf(q, -1) || q <= 0 && q == math.Floor(q)
		}
		return !(s > 1) || math.IsNaN(q) || q <= 0 && (q == math.Floor(q) || !whole || math.IsInf(s, 0))
	}
	if !p.DType.IsComplex() {
		return false
	}
	for _, t := range p.Args {
		if v := t.ComplexAt(i); math.IsNaN(real(v)) || math.IsNaN(imag(v)) || cmplx.IsInf(v) || op == "atan2" && (real(v) == 0 || imag(v) == 0) {
			return true
		}
	}
	if _, special, zero := apart(a, b, i); !special && zero {
		return true
	}
	if op != "power" && op != "atan2" {
		return false
	}
	x, y := p.Args[0].ComplexAt(i), p.Args[1].ComplexAt(i)
	if op == "atan2" {
		if float64(real(x)*real(y)) == -float64(imag(x)*imag(y)) {
			return true // the quotient is imaginary
		}
		return (x == complex(-imag(y), real(y)) || x == complex(imag(y), -real(y))) && cmplx.IsInf(a.ComplexAt(i))
	}
	l := complex(math.Log(math.Hypot(real(x)/2, imag(x)/2))+math.Ln2, math.Atan2(imag(x), real(x)))
	exponent := y * l
	largest := math.Log(math.MaxFloat32)
	if p.DType == tensor.Complex128 {
		largest = math.Log(math.MaxFloat64)
	}
	return x == 0 || !(math.Abs(imag(exponent)) < 1<<29) || real(exponent) > largest-1
}
