package opgen

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/hlocb/hlocb/tensor"
	"github.com/hlocb/hlocb/verify"
)

// Deviation is a known difference between XLA's CPU code and the specification. It names the ops and types, and states
// a condition on the values. It explains an element of a result only if the condition holds for that element.
type Deviation struct {
	Name string
	Ops  func(op string) bool // op is the name with its dialect, without the case
	When func(e *Element) bool
}

// Element is an element of a result on which engine and XLA differ.
type Element struct {
	Program       *Program
	Result, Index int
	Engine, XLA   *tensor.Tensor // the results of both engines

	want   []*tensor.Tensor // the results that the program should return, if it knows them
	again  func(args []*tensor.Tensor) ([]*tensor.Tensor, error)
	near   []func(i int) bool // see withoutDenormals
	sorted []func(i int) bool // comparisons of results on operands as XLA's sorts see them
}

// explain reports whether a deviation explains the element, and counts the deviation in v.
func (e *Element) explain(v Verdict) bool {
	for _, d := range Deviations() {
		if d.Ops(bare(e.Program.Op)) && d.When(e) {
			v[d.Name]++
			return true
		}
	}
	return false
}

// operand returns the element of argument k from which element Index of the result is computed. For an operand that
// broadcasts, it aligns the last dimensions.
func (e *Element) operand(k int) (t *tensor.Tensor, i int) {
	t = e.Program.Args[k]
	out, in := e.Engine.Shape(), t.Shape()
	rest, stride := e.Index, 1
	for d := len(out) - 1; d >= 0; d-- {
		x := rest % int(out[d])
		rest /= int(out[d])
		if at := d - (len(out) - len(in)); at >= 0 {
			if in[at] != 1 {
				i += x * stride
			}
			stride *= int(in[at])
		}
	}
	return t, i
}

func (e *Element) value(k int) float64 {
	t, i := e.operand(k)
	return t.FloatAt(i)
}

// withoutDenormals returns comparisons of a result without denormals. It compares the engine's flushed result, and the
// engine's result on flushed operands, with XLA's result and with XLA's flushed result.
func (e *Element) withoutDenormals() []func(i int) bool {
	if e.near == nil {
		own := []*tensor.Tensor{flush(e.Engine)}
		var args []*tensor.Tensor
		for _, t := range e.Program.Args {
			args = append(args, flush(t))
		}
		if out, err := e.again(args); err == nil {
			own = append(own, flush(out[e.Result]))
		}
		for _, f := range own {
			e.near = append(e.near, e.Program.near(f, e.XLA), e.Program.near(f, flush(e.XLA)))
		}
	}
	return e.near
}

// flush returns a copy in which denormals become zeros of the same sign, for types that XLA's CPU code flushes.
func flush(t *tensor.Tensor) *tensor.Tensor {
	c, d := t.Clone(), t.DType()
	for i := range c.NumElements() {
		if !denormalAt(t, i) { // NaN keeps its sign and payload
			continue
		}
		v := at(t, i)
		if d.IsComplex() {
			c.SetComplex(i, complex(withoutDenormal(d, real(v)), withoutDenormal(d, imag(v))))
		} else {
			c.SetFloat(i, withoutDenormal(d, real(v)))
		}
	}
	return c
}

// withoutDenormal returns the value that XLA's code sees for an element, or for a part of a complex element.
func withoutDenormal(d tensor.DType, v float64) float64 {
	limit := 0x1p-126
	if d == tensor.F64 || d == tensor.Complex128 {
		limit = 0x1p-1022
	}
	switch {
	case !flushes(d) || !(math.Abs(v) < limit):
		return v
	case d == tensor.F8E8M0FNU:
		return math.NaN() // the type has no zero
	}
	return math.Copysign(0, v)
}

// sameNaN holds the bits that are set in every NaN that XLA makes by converting a type for a comparison: the quiet
// bit for bf16, all mantissa bits for 8-bit types.
var sameNaN = map[tensor.DType]uint64{tensor.BF16: 0x40, tensor.F8E5M2: 0x03, tensor.F8E4M3: 0x07, tensor.F8E3M4: 0x0F}

