package kernel

import (
	"sync"
	"unsafe"

	"github.com/hlocb/hlocb/interp/internal/simd/vec"
	"github.com/hlocb/hlocb/interp/internal/special"
	"github.com/hlocb/hlocb/tensor"
)

// BinaryLoops holds the loops of one binary op, one per element type; nil if the op does not support the type. All
// slices have the same length. The result may share its memory with an operand.
type BinaryLoops struct {
	B     func(o, x, y []uint8) // i1: 0 or 1
	i8    func(o, x, y []int8)
	i16   func(o, x, y []int16)
	i32   binaryLoop[int32]
	i64   binaryLoop[int64]
	u8    func(o, x, y []uint8)
	u16   func(o, x, y []uint16)
	u32   binaryLoop[uint32]
	u64   binaryLoop[uint64]
	f32   binaryLoop[float32]
	f64   binaryLoop[float64]
	c64   func(o, x, y []complex64)
	c128  func(o, x, y []complex128)
	flags *Lanes // the op on i1
	inF32 bool   // f16 and bf16 are computed in f32 and rounded
}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

type float interface{ ~float32 | ~float64 }

type complexNumber interface{ ~complex64 | ~complex128 }

func addLoop[T integer](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = x[i] + y[i]
	}
}

func subLoop[T integer](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = x[i] - y[i]
	}
}

func mulLoop[T integer](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = x[i] * y[i]
	}
}

// onParts returns the loop of an op on complex numbers that computes their parts separately.
func onParts[F float, T complexNumber](l *vec.Loop) func(o, x, y []T) {
	run := vec.Binary[F, F](l)
	return func(o, x, y []T) { run(partsOf[F](o), partsOf[F](x), partsOf[F](y)) }
}

// partsOf returns the real and imaginary parts of complex numbers, in turns.
func partsOf[F float, T complexNumber](x []T) []F {
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}

// divInt truncates (spec, "divide"). The spec does not define x / 0; the result is all ones, as in XLA.
func divInt[T integer](o, x, y []T) {
	for i := range o {
		if y[i] == 0 {
			o[i] = 0
			o[i]--
		} else {
			o[i] = x[i] / y[i]
		}
	}
}

// remInt returns remainders with the sign of the dividend (spec, "remainder"). x % 0 is x, as in XLA.
func remInt[T integer](o, x, y []T) {
	for i := range o {
		if y[i] == 0 {
			o[i] = x[i]
		} else {
			o[i] = x[i] % y[i]
		}
	}
}

func maxInt[T integer](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = max(x[i], y[i])
	}
}

func minInt[T integer](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = min(x[i], y[i])
	}
}

// maxComplex orders complex numbers by real part, then by imaginary part (spec, "maximum").
func maxComplex[T complexNumber](o, x, y []T) {
	for i := range o {
		v := y[i] // o may be x
		if complexLess(complex128(y[i]), complex128(x[i])) {
			v = x[i]
		}
		o[i] = v
	}
}

func minComplex[T complexNumber](o, x, y []T) {
	for i := range o {
		v := y[i] // o may be x
		if complexLess(complex128(x[i]), complex128(y[i])) {
			v = x[i]
		}
		o[i] = v
	}
}

func complexLess(a, b complex128) bool {
	if real(a) != real(b) {
		return real(a) < real(b)
	}
	return imag(a) < imag(b)
}

func andLoop[T integer](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = x[i] & y[i]
	}
}

func orLoop[T integer](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = x[i] | y[i]
	}
}

func XorLoop[T integer](o, x, y []T) {
	x, y = x[:len(o)], y[:len(o)]
	for i := range o {
		o[i] = x[i] ^ y[i]
	}
}

// powInt computes powers by squaring, modulo 2^width. A negative exponent yields 1 divided by the power, truncated: 0
// unless the base is 1 or -1. This includes base 0, as in XLA (spec, "power").
func powInt[T integer](o, x, y []T) {
	for i := range o {
		base, e := x[i], y[i]
		if e < 0 {
			switch {
			case base == 1, base+1 == 0 && e&1 == 0:
				o[i] = 1
			case base+1 == 0:
				o[i] = base
			default:
				o[i] = 0
			}
			continue
		}
		r := T(1)
		for u := uint64(e); u != 0; u >>= 1 {
			if u&1 != 0 {
				r *= base
			}
			base *= base
		}
		o[i] = r
	}
}

