package main

import "strings"

type body func(p *program, x []*node) *node

func define(name, doc string, width int, formats, result string, f body) *program {
	p := &program{name: name, doc: doc, width: width, formats: strings.Fields(formats), format: result}
	for _, format := range p.formats {
		p.in = append(p.in, &node{op: "in", kind: kindOf(format), width: width})
	}
	p.out = f(p, p.in)
	return p
}

// of1 makes a body from a function of one operand, of2 from a function of two operands.
func of1(f func(p *program, x *node) *node) body {
	return func(p *program, x []*node) *node { return f(p, x[0]) }
}

func of2(f func(p *program, x, y *node) *node) body {
	return func(p *program, x []*node) *node { return f(p, x[0], x[1]) }
}

// programs returns all programs.
func programs() []*program {
	var out []*program
	add := func(p ...*program) { out = append(out, p...) }
	// native defines a program on f64 and on f32, each in lanes of its own width.
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
		d.base = name
		g := define(name, doc, 8, "f64", "f64", f)
		g.exported = true
		s := define(name+"32", doc, 8, "f32", "f32", f)
		s.base = name
		if narrow {
			s = define(name+"32", doc, 4, "f32", "f32", f)
		}
		d.element = g
		add(d, s)
	}
	for _, e := range []struct {
		name, doc string
		fold      bool
		f         body
	}{
		{"Add", "x + y", true, of2((*program).sum)},
		{"Sub", "x - y", false, of2((*program).sub)},
		{"Mul", "x * y", true, of2((*program).mul)},
		{"Div", "x / y", false, of2((*program).div)},
		{"Max", "the maximum; NaN wins, and +0 over -0", true, of2((*program).larger)},
		{"Min", "the minimum; NaN wins, and -0 over +0", true, of2((*program).smaller)},
		{"NextAfter", "the neighbour of x in the direction of y", false, of2((*program).neighbour)},
	} {
		native(e.name, e.doc, 2, "", e.f)
		out[len(out)-1].fold, out[len(out)-2].fold = e.fold, e.fold
	}
	native("Clamp", "the minimum of z and the maximum of x and y", 3, "", func(p *program, x []*node) *node { return p.smaller(p.larger(x[0], x[1]), x[2]) })
	native("Abs", "the absolute value", 1, "", of1((*program).absolute))
	native("Neg", "-x", 1, "", of1((*program).negative))
	native("Sign", "the sign", 1, "", of1((*program).signum))
	native("Sqrt", "the square root", 1, "", of1((*program).sqrt))
	native("RoundEven", "the nearest integer, of two the even one", 1, "", of1(func(p *program, x *node) *node { return p.round(0, x) }))
	native("Floor", "the next integer below", 1, "", of1(func(p *program, x *node) *node { return p.round(1, x) }))
	native("Ceil", "the next integer above", 1, "", of1(func(p *program, x *node) *node { return p.round(2, x) }))
	native("RoundAway", "the nearest integer, of two the larger in magnitude", 1, "", of1((*program).awayFromZero))
	for _, e := range []struct {
		name, doc string
		f         body
	}{
		{"Less", "x < y", of2((*program).lt)},
		{"LessEqual", "x <= y", of2((*program).le)},
		{"Equal", "x == y", of2((*program).eq)},
		{"NotEqual", "x != y", of2(func(p *program, x, y *node) *node { return p.mnot(p.eq(x, y)) })},
	} {
		native(e.name, e.doc, 2, "i1", e.f)
	}
	native("Finite", "whether x is finite", 1, "i1", of1(func(p *program, x *node) *node { return p.le(p.absolute(x), p.c(p.lane().max)) }))
	choose := func(p *program, x []*node) *node { return p.sel(x[0], x[1], x[2]) }
	add(define("Select16", "y if x, else z", 4, "i1 bf16 bf16", "bf16", func(p *program, x []*node) *node { return p.shr(choose(p, x), 16) }))
	add(define("Select32", "y if x, else z", 4, "i1 i32 i32", "i32", choose), define("Select64", "y if x, else z", 8, "i1 i64 i64", "i64", choose))

	function("Exp", "e^x", true, of1(func(p *program, x *node) *node { return p.expOf(x, 0) }))
	function("Expm1", "e^x - 1", true, of1((*program).expm1Of))
	function("Log", "the natural logarithm", true, of1((*program).logOf))
	function("Log1p", "log(1+x)", true, of1((*program).log1pOf))
	function("Logistic", "1/(1+e^-x)", true, of1((*program).logisticOf))
	function("Rsqrt", "one divided by the square root", false, of1(func(p *program, x *node) *node { return p.div(p.c(1), p.sqrt(x)) }))
	function("Sin", "the sine, for |x| up to 2^20", false, of1((*program).sineOf))
	function("Cos", "the cosine, for |x| up to 2^20", false, of1((*program).cosineOf))
	function("Tan", "the tangent, for |x| up to 2^20", false, of1((*program).tangentOf))
	function("Tanh", "the hyperbolic tangent", true, of1((*program).tanhOf))
	function("Sinh", "the hyperbolic sine", false, of1((*program).sinhOf))
	function("Cosh", "the hyperbolic cosine", false, of1((*program).coshOf))
	function("Cbrt", "the cube root", false, of1((*program).cubeRoot))
	function("Erfc", "one minus the error function", false, of1((*program).complementOf))
	out[len(out)-1] = define("Erfc32", "one minus the error function", 8, "f32", "f32", of1((*program).complement32))
	function("Erf", "the error function", false, of1((*program).errorFunction))
	out[len(out)-1] = define("Erf32", "the error function", 4, "f32", "f32", of1((*program).errorFunction32))
	function("BesselI1e", "the exponentially scaled Bessel function of order 1", false, of1(func(p *program, x *node) *node { return p.bessel1Of(x, 0) }))
	out[len(out)-1] = define("BesselI1e32", "the exponentially scaled Bessel function of order 1", 8, "f32", "f32",
		of1(func(p *program, x *node) *node { return p.bessel1Of(x, 0x1p-34) }))
	// binary defines a function of two numbers that the package exports for f64.
	binary := func(name, doc string, double, single body, base string) {
		d, s := define(name+"64", doc, 8, "f64 f64", "f64", double), define(name+"32", doc, 8, "f32 f32", "f32", single)
		d.element = define(name, doc, 8, "f64 f64", "f64", double)
		d.element.exported, d.base, s.base = true, name, base
		add(d, s)
	}
	angle := of2((*program).angleOf)
	binary("Atan2", "the angle of the point (y, x)", angle, angle, "Atan2")
	binary("Pow", "x^y", of2((*program).power64), of2((*program).power32), "")

	for _, e := range []struct {
		name, doc, result string
		f                 body
	}{
		{"Add", "x + y", "", of2((*program).iadd)},
		{"Sub", "x - y", "", of2((*program).isub)},
		{"And", "the bits set in both", "", of2((*program).and)},
		{"Or", "the bits set in one of them", "", of2((*program).or)},
		{"Xor", "the bits that differ", "", of2((*program).xor)},
		{"Max", "the larger signed integer", "", of2(func(p *program, x, y *node) *node { return p.sel(p.ilt(x, y), y, x) })},
		{"Min", "the smaller signed integer", "", of2(func(p *program, x, y *node) *node { return p.sel(p.ilt(x, y), x, y) })},
		{"Less", "x < y of signed integers", "i1", of2((*program).ilt)},
		{"LessEqual", "x <= y of signed integers", "i1", of2(func(p *program, x, y *node) *node { return p.mnot(p.ilt(y, x)) })},
		{"Equal", "x == y", "i1", of2((*program).ieq)},
		{"NotEqual", "x != y", "i1", of2(func(p *program, x, y *node) *node { return p.mnot(p.ieq(x, y)) })},
	} {
		for _, format := range []string{"i32", "i64"} {
			result := e.result
			if result == "" {
				result = format
			}
			add(define(e.name+"I"+format[1:], e.doc, sizeOf(format), format+" "+format, result, e.f))
		}
	}
	add(define("MulI32", "x * y", 4, "i32 i32", "i32", of2((*program).imul)))
	add(define("PowI32", "x to the power of y", 4, "i32 i32", "i32", of2(func(p *program, x, y *node) *node { return p.integerPower(x, y, 31) })))
	add(define("PowI32Short", "x to the power of y, for y below 128", 4, "i32 i32", "i32", of2(func(p *program, x, y *node) *node { return p.integerPower(x, y, 7) })))
	add(define("ReducePrecision", "f32 x with y bits less of mantissa and z bits of exponent", 4, "i32 i32 i32", "i32",
		func(p *program, x []*node) *node { return p.reducedOf(x[0], x[1], x[2]) }))
	add(define("ShiftLeft", "x shifted left by y", 4, "i32 i32", "i32", of2((*program).vshl)))
	add(define("ShiftRight", "x shifted right by y", 4, "i32 i32", "i32", of2((*program).vshr)))
	add(define("ShiftArithmetic", "x shifted right by y with its sign", 4, "i32 i32", "i32", of2((*program).vsar)))
	add(define("MulHigh", "the high half of x y", 4, "i32 i32", "i32", of2((*program).mulhi)))
	add(define("AbsInt", "the absolute value", 4, "i32", "i32", of1(func(p *program, x *node) *node { return p.sel(p.ilt(x, p.bits(0)), p.isub(p.bits(0), x), x) })))
	add(define("NegInt", "-x", 4, "i32", "i32", of1(func(p *program, x *node) *node { return p.isub(p.bits(0), x) })))
	add(define("NotInt", "the complement", 4, "i32", "i32", of1(func(p *program, x *node) *node { return p.xor(x, p.bits(0xffffffff)) })))
	add(define("SignInt", "the sign", 4, "i32", "i32", of1(func(p *program, x *node) *node {
		return p.sel(p.ilt(x, p.bits(0)), p.bits(0xffffffff), p.sel(p.ieq(x, p.bits(0)), p.bits(0), p.bits(1)))
	})))
	add(define("Popcnt", "the number of set bits", 4, "i32", "i32", of1((*program).population)))
	add(define("LeadingZeros", "the number of leading zeros", 4, "i32", "i32", of1((*program).leadingZeros)))

	same := of1(func(p *program, x *node) *node { return x })
	add(define("F32FromBF16", "x in f32", 4, "bf16", "f32", same))
	add(define("F32FromF16", "x in f32", 4, "f16", "f32", same))
	add(define("F32FromF64", "x in f32", 8, "f64", "f32", same))
	add(define("F64FromF32", "x in f64", 8, "f32", "f64", same))
	add(define("BF16FromF32", "x rounded to bf16", 4, "f32", "bf16", of1((*program).brain)))
	add(define("F16FromF32", "x rounded to f16", 4, "f32", "f16", of1(func(p *program, x *node) *node {
		return p.sel(p.unord(x, x), p.or(p.signOf(x), p.bits(0x7fc00000)), x)
	})))
	add(define("F32FromI32", "x in f32", 4, "i32", "f32", of1((*program).fromInt)))
	add(define("I32FromF32", "x truncated", 4, "f32", "i32", of1((*program).saturated)))
	add(define("F32FromI1", "1 or 0", 4, "i1", "f32", of1(func(p *program, x *node) *node { return p.sel(x, p.c(1), p.c(0)) })))
	return out
}
