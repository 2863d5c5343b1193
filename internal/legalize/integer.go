package legalize

import (
	"math"

	"github.com/hlocb/hlocb/dialect/chlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
)

// expandMulhi computes the upper half of a product: in integers of twice the width, or, for 64 bits, from products of
// halves.
func expandMulhi(e *emitter, _ *ir.Op, args []*ir.Value) []*ir.Value {
	x, y := args[0], args[1]
	t, ok := elemOf(x).(*ir.IntegerType)
	if !ok || t.Width() > 64 {
		return nil
	}
	unsigned := t.Signedness() == ir.Unsigned
	switch {
	case t.Width() < 64:
		wide := e.ctx.Integer(2*t.Width(), t.Signedness())
		left := e.convert(x, wide)
		product := e.mul(left, e.convert(y, wide))
		shift := stablehlo.ShiftRightArithmetic
		if unsigned {
			shift = stablehlo.ShiftRightLogical
		}
		return []*ir.Value{e.convert(e.op(shift, product, e.integer(int64(t.Width()), product)), t)}
	case unsigned:
		return []*ir.Value{mulhi64(e, x, y)}
	}
	// The product of the bits as unsigned numbers is too great by y if x < 0, and by x if y < 0.
	u := e.ctx.Integer(64, ir.Unsigned)
	left := e.convert(x, u)
	hi := e.typed(chlo.Mulhi, left.Type(), left, e.convert(y, u))
	excess := func(x, y *ir.Value) *ir.Value {
		negative := e.lt(x, e.integer(0, x))
		v := e.convert(y, u)
		return e.sel(negative, v, e.integer(0, e.convert(y, u)))
	}
	hi = e.sub(hi, excess(x, y))
	hi = e.sub(hi, excess(y, x))
	return []*ir.Value{e.convert(hi, t)}
}

// mulhi64 multiplies unsigned numbers of 64 bits as pairs of 32-bit halves.
func mulhi64(e *emitter, x, y *ir.Value) *ir.Value {
	high := func(v, like *ir.Value) *ir.Value { return e.op(stablehlo.ShiftRightLogical, v, e.integer(32, like)) }
	low := func(v, like *ir.Value) *ir.Value { return e.and(v, e.integer(math.MaxUint32, like)) }
	xHi, yHi := high(x, x), high(y, y)
	p3 := e.mul(xHi, yHi)
	xLo := low(x, x)
	p1 := e.mul(xLo, yHi)
	yLo := low(y, y)
	mid := e.add(p1, high(e.mul(xLo, yLo), x))
	sum := e.add(p3, high(mid, x))
	p2 := e.mul(xHi, yLo)
	return e.add(sum, high(e.add(p2, low(mid, x)), x))
}

// nextAfter returns the number after x in the direction of y, by arithmetic on the bits of x.
func nextAfter(e *emitter, x, y *ir.Value) *ir.Value {
	width := dtypeOf(x).Bits()
	bits := withElem(e.ctx, x.Type(), e.ctx.Integer(width, ir.Signless))
	xBits, yBits := e.bitcast(x, bits), e.bitcast(y, bits)
	xNaN, yNaN := e.ne(x, x), e.ne(y, y)
	anyNaN := e.or(xNaN, yNaN)
	nan := e.bitcast(e.nan(x), bits)
	signMask := int64(-1) << (width - 1)
	sign, rest := e.integer(signMask, xBits), e.integer(^signMask, xBits)
	xAbs, yAbs := e.and(xBits, rest), e.and(yBits, rest)
	equal := e.eq(x, y)
	zero := e.integer(0, xBits)
	xZero, yZero := e.eq(xAbs, zero), e.eq(yAbs, zero)
	xSign, ySign := e.and(xBits, sign), e.and(yBits, sign)
	one := e.integer(1, xBits)
	least := e.or(ySign, one) // from zero: the least number with the sign of y
	opposite := e.ne(xSign, ySign)
	greater := e.gt(xAbs, yAbs)
	inwards := e.or(greater, opposite)
	step := e.sel(inwards, e.integer(-1, xBits), one)
	v := e.add(xBits, step)
	v = e.sel(xZero, e.sel(yZero, yBits, least), v)
	v = e.sel(equal, yBits, v)
	v = e.sel(anyNaN, nan, v)
	return e.bitcast(v, x.Type())
}
