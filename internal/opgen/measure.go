package opgen

import (
	"fmt"
	"math"
	"math/cmplx"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Measurement records how far two engines are apart on one program.
type Measurement struct {
	Elements  int
	Flushed   int      // not judged: an operand or result is denormal, and XLA's CPU code flushes denormals to zero
	Specials  int      // NaN or infinity on one side only, or different ones
	Zeros     int      // zeros of different sign
	Different int      // other elements that differ
	MaxULP    uint64   // of the Different elements; for complex numbers in units of the last place of the modulus
	Samples   []string // some elements that differ: operands and both results
}

// Add joins the measurements of two programs.
func (m *Measurement) Add(n Measurement) {
	m.Elements += n.Elements
	m.Flushed += n.Flushed
	m.Specials += n.Specials
	m.Zeros += n.Zeros
	m.Different += n.Different
	m.MaxULP = max(m.MaxULP, n.MaxULP)
	m.Samples = append(m.Samples, n.Samples...)
}

// flushes reports whether a denormal of the type is denormal in the arithmetic of XLA's CPU code, which computes the
// narrower types in f32. f16 is the exception: its range is smaller.
func flushes(d tensor.DType) bool {
	switch d {
	case tensor.BF16, tensor.F32, tensor.F64, tensor.Complex64, tensor.Complex128, tensor.F8E8M0FNU:
		return true
	}
	return false
}

func denormalAt(t *tensor.Tensor, i int) bool {
	d := t.DType()
	if !flushes(d) {
		return false
	}
	small := func(v float64) bool {
		limit := 0x1p-126
		if d == tensor.F64 || d == tensor.Complex128 {
			limit = 0x1p-1022
		}
		return v != 0 && math.Abs(v) < limit
	}
	if d.IsComplex() {
		v := t.ComplexAt(i)
		return small(real(v)) || small(imag(v))
	}
	return small(t.FloatAt(i))
}

// Measure compares a result of an element-wise program on two engines.
func Measure(args []*tensor.Tensor, a, b *tensor.Tensor) Measurement {
	m := Measurement{Elements: a.NumElements()}
	kinds := [3]int{}
	for i := range a.NumElements() {
		if (verify.Tolerance{}).Accepts(a, b, i) {
			continue
		}
		tainted := denormalAt(a, i) || denormalAt(b, i)
		for _, t := range args {
			tainted = tainted || denormalAt(t, i)
		}
		kind := 0
		switch ulp, special, zero := apart(a, b, i); {
		case tainted:
			m.Flushed++
			continue
		case special:
			m.Specials++
		case zero:
			m.Zeros++
			kind = 1
		default:
			m.Different++
			m.MaxULP = max(m.MaxULP, ulp)
			kind = 2
		}
		if kinds[kind]++; kinds[kind] <= 4 {
			m.Samples = append(m.Samples, fmt.Sprintf("%s: engine %s, XLA %s", operandText(args, i), elementText(a, i), elementText(b, i)))
		}
	}
	return m
}

// apart returns the distance of two elements that differ. special means that only one side is infinite or NaN, zero
// that only signs of zeros differ.
func apart(a, b *tensor.Tensor, i int) (ulp uint64, special, zero bool) {
	if !a.DType().IsComplex() {
		ulp = verify.Distance(a, b, i)
		if a.DType().IsFloat() {
			x, y := a.FloatAt(i), b.FloatAt(i)
			special = ulp == verify.NoDistance || math.IsInf(x, 0) || math.IsInf(y, 0)
		}
		return ulp, special, ulp == 0
	}
	x, y := a.ComplexAt(i), b.ComplexAt(i)
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	if bad(real(x)) || bad(imag(x)) || bad(real(y)) || bad(imag(y)) {
		return 0, true, false
	}
	if x == y {
		return 0, false, true
	}
	eps := 0x1p-23
	if a.DType() == tensor.Complex128 {
		eps = 0x1p-52
	}
	size := max(cmplx.Abs(x), cmplx.Abs(y))
	if math.IsInf(size, 0) {
		return 0, true, false
	}
	_, e := math.Frexp(size)
	return uint64(math.Ceil(cmplx.Abs(x-y) / math.Ldexp(eps, e-1))), false, false
}