func powComplex[T complexNumber](o, x, y []T) {
	for i := range o {
		o[i] = T(special.ComplexPow(complex128(x[i]), complex128(y[i])))
	}
}

func atan2Complex[T complexNumber](o, x, y []T) {
	for i := range o {
		o[i] = T(special.ComplexAtan2(complex128(x[i]), complex128(y[i])))
	}
}

// shlLoop returns the loop of shift_left. As in the other shifts (spec, "shift_left", "shift_right_arithmetic",
// "shift_right_logical"), shifting by the width or more yields zero, or copies of the sign bit if arithmetic.
func shlLoop[T integer](bits uint64) func(o, x, y []T) {
	return func(o, x, y []T) {
		for i := range o {
			if s := uint64(y[i]); s < bits {
				o[i] = x[i] << s
			} else {
				o[i] = 0
			}
		}
	}
}

// shrLoop and sarLoop shift right, after they extend the integers to 64 bits without and with their sign.
func shrLoop[T integer](bits uint64) func(o, x, y []T) {
	return func(o, x, y []T) {
		for i := range o {
			v := uint64(0)
			if s := uint64(y[i]); s < bits {
				v = uint64(x[i]) << (64 - bits) >> (64 - bits) >> s
			}
			o[i] = T(v)
		}
	}
}

func sarLoop[T integer](bits uint64) func(o, x, y []T) {
	return func(o, x, y []T) {
		for i := range o {
			o[i] = T(int64(uint64(x[i])<<(64-bits)) >> (64 - bits) >> min(uint64(y[i]), bits-1))
		}
	}
}

// binaryLoop is a loop of two operands, and its function if package expr has it.
type binaryLoop[T tensor.Element] struct {
	run func(o, x, y []T)
	vec *vec.Loop
}

// single, double, whole, long, words and doubleWords are loops of two operands on f32, f64, i32, i64, ui32 and ui64.
func single(l *vec.Loop) binaryLoop[float32]     { return vectorLoop[float32](l) }
func double(l *vec.Loop) binaryLoop[float64]     { return vectorLoop[float64](l) }
func whole(l *vec.Loop) binaryLoop[int32]        { return vectorLoop[int32](l) }
func long(l *vec.Loop) binaryLoop[int64]         { return vectorLoop[int64](l) }
func words(l *vec.Loop) binaryLoop[uint32]       { return vectorLoop[uint32](l) }
func doubleWords(l *vec.Loop) binaryLoop[uint64] { return vectorLoop[uint64](l) }

func vectorLoop[T tensor.Element](l *vec.Loop) binaryLoop[T] {
	return binaryLoop[T]{vec.Binary[T, T](l), l}
}

// inGo is a loop without a function in package expr.
func inGo[T tensor.Element](f func(o, x, y []T)) binaryLoop[T] { return binaryLoop[T]{run: f} }

