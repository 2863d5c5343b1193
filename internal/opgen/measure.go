package opgen

import (
	"math"
	"math/cmplx"
	"slices"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Measurement records how far two engines are apart on one program, without the elements that XLA flushes to zero.
type Measurement struct {
	Specials int    // NaN or infinity on one side only, or different ones
	Zeros    int    // zeros of different sign
	MaxULP   uint64 // the largest distance of the others; for complex numbers in units of the last place of the modulus
	Worst    int    // the element with this distance, or one that differs otherwise if there is none
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

// tainted reports whether an operand or a result is denormal; XLA may have flushed it.
func tainted(p *Program, a, b *tensor.Tensor, i int) bool {
	return denormalAt(a, i) || denormalAt(b, i) || slices.ContainsFunc(p.Args, func(t *tensor.Tensor) bool { return denormalAt(t, i) })
}

// Crashes reports whether a program crashes XLA's CPU plugin. The plugin should refuse such a program.
func Crashes(p *Program) bool { return p.DType.IsComplex() && bare(p.Op) == "stablehlo.remainder" }

// Measure compares the results of an element-wise program on two engines.
func Measure(p *Program, a, b *tensor.Tensor) (m Measurement) {
	for i := range a.NumElements() {
		if (verify.Tolerance{}).Accepts(a, b, i) || tainted(p, a, b, i) {
			continue
		}
		switch ulp, special, zero := apart(a, b, i); {
		case special:
			m.Specials++
			if m.MaxULP == 0 {
				m.Worst = i
			}
		case zero:
			m.Zeros++
		default:
			if ulp > m.MaxULP {
				m.MaxULP, m.Worst = ulp, i
			}
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
