package expr

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