// The binary ops (spec, "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
// "power", "atan2"). On i1, add and maximum are or; multiply and minimum are and. Integers wrap around; floating-point
// results are rounded once.
var (
	Add = &BinaryLoops{B: orLoop[uint8], flags: either, i8: addLoop[int8], i16: addLoop[int16], i32: whole(vec.AddI32Loop), i64: long(vec.AddI64Loop),
		u8: addLoop[uint8], u16: addLoop[uint16], u32: words(vec.AddI32Loop), u64: doubleWords(vec.AddI64Loop),
		f32: single(vec.Add32Loop), f64: double(vec.Add64Loop), c64: onParts[float32, complex64](vec.Add32Loop), c128: onParts[float64, complex128](vec.Add64Loop), inF32: true}
	Subtract = &BinaryLoops{i8: subLoop[int8], i16: subLoop[int16], i32: whole(vec.SubI32Loop), i64: long(vec.SubI64Loop),
		u8: subLoop[uint8], u16: subLoop[uint16], u32: words(vec.SubI32Loop), u64: doubleWords(vec.SubI64Loop),
		f32: single(vec.Sub32Loop), f64: double(vec.Sub64Loop), c64: onParts[float32, complex64](vec.Sub32Loop), c128: onParts[float64, complex128](vec.Sub64Loop), inF32: true}
	Multiply = &BinaryLoops{B: andLoop[uint8], flags: both, i8: mulLoop[int8], i16: mulLoop[int16], i32: whole(vec.MulI32Loop), i64: inGo(mulLoop[int64]),
		u8: mulLoop[uint8], u16: mulLoop[uint16], u32: words(vec.MulI32Loop), u64: inGo(mulLoop[uint64]),
		f32: single(vec.Mul32Loop), f64: double(vec.Mul64Loop), c64: vec.Binary[complex64, complex64](vec.MulC64Loop), c128: vec.Products128(special.ComplexMul), inF32: true}
	Divide = &BinaryLoops{i8: divInt[int8], i16: divInt[int16], i32: inGo(vec.Binary[int32, int32](vec.DivI32Loop)), i64: inGo(divInt[int64]),
		u8: divInt[uint8], u16: divInt[uint16], u32: inGo(divInt[uint32]), u64: inGo(divInt[uint64]),
		f32: single(vec.Div32Loop), f64: double(vec.Div64Loop), c64: vec.Quotients(special.ComplexDiv), c128: vec.Quotients128(special.ComplexDiv), inF32: true}
	Remainder = &BinaryLoops{i8: remInt[int8], i16: remInt[int16], i32: inGo(vec.Binary[int32, int32](vec.RemI32Loop)), i64: inGo(remInt[int64]),
		u8: remInt[uint8], u16: remInt[uint16], u32: inGo(remInt[uint32]), u64: inGo(remInt[uint64]), f32: inGo(vec.Remainders[float32](vec.Rem32Loop)), f64: inGo(vec.Remainders[float64](vec.Rem64Loop)), inF32: true}
	Maximum = &BinaryLoops{B: orLoop[uint8], flags: either, i8: maxInt[int8], i16: maxInt[int16], i32: whole(vec.MaxI32Loop), i64: long(vec.MaxI64Loop),
		u8: maxInt[uint8], u16: maxInt[uint16], u32: inGo(maxInt[uint32]), u64: inGo(maxInt[uint64]),
		f32: single(vec.Max32Loop), f64: double(vec.Max64Loop), c64: maxComplex[complex64], c128: maxComplex[complex128], inF32: true}
	Minimum = &BinaryLoops{B: andLoop[uint8], flags: both, i8: minInt[int8], i16: minInt[int16], i32: whole(vec.MinI32Loop), i64: long(vec.MinI64Loop),
		u8: minInt[uint8], u16: minInt[uint16], u32: inGo(minInt[uint32]), u64: inGo(minInt[uint64]),
		f32: single(vec.Min32Loop), f64: double(vec.Min64Loop), c64: minComplex[complex64], c128: minComplex[complex128], inF32: true}
	And = &BinaryLoops{B: andLoop[uint8], flags: both, i8: andLoop[int8], i16: andLoop[int16], i32: whole(vec.AndI32Loop), i64: long(vec.AndI64Loop),
		u8: andLoop[uint8], u16: andLoop[uint16], u32: words(vec.AndI32Loop), u64: doubleWords(vec.AndI64Loop)}
	Or = &BinaryLoops{B: orLoop[uint8], flags: either, i8: orLoop[int8], i16: orLoop[int16], i32: whole(vec.OrI32Loop), i64: long(vec.OrI64Loop),
		u8: orLoop[uint8], u16: orLoop[uint16], u32: words(vec.OrI32Loop), u64: doubleWords(vec.OrI64Loop)}
	Xor = &BinaryLoops{B: XorLoop[uint8], i8: XorLoop[int8], i16: XorLoop[int16], i32: whole(vec.XorI32Loop), i64: long(vec.XorI64Loop),
		u8: XorLoop[uint8], u16: XorLoop[uint16], u32: words(vec.XorI32Loop), u64: doubleWords(vec.XorI64Loop)}
	Power = &BinaryLoops{i8: powInt[int8], i16: powInt[int16], i32: inGo(vec.PowI32), i64: inGo(powInt[int64]),
		u8: powInt[uint8], u16: powInt[uint16], u32: inGo(powInt[uint32]), u64: inGo(powInt[uint64]),
		f32: single(vec.Pow32Loop), f64: double(vec.Pow64Loop), c64: powComplex[complex64], c128: powComplex[complex128], inF32: true}
	Atan2 = &BinaryLoops{f32: single(vec.Atan232Loop), f64: double(vec.Atan264Loop), c64: atan2Complex[complex64], c128: atan2Complex[complex128], inF32: true}
)

