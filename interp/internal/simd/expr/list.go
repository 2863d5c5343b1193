package expr

import (
	"strings"
	"sync"
)

type body func(p *Program, x []*Node) *Node

func define(name, doc string, width int, formats, result string, f body) *Function {
	return &Function{Name: name, Doc: doc, Width: width, Formats: strings.Fields(formats), Format: result, body: f}
}

// of1 makes a body from a function of one operand, of2 from a function of two operands.
func of1(f func(p *Program, x *Node) *Node) body {
	return func(p *Program, x []*Node) *Node { return f(p, x[0]) }
}

func of2(f func(p *Program, x, y *Node) *Node) body {
	return func(p *Program, x []*Node) *Node { return f(p, x[0], x[1]) }
}

// Named returns a function by its name, with a small first letter.
func Named(name string) *Function { return named()[name] }

var named = sync.OnceValue(func() map[string]*Function {
	out := map[string]*Function{}
	for _, f := range append(Functions(), products()...) {
		out[f.Lower()] = f
	}
	return out
})

// Lower returns the name with a small first letter.
func (f *Function) Lower() string { return strings.ToLower(f.Name[:1]) + f.Name[1:] }

// products returns the functions that only fold: products of scalar products, magnitudes, and narrow floats in f32.
func products() []*Function {
	fused := func(p *Program, x []*Node) *Node { return p.fma(x[1], x[2], x[0]) }
	magnitude := func(p *Program, x []*Node) *Node {
		a := p.absolute(x[1])
		return p.sel(p.ilt(x[0], a), a, x[0])
	}
	out := []*Function{
		define("Magnitude32", "the larger of x and |y|, as integers", 4, "i32 i32", "i32", magnitude),
		define("Magnitude64", "the larger of x and |y|, as integers", 8, "i64 i64", "i64", magnitude),
		define("Dot32", "x + y z", 4, "f32 f32 f32", "f32", fused),
		define("DotBF16", "x + y z", 4, "f32 bf16 f32", "f32", fused),
		define("Dot64", "x + y z", 8, "f64 f64 f64", "f64", fused),
		define("DotI32", "x + y z", 4, "i32 i32 i32", "i32", func(p *Program, x []*Node) *Node { return p.iadd(x[0], p.imul(x[1], x[2])) }),
	}
	out[0].Zero, out[1].Zero = true, true
	for _, f := range Functions() {
		if f.Folds && f.Format == "f32" {
			for _, narrow := range []string{"BF16", "F16"} {
				out = append(out, define(f.Name+narrow, f.Doc, 4, "f32 "+strings.ToLower(narrow), "f32", f.body))
			}
		}
	}
	return out
}

