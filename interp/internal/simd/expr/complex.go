package expr

import "math"

// A lane of eight bytes holds a complex<f32>: the real part in the low half. Its functions compute in f64, in which
// products of parts are exact. So a fused sum of products is the sum of products that are rounded.

func (p *Program) parts(x *Node) (re, im *Node) { return p.widen(x), p.widen(p.shr(x, 32)) }

func (p *Program) complex(re, im *Node) *Node { return p.or(p.narrow(re), p.shl(p.narrow(im), 32)) }

func (p *Program) complexProduct(x, y *Node) *Node {
	a, b := p.parts(x)
	c, d := p.parts(y)
	return p.complex(p.fma(p.negative(b), d, p.mul(a, c)), p.fma(b, c, p.mul(a, d)))
}

// complexQuotient returns NaN in both parts if an operand is zero or not finite.
func (p *Program) complexQuotient(x, y *Node) *Node {
	a, b := p.parts(x)
	c, d := p.parts(y)
	n := p.fma(d, d, p.mul(c, c))
	m := p.sum(p.absolute(a), p.absolute(b))
	inside := func(v *Node) *Node { return p.mand(p.lt(p.c(0), v), p.lt(v, p.c(math.Inf(1)))) }
	re, im := p.fma(b, d, p.mul(a, c)), p.fma(b, c, p.negative(p.mul(a, d)))
	r := p.complex(p.div(re, n), p.div(im, n))
	return p.sel(p.mand(inside(n), inside(m)), r, p.bits(0x7fc000007fc00000))
}

// ComplexProduct returns the program from the parts of two complex<f64> to the parts of their product: real, imaginary.
// Each part is a difference of products that carries the rounding error of one product along (Kahan). The parts are
// finite only if no operation left the range.
func ComplexProduct() *Program {
	p := New(8)
	a, b, c, d := p.Input("f64", false), p.Input("f64", false), p.Input("f64", false), p.Input("f64", false)
	p.Output("f64", p.products(a, b, c, d))
	p.Output("f64", p.products(a, p.negative(b), d, c))
	return p
}

// ComplexQuotient is ComplexProduct for quotients. The parts are NaN if an operand is zero or has parts whose products
// may leave the range.
func ComplexQuotient() *Program {
	p := New(8)
	a, b, c, d := p.Input("f64", false), p.Input("f64", false), p.Input("f64", false), p.Input("f64", false)
	n := p.sum(p.mul(c, c), p.mul(d, d))
	zero := p.mor(p.eq(n, p.c(0)), p.eq(p.sum(p.absolute(a), p.absolute(b)), p.c(0)))
	inside := p.mnot(zero)
	for _, v := range []*Node{a, b, c, d} {
		v = p.absolute(v)
		inside = p.mand(inside, p.mand(p.lt(v, p.c(0x1p200)), p.mor(p.lt(p.c(0x1p-200), v), p.eq(v, p.c(0)))))
	}
	p.Output("f64", p.sel(inside, p.div(p.products(a, p.negative(b), c, d), n), p.c(math.NaN())))
	p.Output("f64", p.sel(inside, p.div(p.products(b, a, c, d), n), p.c(math.NaN())))
	return p
}

// products returns a*c - b*d.
func (p *Program) products(a, b, c, d *Node) *Node {
	w := p.negative(p.mul(b, d))
	return p.sub(p.fma(a, c, w), p.fma(b, d, w))
}