// seenBySorts returns the elements of t as XLA's sorts see them, in t's type. With denormals, each NaN of bf16 becomes
// the one NaN of its sign.
func seenBySorts(t *tensor.Tensor, denormals bool) *tensor.Tensor {
	c, d := t.Clone(), t.DType()
	nan := sameNaN[d]
	switch {
	case !denormals:
		c = flush(t)
	case d == tensor.BF16:
		nan = 0x7F
	}
	for i := range c.NumElements() {
		switch {
		case nan != 0 && math.IsNaN(c.FloatAt(i)):
			c.SetBits(i, c.Bits(i)|nan)
		case d == tensor.F8E5M2FNUZ:
			// A negative number that rounds to zero still sorts below zero.
			if v := tensor.DecodeFloat(tensor.F8E5M2, tensor.EncodeFloat(tensor.F8E5M2, c.FloatAt(i))); v > 0 || v < 0 || c.FloatAt(i) > 0 {
				c.SetFloat(i, v)
			}
		}
	}
	return c
}

// undefined reports, by op, whether the function has no real result.
var undefined = map[string]func(x, y float64) bool{
	"sqrt":         func(x, _ float64) bool { return x < 0 },
	"rsqrt":        func(x, _ float64) bool { return x < 0 },
	"log":          func(x, _ float64) bool { return x < 0 },
	"log_plus_one": func(x, _ float64) bool { return x < -1 },
	"divide":       func(x, y float64) bool { return x == 0 && y == 0 },
	"remainder":    func(_, y float64) bool { return y == 0 },
	"power":        func(x, y float64) bool { return math.IsNaN(math.Pow(x, y)) },
	"convert":      func(x, _ float64) bool { return math.IsNaN(x) },
	"acos":         func(x, _ float64) bool { return math.Abs(x) > 1 },
	"asin":         func(x, _ float64) bool { return math.Abs(x) > 1 },
	"atanh":        func(x, _ float64) bool { return math.Abs(x) > 1 },
	"acosh":        func(x, _ float64) bool { return x < 1 },
	"erf_inv":      func(x, _ float64) bool { return math.Abs(x) > 1 },
}

// integerPower returns x to the power of n, modulo 2^64.
func integerPower(x, n uint64) uint64 {
	v := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			v *= x
		}
		x *= x
	}
	return v
}

// negativePower returns a power with a negative exponent: the exact value if x is 1 or -1, otherwise 0.
func negativePower(x, n, minusOne uint64) uint64 {
	switch {
	case x == 1 || x == minusOne && n&1 == 0:
		return 1
	case x == minusOne:
		return minusOne
	}
	return 0
}

// signedNeighbour steps from x towards y, both 8-bit codes, treating the first bit as a sign.
func signedNeighbour(x, y uint64) uint64 {
	const sign = 0x80
	switch {
	case x == y, x&^sign == 0 && y&^sign == 0:
		return y
	case x&^sign == 0:
		return y&sign | 1
	case x&sign != y&sign || x&^sign > y&^sign:
		return x - 1
	}
	return x + 1
}

func ops(names ...string) func(op string) bool {
	return func(op string) bool {
		for _, n := range names {
			if op == n || op == "stablehlo."+n || op == "chlo."+n || op == "chlo.broadcast_"+n {
				return true
			}
		}
		return false
	}
}

func anyOp(string) bool { return true }

