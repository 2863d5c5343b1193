package expr

import "math"

// larger returns IEEE 754's maximum: it propagates NaN and orders -0 before 0. smaller returns the minimum.
func (p *Program) larger(x, y *Node) *Node {
	r := p.sel(p.lt(x, y), y, x)
	r = p.sel(p.eq(x, y), p.and(x, y), r)
	return p.sel(p.unord(x, y), p.sum(x, y), r)
}

func (p *Program) smaller(x, y *Node) *Node {
	r := p.sel(p.lt(y, x), y, x)
	r = p.sel(p.eq(x, y), p.or(x, y), r)
	return p.sel(p.unord(x, y), p.sum(x, y), r)
}

// awayFromZero rounds halves away from zero: it adds the largest number below 1/2.
func (p *Program) awayFromZero(x *Node) *Node {
	half := p.or(p.bits(p.lane().one-1<<p.lane().mantissa-1), p.signOf(x))
	return p.or(p.round(3, p.sum(x, half)), p.signOf(x))
}

func (p *Program) signum(x *Node) *Node {
	y := p.or(p.c(1), p.signOf(x))
	return p.sel(p.mor(p.eq(x, p.c(0)), p.unord(x, x)), x, y)
}

// neighbour returns the next number after x towards y.
func (p *Program) neighbour(x, y *Node) *Node {
	up := p.lt(x, y)
	positive := p.lt(p.c(0), x)
	away := p.mor(p.mand(up, positive), p.mand(p.mnot(up), p.mnot(positive)))
	r := p.sel(away, p.iadd(x, p.bits(1)), p.isub(x, p.bits(1)))
	r = p.sel(p.eq(x, p.c(0)), p.or(p.signOf(y), p.bits(1)), r)
	r = p.sel(p.mor(p.eq(x, y), p.unord(y, y)), y, r)
	return p.sel(p.unord(x, x), x, r)
}

// population counts the set bits of 32.
func (p *Program) population(x *Node) *Node {
	x = p.isub(x, p.and(p.shr(x, 1), p.bits(0x55555555)))
	x = p.iadd(p.and(x, p.bits(0x33333333)), p.and(p.shr(x, 2), p.bits(0x33333333)))
	x = p.and(p.iadd(x, p.shr(x, 4)), p.bits(0x0f0f0f0f))
	x = p.iadd(x, p.shr(x, 8))
	return p.and(p.iadd(x, p.shr(x, 16)), p.bits(63))
}

func (p *Program) leadingZeros(x *Node) *Node {
	for n := uint64(1); n < 32; n *= 2 {
		x = p.or(x, p.shr(x, n))
	}
	return p.population(p.xor(x, p.bits(0xffffffff)))
}

// brain rounds an f32 to bf16, in the low half of the lane.
func (p *Program) brain(x *Node) *Node {
	odd := p.and(p.shr(x, 16), p.bits(1))
	r := p.iadd(p.iadd(x, p.bits(0x7fff)), odd)
	nan := p.or(p.and(x, p.bits(0x80000000)), p.bits(0x7fc00000))
	return p.shr(p.sel(p.unord(x, x), nan, r), 16)
}

// saturated converts an f32 to an i32: values out of range saturate, NaN becomes 0.
func (p *Program) saturated(x *Node) *Node {
	r := p.sel(p.le(p.c(0x1p31), x), p.bits(0x7fffffff), p.toInt(x))
	return p.sel(p.unord(x, x), p.bits(0), r)
}

// float returns the integer in the low half of a lane of eight bytes as f64: its sum with 1.5 * 2^52 has it as the low
// bits. low returns an integral f64 below 2^51 as the low bits of an integer.
func (p *Program) float(x *Node) *Node {
	return p.sub(p.iadd(x, p.bits(0x4338000000000000)), p.c(0x1.8p52))
}
func (p *Program) low(x *Node) *Node { return p.sum(x, p.c(0x1.8p52)) }

// quotientI32 divides in f64, whose quotient of 32-bit integers does not round up to an integer.
func (p *Program) quotientI32(x, y *Node) *Node {
	a, b := p.float(x), p.float(y)
	return p.low(p.sel(p.eq(b, p.c(0)), p.c(-1), p.round(3, p.div(a, b))))
}

func (p *Program) remainderI32(x, y *Node) *Node {
	a, b := p.float(x), p.float(y)
	r := p.fma(p.negative(p.round(3, p.div(a, b))), b, a)
	return p.low(p.sel(p.eq(b, p.c(0)), a, r))
}

// remainder computes |x| - n|y|, which is exact, for n = |x/y| truncated. If the quotient was rounded up to n, the
// difference is negative. The result is NaN if it is not a number or if n is 2^52 or more.
func (p *Program) remainder(x, y *Node) *Node {
	a, b := p.absolute(x), p.absolute(y)
	n := p.round(3, p.div(a, b))
	r := p.fma(n, p.or(y, p.bits(p.lane().sign)), a)
	r = p.sel(p.lt(r, p.c(0)), p.sum(r, b), r)
	r = p.sel(p.le(p.c(0x1p52), n), p.c(math.NaN()), r)
	return p.or(p.sel(p.lt(a, b), a, r), p.signOf(x)) // |y| may be infinite
}
