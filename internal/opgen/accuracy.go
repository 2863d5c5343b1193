package opgen

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/tensor"
)

// Accuracy records how far two engines are from the true values of a function, for one op and one column of types.
type Accuracy struct {
	Asked      int
	ULP        [2]float64 // the largest error of each engine if the true value is normal; complex numbers count per part
	Special    [2]int     // elements that are infinite or NaN in only one of engine and truth
	Sign       [2]int     // zeros of the wrong sign
	WorstInput [2]string
	Samples    []Sample
}

// Sample is one element with its true value and both engines' results.
type Sample struct {
	Input, A, B, True string
	Error             [2]Error
}

// approximated reports whether engines approximate the op's function. Such ops are measured against the truth.
func approximated(p *Program) bool {
	switch shortOp(p.Op) {
	case "abs", "multiply", "divide", "sign", "sqrt", "square":
		return p.DType.IsComplex()
	case "atan2", "cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "power", "rsqrt",
		"sine", "tan", "tanh", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "cosh", "sinh", "digamma", "erf", "erfc",
		"erf_inv", "lgamma", "polygamma", "zeta", "_asin_acos_kernel":
		return p.DType.IsFloat() || p.DType.IsComplex()
	}
	return false
}

// chosen returns the elements of a program whose true values are needed: the elements on which the engines are
// furthest apart, the elements that only one engine makes infinite or NaN, and random elements. It returns at most n
// of each kind and skips the elements listed in without.
func chosen(p *Program, a, b *tensor.Tensor, n int, without []int) []int {
	var apartList []far
	var special []int
	for i := range a.NumElements() {
		if tainted(p, a, b, i) {
			continue
		}
		ulp, s, _ := apart(a, b, i)
		switch {
		case s:
			special = append(special, i)
		case ulp > 0:
			apartList = append(apartList, far{i, ulp})
		}
	}
	rng := rand.New(rand.NewPCG(uint64(a.NumElements()), 5))
	rng.Shuffle(len(special), func(i, j int) { special[i], special[j] = special[j], special[i] })
	picked := map[int]bool{}
	for _, i := range without {
		picked[i] = true
	}
	var out []int
	add := func(i int) {
		if !picked[i] {
			picked[i] = true
			out = append(out, i)
		}
	}
	for _, i := range furthest(apartList, n) {
		add(i)
	}
	for _, i := range special[:min(n, len(special))] {
		add(i)
	}
	for range min(n, a.NumElements()) {
		add(rng.IntN(a.NumElements()))
	}
	return out
}

// far is an element and the distance of the engines on it, in units in the last place.
type far struct {
	at  int
	ulp uint64
}

// furthest returns the n elements of a list that are furthest apart, or all of them if the list is shorter.
func furthest(list []far, n int) []int {
	slices.SortStableFunc(list, func(x, y far) int { return cmp.Compare(y.ulp, x.ulp) })
	var out []int
	for _, f := range list[:min(n, len(list))] {
		out = append(out, f.at)
	}
	return out
}

// operandText formats element i of the operands.
func operandText(args []*tensor.Tensor, i int) string {
	var parts []string
	for _, t := range args {
		parts = append(parts, elementText(t, i))
	}
	return strings.Join(parts, ", ")
}

func elementText(t *tensor.Tensor, i int) string {
	if t.DType().IsComplex() {
		v := t.ComplexAt(i)
		bits := 64
		if t.DType() == tensor.Complex64 {
			bits = 32
		}
		return fmt.Sprintf("%s%+si", floatText(real(v), bits), signedText(imag(v), bits))
	}
	if !t.DType().IsFloat() {
		return fmt.Sprint(t.IntAt(i))
	}
	return floatText(t.FloatAt(i), 64)
}

func floatText(v float64, bits int) string {
	if bits == 32 {
		return fmt.Sprintf("%v", float32(v))
	}
	return fmt.Sprintf("%v", v)
}

func signedText(v float64, bits int) string {
	s := floatText(v, bits)
	if s[0] != '-' && s[0] != '+' {
		s = "+" + s
	}
	return s
}

// judge compares the chosen elements of a program with their true values and adds the result to acc.
func (acc *Accuracy) judge(p *Program, a, b *tensor.Tensor, elements []int, truth []Value) {
	for k, i := range elements {
		v := truth[k]
		if !v.Known {
			continue
		}
		acc.Asked++
		e := [2]Error{v.Error(a, i, Negligible(p.Op, p.DType)), v.Error(b, i, Negligible(p.Op, p.DType))}
		for s := range e {
			if e[s].Sign {
				acc.Sign[s]++
			}
			switch {
			case s == 1 && tainted(p, a, b, i): // XLA flushes
			case e[s].Special:
				acc.Special[s]++
			case e[s].ULP > acc.ULP[s] && (!e[s].Tiny || s == 0):
				acc.ULP[s], acc.WorstInput[s] = e[s].ULP, operandText(p.Args, i)
			}
		}
		t := fmt.Sprint(v.hi[0])
		if a.DType().IsComplex() {
			t += signedText(v.hi[1], 64) + "i"
		}
		acc.Samples = append(acc.Samples, Sample{operandText(p.Args, i), elementText(a, i), elementText(b, i), t, e})
	}
}

// roundULP formats an error for reports.
func roundULP(v float64) string {
	switch {
	case v >= 1<<20 || math.IsInf(v, 0):
		return fmt.Sprintf("%.0e", v)
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
