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
	Specials int    // elements that are NaN or infinite on one side only, or differently on both
	Zeros    int    // zeros of different sign
	MaxULP   uint64 // the largest distance of other elements; of complex numbers in ULPs of the modulus
	Worst    int    // the element with this distance, or a NaN, infinity or zero that differs if no element has a distance
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

// apart returns the distance of two elements that differ. special means that only one side is infinite or NaN. zero
// means that only the signs of zeros differ.
func apart(a, b *tensor.Tensor, i int) (ulp uint64, special, zero bool) {
	d, x, y := a.DType(), at(a, i), at(b, i)
	special = !(cmplx.Abs(x) <= math.MaxFloat64 && cmplx.Abs(y) <= math.MaxFloat64)
	switch {
	case !d.IsComplex():
		ulp = verify.Distance(a, b, i)
		return ulp, d.IsFloat() && special, ulp == 0
	case special, x == y:
		return 0, special, !special
	}
	_, e := math.Frexp(max(cmplx.Abs(x), cmplx.Abs(y)))
	return uint64(math.Ceil(cmplx.Abs(x-y) / math.Ldexp(Epsilon(d), e-1))), false, false
}