// Functions returns all functions that have loops.
func Functions() []*Function {
	var out []*Function
	add := func(p ...*Function) { out = append(out, p...) }
	// native defines a function on f64 and on f32, each in lanes of its own width.
	native := func(name, doc string, operands int, result string, f body) {
		single, double := result, result
		if result == "" {
			single, double = "f32", "f64"
		}
		add(define(name+"32", doc, 4, strings.Repeat("f32 ", operands), single, f), define(name+"64", doc, 8, strings.Repeat("f64 ", operands), double, f))
	}
	// function defines a function of f64 that the package exports, native or with f32 computed in f64.
	function := func(name, doc string, narrow bool, f body) {
		d := define(name+"64", doc, 8, "f64", "f64", f)
		d.Base = name
		g := define(name, doc, 8, "f64", "f64", f)
		g.Exported = true
		s := define(name+"32", doc, 8, "f32", "f32", f)
		s.Base = name
		if narrow {
			s = define(name+"32", doc, 4, "f32", "f32", f)
		}
		d.Element = g
		add(d, s)
	}
	for _, e := range []struct {
		name, doc string
		folds     bool
		f         body
	}{
		{"Add", "x + y", true, of2((*Program).sum)},
		{"Sub", "x - y", false, of2((*Program).sub)},
		{"Mul", "x * y", true, of2((*Program).mul)},
		{"Div", "x / y", false, of2((*Program).div)},
		{"Max", "the maximum; NaN wins, and +0 over -0", true, of2((*Program).larger)},
		{"Min", "the minimum; NaN wins, and -0 over +0", true, of2((*Program).smaller)},
		{"NextAfter", "the neighbour of x in the direction of y", false, of2((*Program).neighbour)},
	} {
		native(e.name, e.doc, 2, "", e.f)
		out[len(out)-1].Folds, out[len(out)-2].Folds = e.folds, e.folds
	}
	native("Clamp", "the minimum of z and the maximum of x and y", 3, "", func(p *Program, x []*Node) *Node { return p.smaller(p.larger(x[0], x[1]), x[2]) })
	native("MulAdd", "x y + z, rounded once", 3, "", func(p *Program, x []*Node) *Node { return p.fma(x[0], x[1], x[2]) })
	native("Abs", "the absolute value", 1, "", of1((*Program).absolute))
	native("Neg", "-x", 1, "", of1((*Program).negative))
	native("Sign", "the sign", 1, "", of1((*Program).signum))
	native("Sqrt", "the square root", 1, "", of1((*Program).sqrt))
	native("RoundEven", "the nearest integer, of two the even one", 1, "", of1(func(p *Program, x *Node) *Node { return p.round(0, x) }))
	native("Floor", "the next integer below", 1, "", of1(func(p *Program, x *Node) *Node { return p.round(1, x) }))
	native("Ceil", "the next integer above", 1, "", of1(func(p *Program, x *Node) *Node { return p.round(2, x) }))
	native("RoundAway", "the nearest integer, of two the larger in magnitude", 1, "", of1((*Program).awayFromZero))
	for _, e := range []struct {
		name, doc string
		f         body
	}{
		{"Less", "x < y", of2((*Program).lt)},
		{"LessEqual", "x <= y", of2((*Program).le)},
		{"Equal", "x == y", of2((*Program).eq)},
		{"NotEqual", "x != y", of2(func(p *Program, x, y *Node) *Node { return p.mnot(p.eq(x, y)) })},
	} {
		native(e.name, e.doc, 2, "i1", e.f)
	}
	native("Finite", "whether x is finite", 1, "i1", of1(func(p *Program, x *Node) *Node { return p.le(p.absolute(x), p.c(p.lane().max)) }))
	choose := func(p *Program, x []*Node) *Node { return p.sel(x[0], x[1], x[2]) }
	add(define("Select16", "y if x, else z", 4, "i1 bf16 bf16", "bf16", func(p *Program, x []*Node) *Node { return p.shr(choose(p, x), 16) }))
	add(define("Select32", "y if x, else z", 4, "i1 i32 i32", "i32", choose), define("Select64", "y if x, else z", 8, "i1 i64 i64", "i64", choose))

	function("Exp", "e^x", true, of1(func(p *Program, x *Node) *Node { return p.expOf(x, 0) }))
	function("Expm1", "e^x - 1", true, of1((*Program).expm1Of))
	function("Log", "the natural logarithm", true, of1((*Program).logOf))
	function("Log1p", "log(1+x)", true, of1((*Program).log1pOf))
	function("Logistic", "1/(1+e^-x)", true, of1((*Program).logisticOf))
	function("Rsqrt", "one divided by the square root", false, of1(func(p *Program, x *Node) *Node { return p.div(p.c(1), p.sqrt(x)) }))
	// short gives the last function another body for f32, with lanes of f64.
	short := func(f body) {
		s := out[len(out)-1]
		out[len(out)-1] = define(s.Name, s.Doc, 8, "f32", "f32", f)
	}
	function("Sin", "the sine, for |x| up to 2^20", false, of1((*Program).sineOf))
	short(of1((*Program).sine32))
	function("Cos", "the cosine, for |x| up to 2^20", false, of1((*Program).cosineOf))
	short(of1((*Program).cosine32))
	function("Tan", "the tangent, for |x| up to 2^20", false, of1((*Program).tangentOf))
	short(of1((*Program).tangent32))
	function("Tanh", "the hyperbolic tangent", true, of1((*Program).tanhOf))
	function("Sinh", "the hyperbolic sine", false, of1((*Program).sinhOf))
	short(of1((*Program).sinh32))
	function("Cosh", "the hyperbolic cosine", false, of1((*Program).coshOf))
	short(of1((*Program).cosh32))
	function("Cbrt", "the cube root", false, of1((*Program).cubeRoot))
	short(of1((*Program).cubeRoot32))
	function("Erfc", "one minus the error function", false, of1((*Program).complementOf))
	short(of1((*Program).complement32))
	function("Erf", "the error function", false, of1((*Program).errorFunction))
	out[len(out)-1] = define("Erf32", "the error function", 4, "f32", "f32", of1((*Program).errorFunction32))
	function("BesselI1e", "the exponentially scaled Bessel function of order 1", false, of1(func(p *Program, x *Node) *Node { return p.bessel1Of(x, 0) }))
	short(of1(func(p *Program, x *Node) *Node { return p.bessel1Of(x, 0x1p-34) }))
	// binary defines a function of two numbers that the package exports for f64.
	binary := func(name, doc string, double, single body, base string) {
		d, s := define(name+"64", doc, 8, "f64 f64", "f64", double), define(name+"32", doc, 8, "f32 f32", "f32", single)
		d.Element = define(name, doc, 8, "f64 f64", "f64", double)
		d.Element.Exported, d.Base, s.Base = true, name, base
		add(d, s)
	}
	binary("Atan2", "the angle of the point (y, x)", of2((*Program).angleOf), of2((*Program).angle32), "")
	binary("Pow", "x^y", of2((*Program).power64), of2((*Program).pow32), "")
	function("ErfInv", "the inverse error function", false, of1((*Program).inverseError))
	short(of1((*Program).inverseError32))
	for _, e := range []struct {
		name, doc string
		f         body
	}{
		{"Asinh32", "the inverse hyperbolic sine", of1((*Program).asinh32)},
		{"Acosh32", "the inverse hyperbolic cosine", of1((*Program).acosh32)},
		{"Atanh32", "the inverse hyperbolic tangent", of1((*Program).atanh32)},
	} {
		add(define(e.name, e.doc, 8, "f32", "f32", e.f))
	}

	for _, e := range []struct {
		name, doc, result string
		f                 body
	}{
		{"Add", "x + y", "", of2((*Program).iadd)},
		{"Sub", "x - y", "", of2((*Program).isub)},
		{"And", "the bits set in both", "", of2((*Program).and)},
		{"Or", "the bits set in one of them", "", of2((*Program).or)},
		{"Xor", "the bits that differ", "", of2((*Program).xor)},
		{"Max", "the larger signed integer", "", of2(func(p *Program, x, y *Node) *Node { return p.sel(p.ilt(x, y), y, x) })},
		{"Min", "the smaller signed integer", "", of2(func(p *Program, x, y *Node) *Node { return p.sel(p.ilt(x, y), x, y) })},
		{"Less", "x < y of signed integers", "i1", of2((*Program).ilt)},
		{"LessEqual", "x <= y of signed integers", "i1", of2(func(p *Program, x, y *Node) *Node { return p.mnot(p.ilt(y, x)) })},
		{"Equal", "x == y", "i1", of2((*Program).ieq)},
		{"NotEqual", "x != y", "i1", of2(func(p *Program, x, y *Node) *Node { return p.mnot(p.ieq(x, y)) })},
	} {
		for _, format := range []string{"i32", "i64"} {
			result := e.result
			if result == "" {
				result = format
			}
			add(define(e.name+"I"+format[1:], e.doc, Size(format), format+" "+format, result, e.f))
		}
	}
	add(define("DivI32", "x / y truncated; -1 if y is 0", 8, "i32 i32", "i32", of2((*Program).quotientI32)))
	add(define("RemI32", "the remainder of x / y; x if y is 0", 8, "i32 i32", "i32", of2((*Program).remainderI32)))
	add(define("Rem32", "the remainder of x / y, or NaN if the quotient is large", 8, "f32 f32", "f32", of2((*Program).remainder)))
	add(define("Rem64", "the remainder of x / y, or NaN if the quotient is large", 8, "f64 f64", "f64", of2((*Program).remainder)))
	add(define("Join32", "the bits of x, then those of y", 8, "i32 i32", "i64", of2(func(p *Program, x, y *Node) *Node {
		return p.or(p.and(x, p.bits(0xffffffff)), p.shl(y, 32))
	})))
	add(define("MulC64", "x * y of complex<f32>", 8, "i64 i64", "i64", of2((*Program).complexProduct)))
	add(define("DivC64", "x / y of complex<f32>, or NaN if an operand is zero or not finite", 8, "i64 i64", "i64", of2((*Program).complexQuotient)))
	add(define("First32", "the first half of x", 8, "i64", "i32", of1(func(p *Program, x *Node) *Node { return x })))
	add(define("First16", "the first half of x", 4, "i32", "bf16", of1(func(p *Program, x *Node) *Node { return p.and(x, p.bits(0xffff)) })))
	add(define("Second32", "the second half of x", 8, "i64", "i32", of1(func(p *Program, x *Node) *Node { return p.shr(x, 32) })))
	add(define("MulI32", "x * y", 4, "i32 i32", "i32", of2((*Program).imul)))
	add(define("PowI32", "x to the power of y", 4, "i32 i32", "i32", of2(func(p *Program, x, y *Node) *Node { return p.integerPower(x, y, 31) })))
	add(define("PowI32Short", "x to the power of y, for y below 128", 4, "i32 i32", "i32", of2(func(p *Program, x, y *Node) *Node { return p.integerPower(x, y, 7) })))
	add(define("ReducePrecision", "f32 x with y bits less of mantissa and z bits of exponent", 4, "i32 i32 i32", "i32",
		func(p *Program, x []*Node) *Node { return p.reducedOf(x[0], x[1], x[2]) }))
	add(define("ShiftLeft", "x shifted left by y", 4, "i32 i32", "i32", of2((*Program).vshl)))
	add(define("ShiftRight", "x shifted right by y", 4, "i32 i32", "i32", of2((*Program).vshr)))
	add(define("ShiftArithmetic", "x shifted right by y with its sign", 4, "i32 i32", "i32", of2((*Program).vsar)))
	add(define("MulHigh", "the high half of x y", 4, "i32 i32", "i32", of2((*Program).mulhi)))
	add(define("AbsInt", "the absolute value", 4, "i32", "i32", of1(func(p *Program, x *Node) *Node { return p.sel(p.ilt(x, p.bits(0)), p.isub(p.bits(0), x), x) })))
	add(define("NegInt", "-x", 4, "i32", "i32", of1(func(p *Program, x *Node) *Node { return p.isub(p.bits(0), x) })))
	add(define("NotInt", "the complement", 4, "i32", "i32", of1(func(p *Program, x *Node) *Node { return p.xor(x, p.bits(0xffffffff)) })))
	add(define("SignInt", "the sign", 4, "i32", "i32", of1(func(p *Program, x *Node) *Node {
		return p.sel(p.ilt(x, p.bits(0)), p.bits(0xffffffff), p.sel(p.ieq(x, p.bits(0)), p.bits(0), p.bits(1)))
	})))
	add(define("Popcnt", "the number of set bits", 4, "i32", "i32", of1((*Program).population)))
	add(define("LeadingZeros", "the number of leading zeros", 4, "i32", "i32", of1((*Program).leadingZeros)))

	same := of1(func(p *Program, x *Node) *Node { return x })
	add(define("F32FromBF16", "x in f32", 4, "bf16", "f32", same))
	add(define("F32FromF16", "x in f32", 4, "f16", "f32", same))
	add(define("F32FromF64", "x in f32", 8, "f64", "f32", same))
	add(define("F64FromF32", "x in f64", 8, "f32", "f64", same))
	add(define("AddBF16", "x + y in f32, rounded to bf16", 4, "bf16 bf16", "bf16", of2(func(p *Program, x, y *Node) *Node { return p.brain(p.sum(x, y)) })))
	add(define("BF16FromF32", "x rounded to bf16", 4, "f32", "bf16", of1((*Program).brain)))
	add(define("F16FromF32", "x rounded to f16", 4, "f32", "f16", of1(func(p *Program, x *Node) *Node {
		return p.sel(p.unord(x, x), p.or(p.signOf(x), p.bits(0x7fc00000)), x)
	})))
	add(define("F32FromI32", "x in f32", 4, "i32", "f32", of1((*Program).fromInt)))
	add(define("I32FromF32", "x truncated", 4, "f32", "i32", of1((*Program).saturated)))
	add(define("F32FromI1", "1 or 0", 4, "i1", "f32", of1(func(p *Program, x *Node) *Node { return p.sel(x, p.c(1), p.c(0)) })))
	return out
}
