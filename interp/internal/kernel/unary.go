package kernel

import (
	"cmp"
	"math"
	"math/bits"
	"math/cmplx"
	"slices"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

// UnaryLoops is a unary op whose result has the operand's element type (abs of complex numbers has its own maker).
// Narrow floats are computed in f64 and rounded once; so is f32 if f32 is nil.
type UnaryLoops struct {
	i     func(v int64, bits int) int64 // signed integers, sign-extended
	i32   unaryLoop[int32]              // a faster loop for i32
	u     func(v uint64, bits int) uint64
	b     func(v uint8) uint8
	flags *Lanes // the op on i1
	F     func(float64) float64
	f32   unaryLoop[float32] // a faster loop for f32
	f64   unaryLoop[float64]
	C     func(complex128) complex128
	c64   ElementLoop // a faster loop for complex<f32>
	cost  int         // approximate nanoseconds per element; 0 means 8
}

// Unary holds the unary ops by name: ops on integers and signs (spec, "abs", "negate", "sign", "not", "popcnt",
// "count_leading_zeros"), roundings (spec, "ceil", "floor", "round_nearest_afz", "round_nearest_even") and functions,
// which are computed in a wider type if there is one (spec, "cbrt", "exponential", "exponential_minus_one", "log",
// "log_plus_one", "logistic", "sqrt", "rsqrt", "cosine", "sine", "tan", "tanh").
var Unary = map[string]*UnaryLoops{
	"abs": {i: func(v int64, _ int) int64 { return max(v, -v) }, u: func(v uint64, _ int) uint64 { return v },
		F: math.Abs, f32: one[float32](vec.Abs32Loop), f64: one[float64](vec.Abs64Loop), i32: one[int32](vec.AbsIntLoop), cost: 1},
	"negate": {i: func(v int64, _ int) int64 { return -v }, u: func(v uint64, _ int) uint64 { return -v },
		F: func(v float64) float64 { return -v }, f32: one[float32](vec.Neg32Loop), f64: one[float64](vec.Neg64Loop), i32: one[int32](vec.NegIntLoop), C: func(v complex128) complex128 { return -v }, cost: 1},
	"sign": {i: func(v int64, _ int) int64 { return int64(signOf(v)) }, u: func(v uint64, _ int) uint64 { return min(v, 1) },
		F: signFloat, f32: one[float32](vec.Sign32Loop), f64: one[float64](vec.Sign64Loop), i32: one[int32](vec.SignIntLoop), C: signComplex, cost: 1},
	"not": {b: func(v uint8) uint8 { return v ^ 1 }, flags: inverse, i: func(v int64, _ int) int64 { return ^v }, i32: one[int32](vec.NotIntLoop), cost: 1,
		u: func(v uint64, _ int) uint64 { return ^v }},
	"popcnt": {i: func(v int64, n int) int64 { return int64(bits.OnesCount64(uint64(v) << (64 - n))) },
		i32: one[int32](vec.PopcntLoop), u: func(v uint64, _ int) uint64 { return uint64(bits.OnesCount64(v)) }, cost: 2},
	"count_leading_zeros": {i: func(v int64, n int) int64 { return int64(min(bits.LeadingZeros64(uint64(v)<<(64-n)), n)) },
		u: func(v uint64, n int) uint64 { return uint64(min(bits.LeadingZeros64(v<<(64-n)), n)) }, i32: one[int32](vec.LeadingZerosLoop), cost: 2},
	"ceil":                  {F: math.Ceil, f32: one[float32](vec.Ceil32Loop), f64: one[float64](vec.Ceil64Loop), cost: 1},
	"floor":                 {F: math.Floor, f32: one[float32](vec.Floor32Loop), f64: one[float64](vec.Floor64Loop), cost: 1},
	"round_nearest_afz":     {F: math.Round, f32: one[float32](vec.RoundAway32Loop), f64: one[float64](vec.RoundAway64Loop), cost: 1},
	"round_nearest_even":    {F: math.RoundToEven, f32: one[float32](vec.RoundEven32Loop), f64: one[float64](vec.RoundEven64Loop), cost: 1},
	"cbrt":                  function(vec.Cbrt, vec.Cbrt32Loop, vec.Cbrt64Loop, special.ComplexCbrt),
	"exponential":           function(vec.Exp, vec.Exp32Loop, vec.Exp64Loop, special.ComplexExp),
	"exponential_minus_one": function(vec.Expm1, vec.Expm132Loop, vec.Expm164Loop, special.ComplexExpm1),
	"log":                   function(vec.Log, vec.Log32Loop, vec.Log64Loop, special.ComplexLog),
	"log_plus_one":          function(vec.Log1p, vec.Log1p32Loop, vec.Log1p64Loop, special.ComplexLog1p),
	"logistic":              function(vec.Logistic, vec.Logistic32Loop, vec.Logistic64Loop, special.ComplexLogistic),
	"sqrt":                  {F: math.Sqrt, f32: one[float32](vec.Sqrt32Loop), f64: one[float64](vec.Sqrt64Loop), C: special.ComplexSqrt, cost: 2},
	"rsqrt":                 function(vec.Rsqrt, vec.Rsqrt32Loop, vec.Rsqrt64Loop, special.ComplexRsqrt),
	"cosine": {F: special.Cosine, f32: below[float32](vec.Cos32Loop, special.Cosine),
		f64: below[float64](vec.Cos64Loop, special.Cosine), C: special.ComplexCos, cost: 4},
	"sine": {F: special.Sine, f32: below[float32](vec.Sin32Loop, special.Sine),
		f64: below[float64](vec.Sin64Loop, special.Sine), C: special.ComplexSin, cost: 4},
	"tanh": function(vec.Tanh, vec.Tanh32Loop, vec.Tanh64Loop, special.ComplexTanh),

	// MHLO.
	"exp2": {F: exp2, C: complexExp2, cost: 4},
	"log2": {F: log2, C: complexLog2, cost: 4},

	// CHLO.
	"bessel_i1e": function(vec.BesselI1e, vec.BesselI1e32Loop, vec.BesselI1e64Loop, nil),
	"cosh":       function(vec.Cosh, vec.Cosh32Loop, vec.Cosh64Loop, special.ComplexCosh),
	"sinh":       function(vec.Sinh, vec.Sinh32Loop, vec.Sinh64Loop, special.ComplexSinh),
	"tan": {F: special.Tangent, f32: below[float32](vec.Tan32Loop, special.Tangent),
		f64: below[float64](vec.Tan64Loop, special.Tangent), C: special.ComplexTan, cost: 4},
	"erf":  {F: vec.Erf, f32: one[float32](vec.Erf32Loop), f64: one[float64](vec.Erf64Loop), cost: 4},
	"erfc": function(vec.Erfc, vec.Erfc32Loop, vec.Erfc64Loop, nil),
	"conj": {F: func(v float64) float64 { return v }, C: cmplx.Conj, c64: conjugate, cost: 1},
}

// Inverse holds functions by name whose op has a kernel for some types only: f32, and f64 if there is a loop for it.
var Inverse = map[string]*UnaryLoops{
	"asinh":   {f32: one[float32](vec.Asinh32Loop), cost: 3},
	"acosh":   {f32: one[float32](vec.Acosh32Loop), cost: 3},
	"atanh":   {f32: one[float32](vec.Atanh32Loop), cost: 3},
	"erf_inv": {f32: one[float32](vec.ErfInv32Loop), f64: one[float64](vec.ErfInv64Loop), cost: 6},
}

// function returns the unary op of a function of f64 and its loops.
func function(f func(float64) float64, narrow, wide *vec.Loop, c func(complex128) complex128) *UnaryLoops {
	return &UnaryLoops{F: f, f32: one[float32](narrow), f64: one[float64](wide), C: c, cost: 3}
}

func signOf(v int64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

func signFloat(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return v // -0, +0 and NaN are unchanged
}

func signComplex(v complex128) complex128 {
	if cmplx.IsNaN(v) {
		return cmplx.NaN()
	}
	if v == 0 {
		return v
	}
	if cmplx.IsInf(v) { // as XLA: the infinite part is NaN, the finite one 0
		return complex(real(v)/math.Inf(1), imag(v)/math.Inf(1))
	}
	e := special.Exponent(real(v), imag(v)) // scaling prevents overflow of the modulus
	a, b := math.Ldexp(real(v), -e), math.Ldexp(imag(v), -e)
	m := special.Hypot(a, b)
	return complex(a/m, b/m)
}

// MakeUnary returns the maker of a unary elementwise op.
func MakeUnary(u *UnaryLoops) func(*Signature) Kernel {
	return func(s *Signature) Kernel {
		SameShape(s)
		dt := s.Out[0].DType
		if s.In[0].DType != dt {
			Fail(TypeMismatch(s.In[0].DType, dt))
		}
		run := u.bind(dt)
		UnsupportedIf(run == nil, "%s on elements of type %s", s.Name, dt)
		cost := u.cost
		if cost == 0 {
			cost = 8
		}
		k := ElementKernel(s.Out[0].N, dt.Size(), cost, run, 1).with(u.lanes(dt))
		k.Single = u.single(dt)
		return k
	}
}

// unaryLoop is a loop of one operand, and its function if package expr has it.
type unaryLoop[T tensor.Element] struct {
	run     func(o, x []T)
	vec     *vec.Loop
	limited *Lanes // the function on single values, if the loop has a limit
}

func one[T tensor.Element](l *vec.Loop) unaryLoop[T] {
	return unaryLoop[T]{run: vec.Unary[T, T](l), vec: l}
}

// below returns the loop of a function for magnitudes up to 2^20; f computes it for all others.
func below[T float32 | float64](l *vec.Loop, f func(float64) float64) unaryLoop[T] {
	const limit = 1 << 20
	return unaryLoop[T]{run: vec.Below(vec.Unary[T, T](l), limit, f), limited: singleOf(l, limit)}
}

// single returns the op on single values if it has no lanes, or nil.
func (u *UnaryLoops) single(dt tensor.DType) *Lanes {
	switch dt {
	case tensor.F32:
		return cmp.Or(u.f32.limited, singleOf(u.f32.vec, 0))
	case tensor.F64:
		return cmp.Or(u.f64.limited, singleOf(u.f64.vec, 0))
	}
	return nil
}

// lanes returns the op on lanes, or nil.
func (u *UnaryLoops) lanes(dt tensor.DType) *Lanes {
	switch dt {
	case tensor.I1:
		return u.flags
	case tensor.I32:
		return lanesOf(u.i32.vec)
	case tensor.F32:
		return lanesOf(u.f32.vec)
	case tensor.F64:
		return lanesOf(u.f64.vec)
	case tensor.BF16:
		return rounded(lanesOf(u.f32.vec))
	}
	return nil
}

// bind returns the loop for an element type, or nil if there is none.
func (u *UnaryLoops) bind(dt tensor.DType) ElementLoop {
	n := dt.Bits()
	switch dt.Kind() {
	case tensor.KindBool:
		if u.b != nil {
			return view1(func(o, x []uint8) {
				for i, v := range x {
					o[i] = u.b(v)
				}
			})
		}
	case tensor.KindSigned, tensor.KindUnsigned:
		f := u.i
		if dt.Kind() == tensor.KindUnsigned && u.u != nil {
			f = func(v int64, bits int) int64 { return int64(u.u(uint64(v), bits)) }
		}
		switch {
		case u.i == nil:
			return nil
		case dt == tensor.I32 && u.i32.run != nil:
			return view1(u.i32.run)
		}
		return blockwise(dt, decodeInt, func(out *tensor.Tensor, lo int, x, _ []int64) {
			for i, v := range x {
				x[i] = f(v, n)
			}
			EncodeInt(dt, out, lo, x)
		})
	case tensor.KindComplex:
		if u.C == nil {
			return nil
		}
		if dt == tensor.Complex64 && u.c64 != nil {
			return u.c64
		}
		if dt == tensor.Complex64 {
			return view1(mapComplex[complex64](u.C))
		}
		return view1(mapComplex[complex128](u.C))
	case tensor.KindFloat:
		switch {
		case dt == tensor.F32 && u.f32.run != nil:
			return view1(u.f32.run)
		case dt == tensor.F64 && u.f64.run != nil:
			return view1(u.f64.run)
		case u.F == nil:
			return nil
		case dt == tensor.F64:
			return view1(func(o, x []float64) {
				for i, v := range x {
					o[i] = u.F(v)
				}
			})
		case dt == tensor.F32:
			return view1(func(o, x []float32) {
				for i, v := range x {
					o[i] = float32(u.F(float64(v)))
				}
			})
		}
		if u.f32.run != nil && (dt == tensor.F16 || dt == tensor.BF16) {
			return blockwise(dt, decode32, func(out *tensor.Tensor, lo int, x, _ []float32) {
				u.f32.run(x, x)
				encode32(dt, out, lo, x)
			})
		}
		return blockwise(dt, Decode64, func(out *tensor.Tensor, lo int, x, _ []float64) {
			if u.f64.run != nil {
				u.f64.run(x, x)
			} else {
				for i, v := range x {
					x[i] = u.F(v)
				}
			}
			for i, v := range x {
				if v != v { // its sign, which types without NaN keep, depends on the processor
					x[i] = math.NaN()
				}
			}
			Encode64(dt, out, lo, x)
		})
	}
	return nil
}

func view1[T tensor.Element](f func(o, x []T)) ElementLoop {
	return func(in, out []*tensor.Tensor, lo, hi int) {
		f(tensor.View[T](out[0])[lo:hi], tensor.View[T](in[0])[lo:hi])
	}
}

func mapComplex[T complexNumber](f func(complex128) complex128) func(o, x []T) {
	return func(o, x []T) {
		for i, v := range x {
			o[i] = T(f(complex128(v)))
		}
	}
}

// MakeAbs compiles abs (spec, "abs"). The abs of a complex number is real.
func MakeAbs(s *Signature) Kernel {
	if !s.In[0].DType.IsComplex() {
		return MakeUnary(Unary["abs"])(s)
	}
	return partsKernel(s, convertView(func(o []float32, x []complex64) {
		for i, v := range x {
			o[i] = float32(special.ComplexAbs(complex128(v)))
		}
	}), convertView(func(o []float64, x []complex128) {
		for i, v := range x {
			o[i] = special.ComplexAbs(v)
		}
	}))
}

// partsKernel builds a kernel from complex numbers to reals of the parts' element type.
func partsKernel(s *Signature, single, double ElementLoop) Kernel {
	SameShape(s)
	switch {
	case s.In[0].DType == tensor.Complex64 && s.Out[0].DType == tensor.F32:
		return ElementKernel(s.Out[0].N, 8, 2, single, 0)
	case s.In[0].DType == tensor.Complex128 && s.Out[0].DType == tensor.F64:
		return ElementKernel(s.Out[0].N, 16, 2, double, 0)
	}
	panic(Failure{Err: TypeMismatch(s.In[0].DType, s.Out[0].DType)})
}

// half copies the first or the second parts of complex<f32>. A million take 0.2 ms of processor time, 0.6 in Go.
func half(l *vec.Loop) ElementLoop {
	run := vec.Unary[uint32, uint64](l)
	return func(in, out []*tensor.Tensor, lo, hi int) {
		run(tensor.View[uint32](out[0])[lo:hi], tensor.View[uint64](in[0])[lo:hi])
	}
}

// part copies the real parts (k = 0) or the imaginary parts (k = 1).
func part[F float](k int) ElementLoop {
	return func(in, out []*tensor.Tensor, lo, hi int) {
		copyRow(tensor.View[F](out[0]), tensor.View[F](in[0].Parts()), lo, 2*lo+k, hi-lo, 1, 2)
	}
}

// MakeReal compiles real (spec, "real"). It returns a real operand unchanged.
func MakeReal(s *Signature) Kernel {
	if s.In[0].DType == s.Out[0].DType {
		return MakeConvert(s)
	}
	return partsKernel(s, half(vec.First32Loop), part[float64](0))
}

// MakeImag compiles imag (spec, "imag"). For a real operand it returns zero.
func MakeImag(s *Signature) Kernel {
	if s.In[0].DType == s.Out[0].DType {
		return Kernel{Family: "elements", Run: func(in, out []*tensor.Tensor) { clear(out[0].Bytes()) }}
	}
	return partsKernel(s, half(vec.Second32Loop), part[float64](1))
}

// MakeComplex compiles complex (spec, "complex").
func MakeComplex(s *Signature) Kernel {
	SameShape(s)
	switch in := s.In[0].DType; {
	case s.In[1].DType != in || s.Out[0].DType.Part() != in || !s.Out[0].DType.IsComplex():
		Fail(TypeMismatch(in, s.Out[0].DType))
	case in == tensor.F32:
		return ElementKernel(s.Out[0].N, 8, 2, joinHalves, 0)
	}
	return ElementKernel(s.Out[0].N, 16, 2, join[float64], 0)
}

// joinHalves is join for f32.
func joinHalves(in, out []*tensor.Tensor, lo, hi int) {
	join := vec.Binary[uint64, uint32](vec.Join32Loop)
	join(tensor.View[uint64](out[0])[lo:hi], tensor.View[uint32](in[0])[lo:hi], tensor.View[uint32](in[1])[lo:hi])
}

// join makes complex numbers of real and imaginary parts.
func join[F float](in, out []*tensor.Tensor, lo, hi int) {
	o, x, y := tensor.View[F](out[0].Parts())[2*lo:2*hi], tensor.View[F](in[0])[lo:hi], tensor.View[F](in[1])[lo:hi]
	for i, v := range x {
		o[2*i], o[2*i+1] = v, y[i]
	}
}

// MakeIsFinite compiles is_finite (spec, "is_finite").
func MakeIsFinite(s *Signature) Kernel {
	SameShape(s)
	dt := s.In[0].DType
	if !dt.IsFloat() || s.Out[0].DType != tensor.I1 {
		Fail(TypeMismatch(dt, s.Out[0].DType))
	}
	single, double := vec.Unary[uint8, float32](vec.Finite32Loop), vec.Unary[uint8, float64](vec.Finite64Loop)
	var loop ElementLoop
	switch dt {
	case tensor.F32:
		loop = convertView(single)
	case tensor.F64:
		loop = convertView(double)
	case tensor.F16, tensor.BF16:
		loop = blockwise(dt, decode32, func(out *tensor.Tensor, lo int, x, _ []float32) { single(out.Bytes()[lo:lo+len(x)], x) })
	default:
		loop = blockwise(dt, Decode64, func(out *tensor.Tensor, lo int, x, _ []float64) { double(out.Bytes()[lo:lo+len(x)], x) })
	}
	k := ElementKernel(s.Out[0].N, 1, 1, loop, 0)
	switch dt {
	case tensor.F32, tensor.BF16:
		k.Lanes = lanesOf(vec.Finite32Loop)
	case tensor.F64:
		k.Lanes = lanesOf(vec.Finite64Loop)
	}
	return k
}

func bit(v bool) uint8 {
	if v {
		return 1
	}
	return 0
}

// ReducePrecision rounds a number to eb exponent bits and mb mantissa bits. As the specification defines it, the
// rounding works on the number's encoding. It rounds the mantissa to nearest even, then a number that is too large to
// infinity, and a number that is too small to be normal to zero. A format with as many exponent bits as the type keeps
// its denormals. Types of at most eight bits are rounded in a wider type. NaN stays NaN if mb > 0; otherwise no
// mantissa bit can encode it and it becomes infinity.
func ReducePrecision(dt tensor.DType, bits uint64, eb, mb int) uint64 {
	wide, width, mantissa := dt, dt.Bits(), 0
	switch dt {
	case tensor.F16:
		mantissa = 10
	case tensor.BF16:
		mantissa = 7
	case tensor.F32:
		mantissa = 23
	case tensor.F64:
		mantissa = 52
	case tensor.F8E8M0FNU:
		wide, width, mantissa = tensor.F32, 32, 23
	default:
		wide, width, mantissa = tensor.F16, 16, 10
	}
	v := tensor.DecodeFloat(dt, bits)
	if math.IsNaN(v) {
		if mb > 0 {
			return bits
		}
		return tensor.EncodeFloat(dt, math.Copysign(math.Inf(1), v))
	}
	u := bits
	if wide != dt {
		u = tensor.EncodeFloat(wide, v)
	}
	sign := u & (1 << (width - 1))
	u &^= sign
	exponent := width - 1 - mantissa
	inf := uint64(1<<exponent-1) << mantissa
	if shift := mantissa - mb; shift > 0 && u < inf {
		u += 1<<(shift-1) - 1 + u>>shift&1
		u &^= 1<<shift - 1
	}
	if eb < exponent && u < inf {
		bias, reduced := 1<<(exponent-1)-1, 1<<(eb-1)-1
		switch e := int(u >> mantissa); {
		case e > bias+reduced:
			u = inf
		case e <= bias-reduced:
			u = 0
		}
	}
	if wide == dt {
		return u | sign
	}
	return tensor.EncodeFloat(dt, tensor.DecodeFloat(wide, u|sign))
}

// ReduceSingles returns ReducePrecision on the bits of f32.
func ReduceSingles(eb, mb int) func(o, x []int32) {
	const block = 1 << 10
	loop := vec.Ternary[int32, int32, int32](vec.ReducePrecisionLoop)
	shift := slices.Repeat([]int32{int32(max(23-mb, 0))}, block)
	exponent := slices.Repeat([]int32{int32(min(eb, 8))}, block)
	return func(o, x []int32) {
		for i := 0; i < len(o); i += block {
			n := min(block, len(o)-i)
			loop(o[i:i+n], x[i:i+n], shift[:n], exponent[:n])
		}
	}
}
