package legalize

import (
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// function1 and function2 are element-wise functions of one and two operands.
type (
	function1 func(e *emitter, x *ir.Value) *ir.Value
	function2 func(e *emitter, x, y *ir.Value) *ir.Value
)

func unary(f function1) expansion {
	return func(e *emitter, _ *ir.Op, args []*ir.Value) []*ir.Value { return []*ir.Value{f(e, args[0])} }
}

func binary(f function2) expansion {
	return func(e *emitter, _ *ir.Op, args []*ir.Value) []*ir.Value { return []*ir.Value{f(e, args[0], args[1])} }
}

// explicit is unary with the default accuracy written out.
func explicit(f function1) expansion {
	return func(e *emitter, _ *ir.Op, args []*ir.Value) []*ir.Value {
		e.accuracy = defaultAccuracy
		return []*ir.Value{f(e, args[0])}
	}
}

// perDomain chooses the expansion by whether the operand is complex.
func perDomain(real, complex function1) expansion {
	return func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		if isComplex(args[0]) {
			return explicit(complex)(e, op, args)
		}
		return explicit(real)(e, op, args)
	}
}

// precise chooses the approximation by the precision of the operand: f32 or f64.
func precise(f32, f64 function1) expansion {
	return func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		switch dtypeOf(args[0]) {
		case tensor.F64:
			return unary(f64)(e, op, args)
		case tensor.F32:
			return unary(f32)(e, op, args)
		}
		return nil
	}
}

// widened computes floats of less than 32 bits in f32.
func widened(f expansion) expansion {
	return func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		d := dtypeOf(args[0])
		if !d.IsFloat() || d.Bits() >= 32 {
			return f(e, op, args)
		}
		wide := make([]*ir.Value, len(args))
		for i, x := range args {
			wide[i] = e.convert(x, ir.Float(tensor.F32))
		}
		out := f(e, op, wide)
		return []*ir.Value{e.convert(out[0], elemOf(args[0]))}
	}
}

// common covers the floats with at least 16 bits.
func common(f expansion) expansion {
	return func(e *emitter, op *ir.Op, args []*ir.Value) []*ir.Value {
		if d := dtypeOf(args[0]); !d.IsFloat() || d.Bits() < 16 {
			return nil
		}
		return f(e, op, args)
	}
}

// polynomial evaluates a polynomial by Horner's rule. The coefficient of the highest power is first.
func (e *emitter) polynomial(x *ir.Value, coefficients []float64) *ir.Value {
	p := e.num(coefficients[0], x)
	for _, c := range coefficients[1:] {
		p = e.mul(p, x)
		p = e.add(p, e.num(c, x))
	}
	return p
}

// chebyshev evaluates a sum of Chebyshev polynomials by Clenshaw's recurrence. The coefficient of the highest degree is
// first.
func (e *emitter) chebyshev(x *ir.Value, coefficients []float64) *ir.Value {
	b0, b1, b2 := e.num(0, x), e.num(0, x), e.num(0, x)
	for _, c := range coefficients {
		b2, b1 = b1, b0
		b0 = e.mul(x, b1)
		b0 = e.sub(b0, b2)
		b0 = e.add(b0, e.num(c, x))
	}
	r := e.sub(b0, b2)
	return e.mul(r, e.num(0.5, x))
}