// Deviations returns the known deviations. Each has an example that a test runs on XLA; the test fails when XLA no
// longer deviates.
func Deviations() []Deviation {
	return []Deviation{
		{
			// XLA packs i2 and ui2 four to a byte, but sorts bytes. Its result is not a permutation of the operand. The
			// program computes the result of a stable sort, and the engine returns the same.
			Name: "sorts of 2-bit integers",
			Ops:  ops("sort"),
			When: func(e *Element) bool {
				return e.want != nil && slices.ContainsFunc(e.Program.Args, func(t *tensor.Tensor) bool { return t.DType().Bits() == 2 })
			},
		},
		{
			// XLA's CPU code runs with denormals off: operands and results of bf16, f32, f64 and complex numbers below
			// the smallest normal number are zeros of their sign, and NaN in f8E8M0FNU, which has no zero. On
			// processors with AVX-512, loops that only move bf16 do the same: they load and store through f32. The
			// specification has no such rule; the element must equal the engine's result with denormals as zeros.
			Name: "no denormals",
			Ops:  anyOp,
			When: func(e *Element) bool {
				// The result equals the result on operands without denormals, or a denormal result is flushed to
				// zero. Ops that only compare denormals, such as sorts, move them unchanged; in this case flush XLA's
				// results too.
				return slices.ContainsFunc(e.withoutDenormals(), func(near func(i int) bool) bool { return near(e.Index) })
			},
		},
		{
			// 2^-127, the least f8E8M0FNU, is a denormal of f32: XLA adds and subtracts 0 instead, and converts it to
			// false.
			Name: "the least f8E8M0FNU",
			Ops:  ops("add", "subtract", "convert"),
			When: func(e *Element) bool {
				var v [2]float64
				for k := range e.Program.Args {
					if v[k] = e.value(k); v[k] == 0x1p-127 {
						v[k] = 0
					}
				}
				switch op := bare(e.Program.Op); {
				case e.Program.DType != tensor.F8E8M0FNU:
					return false
				case strings.HasSuffix(op, "convert"):
					return v[0] == 0 && e.XLA.FloatAt(e.Index) == 0
				case strings.HasSuffix(op, "subtract"):
					v[1] = -v[1]
				}
				return e.XLA.Bits(e.Index) == tensor.EncodeFloat(tensor.F8E8M0FNU, v[0]+v[1])
			},
		},
		{
			// XLA's sorts convert bf16 and floats of 8 bits before they compare them. Either denormals of bf16 become
			// zeros and NaN become quiet, or (by two keys) each NaN becomes the one NaN of its sign, although
			// TOTALORDER orders NaN by their codes. So does each NaN of f8E5M2, f8E4M3 and f8E3M4. f8E5M2FNUZ is
			// rounded to f8E5M2, which has fewer digits below 2^-14. Elements that are equal after the conversion keep
			// their order. The element must equal the engine's result on converted operands.
			Name: "sorts by way of wider types",
			Ops:  ops("sort"),
			When: func(e *Element) bool {
				if e.sorted == nil {
					for _, denormals := range []bool{false, true} {
						var args []*tensor.Tensor
						for _, t := range e.Program.Args {
							args = append(args, seenBySorts(t, denormals))
						}
						if out, err := e.again(args); err == nil {
							e.sorted = append(e.sorted, e.Program.near(seenBySorts(out[e.Result], denormals), seenBySorts(e.XLA, denormals)))
						}
					}
				}
				return slices.ContainsFunc(e.sorted, func(near func(i int) bool) bool { return near(e.Index) })
			},
		},
		{
			// XLA uses only the low six bits of an integer exponent, so 2^64 is 1. It reads an unsigned exponent as
			// signed, so 3^254 of ui8 is 0. The engine's power equals repeated multiplication in the type.
			Name: "powers of integers",
			Ops:  ops("power"),
			When: func(e *Element) bool {
				d := e.Engine.DType()
				if !d.IsInteger() {
					return false
				}
				x, i := e.operand(0)
				y, k := e.operand(1)
				base, n, got := x.Bits(i), y.Bits(k), e.XLA.Bits(e.Index)
				signed := d.Kind() == tensor.KindSigned
				if signed {
					n = uint64(y.IntAt(k))
				}
				if signed && int64(n) < 0 || verify.Canonical(d, integerPower(base, n)) != e.Engine.Bits(e.Index) {
					return false
				}
				sign := uint64(1) << (d.Bits() - 1)
				return n > 63 && verify.Canonical(d, integerPower(base, n&63)) == got ||
					!signed && n&sign != 0 && verify.Canonical(d, negativePower(base, n, 2*sign-1)) == got
			},
		},
		{
			// F4E2M1FN has no NaN. If the function has no value at the operands, the result is 0 on the engine and -0
			// in XLA.
			Name: "NaN of f4E2M1FN",
			Ops:  anyOp,
			When: func(e *Element) bool {
				if e.Engine.DType() != tensor.F4E2M1FN || e.Engine.Bits(e.Index) != 0 || e.XLA.Bits(e.Index) != 8 {
					return false
				}
				x, y := e.value(0), 0.0
				if len(e.Program.Args) > 1 {
					y = e.value(1)
				}
				f := undefined[shortOp(strings.Replace(bare(e.Program.Op), "broadcast_", "", 1))]
				return f != nil && f(x, y)
			},
		},
		{
			// F4E2M1FN has no infinities: the expansion of CHLO compares with the largest number.
			Name: "infinities of f4E2M1FN",
			Ops:  ops("is_inf", "is_pos_inf", "is_neg_inf"),
			When: func(e *Element) bool {
				return e.Program.DType == tensor.F4E2M1FN && math.Abs(e.value(0)) == 6 && e.Engine.Bits(e.Index) == 0 && e.XLA.Bits(e.Index) == 1
			},
		},
		{
			// XLA considers 6, the largest f4E2M1FN, too large for an integer and returns the largest integer.
			Name: "6 of f4E2M1FN as an integer",
			Ops:  ops("convert"),
			When: func(e *Element) bool {
				d := e.XLA.DType()
				if e.Program.DType != tensor.F4E2M1FN || !d.IsInteger() || math.Abs(e.value(0)) != 6 {
					return false
				}
				limit := tensor.New(d, nil)
				limit.SetBits(0, extreme(d, e.value(0) > 0))
				return e.XLA.Bits(e.Index) == limit.Bits(0) && math.Abs(e.Engine.FloatAt(e.Index)) == min(6, math.Abs(limit.FloatAt(0)))
			},
		},
		{
			// XLA rounds integers of 32 bits and more twice on their way to bf16, first to f32. -1606418381 becomes
			// -1610612736, but -1602224128 is nearer.
			Name: "integers of 32 bits and more to bf16",
			Ops:  ops("convert"),
			When: func(e *Element) bool {
				t, i := e.operand(0)
				if e.Engine.DType() != tensor.BF16 || !t.DType().IsInteger() || t.DType().Bits() < 32 {
					return false
				}
				v := t.IntAt(i)
				twice := tensor.EncodeFloat(tensor.BF16, float64(float32(v)))
				if t.DType().Kind() != tensor.KindSigned {
					twice = tensor.EncodeFloat(tensor.BF16, float64(float32(uint64(v))))
				}
				return e.XLA.Bits(e.Index) == twice
			},
		},
		{
			// For a negative i2 or i4, XLA counts the bits of the byte that stores it.
			Name: "bits of negative narrow integers",
			Ops:  ops("popcnt"),
			When: func(e *Element) bool {
				t, i := e.operand(0)
				d := t.DType()
				all := uint64(bits.OnesCount8(uint8(t.Bits(i))))
				return d.Kind() == tensor.KindSigned && d.Bits() < 8 && t.IntAt(i) < 0 && verify.Canonical(d, all) == e.XLA.Bits(e.Index)
			},
		},
		{
			// A type without mantissa has no NaN. The engine returns infinity, as upstream's interpreter does; XLA
			// returns NaN.
			Name: "reduce_precision of NaN to no mantissa",
			Ops:  ops("reduce_precision"),
			When: func(e *Element) bool {
				return strings.HasSuffix(e.Program.Op, "m0") && math.IsNaN(e.value(0)) && math.IsNaN(e.XLA.FloatAt(e.Index)) && math.IsInf(e.Engine.FloatAt(e.Index), 0)
			},
		},
		{
			// f8E8M0FNU has no sign. XLA treats its first bit as a sign, and the codes 0 and 128, which are 2^-127 and
			// 2, as zeros.
			Name: "next_after of f8E8M0FNU",
			Ops:  ops("next_after"),
			When: func(e *Element) bool {
				x, i := e.operand(0)
				y, k := e.operand(1)
				return x.DType() == tensor.F8E8M0FNU && e.XLA.Bits(e.Index) == signedNeighbour(x.Bits(i), y.Bits(k))
			},
		},
		{
			// XLA computes square roots of types of up to 8 bits in f16 and rounds twice. The root of 15.5 (f8E3M4) is
			// 3.93700. XLA rounds it to 3.9375, then to 4; 3.875 is nearer.
			Name: "square roots rounded twice",
			Ops:  ops("sqrt"),
			When: func(e *Element) bool {
				d := e.Engine.DType()
				if !d.IsFloat() || d.Bits() > 8 {
					return false
				}
				half := tensor.DecodeFloat(tensor.F16, tensor.EncodeFloat(tensor.F16, math.Sqrt(e.value(0))))
				return e.XLA.Bits(e.Index) == tensor.EncodeFloat(d, half)
			},
		},
		{
			// The specification orders complex numbers by their real parts, then by their imaginary parts. If the real
			// parts are equal, XLA selects an operand without comparing the imaginary parts.
			Name: "extrema of complex numbers of one real part",
			Ops:  ops("maximum", "minimum"),
			When: func(e *Element) bool {
				d := e.Engine.DType()
				if !d.IsComplex() {
					return false
				}
				var v [2]complex128
				for k := range v {
					t, i := e.operand(k)
					v[k] = t.ComplexAt(i)
				}
				if slices.ContainsFunc(v[:], func(z complex128) bool { return math.IsNaN(real(z)) || math.IsNaN(imag(z)) }) {
					return true // the specification does not order NaN
				}
				part := func(z complex128) float64 { return withoutDenormal(d, real(z)) }
				got := e.XLA.ComplexAt(e.Index)
				return part(v[0]) == part(v[1]) && (got == v[0] || got == v[1])
			},
		},
		{
			// A product just below the smallest normal bf16 rounds up to it. XLA returns zero for it. The engine
			// returns the exact product, rounded once.
			Name: "products below the smallest normal number",
			Ops:  ops("multiply"),
			When: func(e *Element) bool {
				if e.Engine.DType() != tensor.BF16 {
					return false
				}
				product := e.value(0) * e.value(1) // exact in f64
				return math.Abs(product) < 0x1p-126 && e.Engine.Bits(e.Index) == tensor.EncodeFloat(tensor.BF16, product) && e.XLA.FloatAt(e.Index) == 0
			},
		},
		{
			// XLA rounds each step of a CHLO function to the type, and f8E8M0FNU has neither zero nor negative numbers.
			// 1-x in asin(1) and log(1-x) in atanh(x) are therefore NaN, and so is the result. The engine rounds once:
			// asin(1) is 2, and atanh(x) is x for x up to 1/2.
			Name: "steps of functions of f8E8M0FNU",
			Ops:  ops("asin", "atanh"),
			When: func(e *Element) bool {
				if e.Engine.DType() != tensor.F8E8M0FNU {
					return false
				}
				x, engine, got := e.value(0), e.Engine.FloatAt(e.Index), e.XLA.FloatAt(e.Index)
				switch shortOp(bare(e.Program.Op)) {
				case "asin":
					return x == 1 && engine == 2 && math.IsNaN(got)
				case "atanh":
					return x < 1 && engine == x && math.IsNaN(got)
				}
				return x == 1 && math.IsNaN(engine) && got == 0x1p-21
			},
		},
	}
}

