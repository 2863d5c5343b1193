package legalize

import "github.com/hlocb/hlocb/ir"

// cosh computes exp(x + log(1/2)) + exp(-x + log(1/2)), which overflows later than (exp(x) + exp(-x))/2.
func cosh(e *emitter, x *ir.Value) *ir.Value {
	up, down := exponentials(e, x)
	return e.add(up, down)
}

func exponentials(e *emitter, x *ir.Value) (up, down *ir.Value) {
	half := e.log(e.num(0.5, x))
	up = e.exp(e.add(x, half))
	return up, e.exp(e.sub(half, x))
}

// sinh computes exp(x + log(1/2)) - exp(-x + log(1/2)). If |x| < 1, this difference cancels, and sinh computes (m +
// m/(m + 1))/2 with m = expm1(x).
func sinh(e *emitter, x *ir.Value) *ir.Value {
	up, down := exponentials(e, x)
	large := e.sub(up, down)
	if isComplex(x) {
		return large
	}
	m := e.expm1(x)
	one, half := e.num(1, x), e.num(0.5, x)
	next := e.add(m, one)
	ratio := e.div(m, next)
	small := e.mul(half, e.add(m, ratio))
	return e.sel(e.lt(e.abs(x), one), small, large)
}