// The loops of the shifts (spec, "shift_left", "shift_right_arithmetic", "shift_right_logical") depend on the width of
// the integers: an i4 shift by 4 or more yields zero.

func ShiftLeft(bits int) *BinaryLoops {
	n := uint64(bits)
	return &BinaryLoops{i8: shlLoop[int8](n), i16: shlLoop[int16](n), i32: whole(vec.ShiftLeftLoop), i64: inGo(shlLoop[int64](n)),
		u8: shlLoop[uint8](n), u16: shlLoop[uint16](n), u32: words(vec.ShiftLeftLoop), u64: inGo(shlLoop[uint64](n))}
}

func ShiftRightArithmetic(bits int) *BinaryLoops {
	n := uint64(bits)
	return &BinaryLoops{i8: sarLoop[int8](n), i16: sarLoop[int16](n), i32: whole(vec.ShiftArithmeticLoop), i64: inGo(sarLoop[int64](n)),
		u8: sarLoop[uint8](n), u16: sarLoop[uint16](n), u32: words(vec.ShiftArithmeticLoop), u64: inGo(sarLoop[uint64](n))}
}

func ShiftRightLogical(bits int) *BinaryLoops {
	n := uint64(bits)
	return &BinaryLoops{i8: shrLoop[int8](n), i16: shrLoop[int16](n), i32: whole(vec.ShiftRightLoop), i64: inGo(shrLoop[int64](n)),
		u8: shrLoop[uint8](n), u16: shrLoop[uint16](n), u32: words(vec.ShiftRightLoop), u64: inGo(shrLoop[uint64](n))}
}

// BinaryOf returns the loops of a function of numbers. Floats of all types are computed in f64 and rounded once.
// Integers of all types are computed in 64 bits; the result keeps the low bits. A nil function means that the op does
// not support these numbers.
func BinaryOf(floats func(x, y float64) float64, ints func(x, y int64) int64, uints func(x, y uint64) uint64) *BinaryLoops {
	return &BinaryLoops{f64: inGo(each[float64](floats)),
		i8: each[int8](ints), i16: each[int16](ints), i32: inGo(each[int32](ints)), i64: inGo(each[int64](ints)),
		u8: each[uint8](uints), u16: each[uint16](uints), u32: inGo(each[uint32](uints)), u64: inGo(each[uint64](uints))}
}

// each returns the loop that calls f for every element, or nil.
func each[T, W integer | float](f func(x, y W) W) func(o, x, y []T) {
	if f == nil {
		return nil
	}
	return func(o, x, y []T) {
		for i := range o {
			o[i] = T(f(W(x[i]), W(y[i])))
		}
	}
}

// MakeBinary returns the maker of a binary elementwise op.
func MakeBinary(l *BinaryLoops) func(*Signature) Kernel {
	return MakeShift(func(int) *BinaryLoops { return l })
}

// MakeShift returns the maker of a binary elementwise op whose loops depend on the width of its elements.
func MakeShift(loops func(bits int) *BinaryLoops) func(*Signature) Kernel {
	return func(s *Signature) Kernel {
		SameShape(s)
		dt := s.Out[0].DType
		FailIf(s.In[0].DType != dt || s.In[1].DType != dt, "expects operands of the result's element type %s", dt)
		run := loops(dt.Bits()).Bind(dt)
		UnsupportedIf(run == nil, "%s on elements of type %s", s.Name, dt)
		k := ElementKernel(s.Out[0].N, dt.Size(), 2, run, 3).with(loops(dt.Bits()).lanes(dt))
		if dt == tensor.F32 {
			k.Single = singleOf(loops(dt.Bits()).f32.vec, 0)
		}
		return k
	}
}

// lanes returns the op on lanes, or nil.
func (l *BinaryLoops) lanes(dt tensor.DType) *Lanes {
	switch dt {
	case tensor.I1:
		return l.flags
	case tensor.I32:
		return lanesOf(l.i32.vec)
	case tensor.I64:
		return lanesOf(l.i64.vec)
	case tensor.UI32:
		return lanesOf(l.u32.vec)
	case tensor.UI64:
		return lanesOf(l.u64.vec)
	case tensor.F32:
		return lanesOf(l.f32.vec)
	case tensor.F64:
		return lanesOf(l.f64.vec)
	case tensor.BF16:
		if l.inF32 {
			return rounded(lanesOf(l.f32.vec))
		}
	}
	return nil
}