// Refused reports whether XLA's CPU plugin is known to refuse a random program with this message although the
// specification allows it.
func (p *Program) Refused(message string) bool {
	has := func(bits int) bool {
		return p.Out.Bits() == bits || slices.ContainsFunc(p.Args, func(t *tensor.Tensor) bool { return t.DType().Bits() == bits })
	}
	several := strings.Contains(p.Op, "pairs")
	for _, r := range []struct {
		ops     func(op string) bool
		when    bool
		message string
	}{
		{ops("concatenate"), has(2), "ends the process"},
		{ops("dot", "dot_general", "einsum", "convolution"), has(2), "UNIMPLEMENTED"},
		{ops("dot", "dot_general", "einsum", "convolution"), has(2), "custom element sizes"},
		{ops("reduce"), has(2) && several, ""},    // "layout() == layout()" fails
		{ops("sort"), has(2), "ends the process"}, // XLA writes outside the array
		{ops("sort"), has(2) && several, ""},      // "Inputs must have the same shape"
		{ops("sort"), p.DType == tensor.F4E2M1FN, "Invalid LLVM IR"},
		{anyOp, has(6), "primitive_type_invalid"}, // XLA has no f6E2M3FN and f6E3M2FN
		{ops("erfc", "bessel_i1e"), p.DType.Bits() <= 8 || p.DType.IsComplex(), "failed to legalize"},
		{ops("cross-replica-sum"), has(2), "is not supported"},
		{ops("cbrt"), p.DType.IsComplex(), ""},
		{ops("conj"), !p.DType.IsComplex(), ""}, // XLA makes complex numbers of them on the way
	} {
		if r.when && r.ops(bare(p.Op)) && strings.Contains(strings.ToLower(message), strings.ToLower(r.message)) {
			return true
		}
	}
	return false
}