// ElementLoop computes elements [lo, hi).
type ElementLoop func(in, out []*tensor.Tensor, lo, hi int)

func view2[T tensor.Element](f func(o, x, y []T)) ElementLoop {
	if f == nil {
		return nil
	}
	return func(in, out []*tensor.Tensor, lo, hi int) {
		f(tensor.View[T](out[0])[lo:hi], tensor.View[T](in[0])[lo:hi], tensor.View[T](in[1])[lo:hi])
	}
}

// Bind returns the loop for an element type, or nil if there is none.
func (l *BinaryLoops) Bind(dt tensor.DType) ElementLoop {
	switch dt {
	case tensor.I1:
		return view2(l.B)
	case tensor.I8:
		return view2(l.i8)
	case tensor.I16:
		return view2(l.i16)
	case tensor.I32:
		return view2(l.i32.run)
	case tensor.I64, tensor.Index:
		return view2(l.i64.run)
	case tensor.UI8:
		return view2(l.u8)
	case tensor.UI16:
		return view2(l.u16)
	case tensor.UI32:
		return view2(l.u32.run)
	case tensor.UI64:
		return view2(l.u64.run)
	case tensor.F64:
		return view2(l.f64.run)
	case tensor.Complex64:
		return view2(l.c64)
	case tensor.Complex128:
		return view2(l.c128)
	case tensor.I2, tensor.I4:
		return narrowInt(view2(l.i8), dt)
	case tensor.UI2, tensor.UI4:
		return narrowInt(view2(l.u8), dt)
	}
	switch {
	case dt == tensor.F32 && l.f32.run != nil:
		return view2(l.f32.run)
	case !dt.IsFloat() || l.f64.run == nil:
		return nil
	case l.inF32 && (dt == tensor.F16 || dt == tensor.BF16):
		return widen2(dt, l.f32.run, decode32, encode32)
	}
	return widen2(dt, l.f64.run, Decode64, Encode64)
}

// narrowInt returns a loop that runs f on bytes and wraps the results to the width of dt. Integers narrower than a byte
// are stored sign- or zero-extended.
func narrowInt(f ElementLoop, dt tensor.DType) ElementLoop {
	if f == nil {
		return nil
	}
	return func(in, out []*tensor.Tensor, lo, hi int) {
		f(in, out, lo, hi)
		wrapNarrow(dt, out[0].Bytes()[lo:hi])
	}
}

func wrapNarrow(dt tensor.DType, b []byte) {
	shift := 8 - dt.Bits()
	if dt.Kind() == tensor.KindUnsigned {
		for i, v := range b {
			b[i] = v << shift >> shift
		}
		return
	}
	for i, v := range b {
		b[i] = byte(int8(v<<shift) >> shift)
	}
}

// chunk is the number of elements that are widened or converted at a time.
const chunk = 512

// blockwise returns a loop that decodes the operands, one or two, block by block. f computes the elements of out from
// lo on. The blocks come from a pool: a fused chain calls its loops often, and new blocks would take as long as the
// loops.
func blockwise[T any](dt tensor.DType, decode func(tensor.DType, []T, *tensor.Tensor, int), f func(out *tensor.Tensor, lo int, x, y []T)) ElementLoop {
	pool := sync.Pool{New: func() any { return new([2][chunk]T) }}
	return func(in, out []*tensor.Tensor, lo, hi int) {
		b := pool.Get().(*[2][chunk]T)
		defer pool.Put(b)
		for ; lo < hi; lo += chunk {
			n := min(chunk, hi-lo)
			decode(dt, b[0][:n], in[0], lo)
			if len(in) > 1 {
				decode(dt, b[1][:n], in[1], lo)
			}
			f(out[0], lo, b[0][:n], b[1][:n])
		}
	}
}

// widen2 returns a loop on narrow floats that decodes them, computes in a wider type and rounds once.
func widen2[T float](dt tensor.DType, f func(o, x, y []T), dec func(tensor.DType, []T, *tensor.Tensor, int), enc func(tensor.DType, *tensor.Tensor, int, []T)) ElementLoop {
	return blockwise(dt, dec, func(out *tensor.Tensor, lo int, x, y []T) {
		f(x, x, y)
		enc(dt, out, lo, x)
	})
}
