package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// inferAbs: the modulus and the parts of complex elements are real (abs C1, C2; real C2; imag C2).
func inferAbs(s *subject) ([]ir.Type, error) {
	t := s.tensor(0)
	if c, ok := t.Elem().(*ir.ComplexType); ok {
		return s.elemOf(c.Elem()), nil
	}
	return s.single(t), nil
}

// inferPred: booleans in the shape of the operand (is_finite C1).
func inferPred(s *subject) ([]ir.Type, error) { return s.elemOf(i1), nil }

// inferUI32: a scalar ui32.
func inferUI32(s *subject) ([]ir.Type, error) {
	return []ir.Type{s.ctx.Tensor([]int64{}, ui32, nil)}, nil
}

// inferToken: a token of the operation's own dialect.
func inferToken(s *subject) ([]ir.Type, error) {
	return []ir.Type{s.ctx.DialectType(s.def.Dialect(), "token", "", nil)}, nil
}

// inferCompare: booleans in the shape that both operands agree on (compare C1, C2).
func inferCompare(s *subject) ([]ir.Type, error) {
	t, err := inferSame(s)
	if err != nil {
		return nil, err
	}
	if tt, ok := t[0].(*ir.TensorType); ok {
		return s.single(s.shaped(tt, i1)), nil
	}
	return t, nil
}

// inferComplex: complex elements of the operands' element type (complex C2, C3).
func inferComplex(s *subject) ([]ir.Type, error) {
	t, err := inferSame(s)
	if err != nil {
		return nil, err
	}
	tt := asTensor(s.ctx, t[0])
	return []ir.Type{withElem(s.ctx, tt, s.ctx.Complex(tt.Elem()))}, nil
}

// inferClamp: the operand's type (clamp C4). min and max are scalars or have the operand's shape (C1, C2), and all have
// its element type (C3).
func inferClamp(s *subject) ([]ir.Type, error) {
	lo, x, hi := s.tensor(0), s.tensor(1), s.tensor(2)
	if !compatibleElems(lo.Elem(), x.Elem()) || !compatibleElems(hi.Elem(), x.Elem()) {
		return nil, fail("requires the same element type for all operands and results")
	}
	if lo.Rank() != 0 && !sameDims(lo.Shape(), x.Shape()) {
		return nil, fail("min shape [%s] is not scalar and is not compatible to operand shape [%s]", joined(lo.Shape()), joined(x.Shape()))
	}
	if hi.Rank() != 0 && !sameDims(hi.Shape(), x.Shape()) {
		return nil, fail("max shape [%s] is not scalar and is not compatible to operand shape [%s]", joined(hi.Shape()), joined(x.Shape()))
	}
	return s.single(x), nil
}

// inferSelect: the type on which on_true and on_false agree (select C2). pred is a scalar or has that shape (C1).
func inferSelect(s *subject) ([]ir.Type, error) {
	pred, a, b := s.tensor(0), s.tensor(1), s.tensor(2)
	if !Compatible(a, b) {
		return nil, fail("requires compatible types for non-predicate operands")
	}
	if pred.Rank() != 0 && !sameDims(pred.Shape(), a.Shape()) {
		return nil, fail("requires the same shape for all operands")
	}
	if a == b {
		return s.single(a), nil
	}
	t, err := s.joinTypes([]ir.Type{a, b}, mostSpecific)
	if err != nil {
		return nil, err
	}
	return s.single(t), nil
}

// inferDequantize: the expressed type in the operand's shape (uniform_dequantize C1, C2).
func inferDequantize(s *subject) ([]ir.Type, error) {
	return s.elemOf(expressed(s.tensor(0).Elem())), nil
}

// uniformQuantizeRule: the expressed type of the result is the operand's (uniform_quantize C2).
func uniformQuantizeRule(s *subject) error {
	want, got := expressed(s.tensor(0).Elem()), expressed(s.result(0).Elem())
	if want != got {
		return fail("Expressed type of result expected to be '%s', but got '%s'", want, got)
	}
	return nil
}

// addRule checks the rules of add for quantized elements (add C1 to C7). Other elements must have the same type.
func addRule(s *subject) error {
	l, r, res := s.tensor(0).Elem(), s.tensor(1).Elem(), s.result(0).Elem()
	ql, qr, qres := quant.Of(l), quant.Of(r), quant.Of(res)
	if ql == nil && qr == nil && qres == nil {
		if l != r || l != res { // (C1)
			return fail("op requires the same element type for all operands and results")
		}
		return nil
	}
	switch {
	case ql == nil || qr == nil || qres == nil: // (C2)
		return fail("expects  all operands and results to be either quantized or non-quantized")
	case ql.Storage != qr.Storage || ql.Storage != qres.Storage: // (C3)
		return fail("mismatched operands and result quantization storage types")
	case ql.Expressed != qr.Expressed || ql.Expressed != qres.Expressed: // (C4)
		return fail("mismatched operands and result quantization expressed types")
	case !ql.PerAxis() && !qr.PerAxis() && qres.PerAxis(): // (C5)
		return fail("result is per_axis quantized but lhs and rhs are not")
	case (ql.PerAxis() || qr.PerAxis()) && !qres.PerAxis():
		return fail("result is not per_axis quantized but lhs or rhs are")
	case ql.PerAxis() && ql.Axis != qres.Axis: // (C6)
		return fail("quantization_dimension of lhs and result are not same")
	case qr.PerAxis() && qr.Axis != qres.Axis: // (C7)
		return fail("quantization_dimension of rhs and result are not same")
	}
	return nil
}

// bitWidth returns the number of bits of an element, or 0 if it is not fixed.
func bitWidth(t ir.Type) int64 {
	if q := quant.Of(t); q != nil {
		t = q.Storage
	}
	return int64(ir.ElementDType(t).Bits())
}

// bitcastRule: operand and result have the same number of bits (bitcast_convert C1), and complex elements stay complex
// (C2).
func bitcastRule(s *subject) error {
	a, b := s.tensor(0), s.result(0)
	_, ca := a.Elem().(*ir.ComplexType)
	_, cb := b.Elem().(*ir.ComplexType)
	if ca != cb {
		return fail("cannot convert between real and complex types, but got: '%s' and '%s'", a, b)
	}
	wa, wb := bitWidth(a.Elem()), bitWidth(b.Elem())
	if wa == wb {
		if !sameDims(a.Shape(), b.Shape()) {
			return fail("operand and result shapes must match except for the innermost dimension of the shape with the smaller element type. Got: '%s' and '%s'.", a, b)
		}
		return nil
	}
	big, small, wBig, wSmall := a, b, wa, wb
	if wa < wb {
		big, small, wBig, wSmall = b, a, wb, wa
	}
	if wSmall == 0 {
		return nil
	}
	if small.Rank() != big.Rank()+1 {
		return fail("rank of smaller element type (%d) should be 1 more than rank of larger element type (%d), but %d != %d + 1.", small.Rank(), big.Rank(), small.Rank(), big.Rank())
	}
	if !sameDims(big.Shape(), small.Shape()[:big.Rank()]) {
		return fail("operand and result shapes must match except for the innermost dimension of the shape with the smaller element type. Got: '%s' and '%s'.", a, b)
	}
	if last := small.Shape()[big.Rank()]; last != ir.Dynamic && last*wSmall != wBig {
		return fail("requires compatible bit widths. Got: '%s' and '%s', but %d * %d != %d.", a, b, wSmall, last, wBig)
	}
	return nil
}

// inferMap: the operands' shape with the element type that the computation returns (map C1 to C4).
func inferMap(s *subject) ([]ir.Type, error) {
	if len(s.operands) == 0 {
		return nil, opFail("expected 1 or more operands, but found 0")
	}
	b, ret, err := s.body(0)
	if err != nil {
		return nil, err
	}
	if len(b.Args()) != len(s.operands) {
		return nil, fail("expects number of operands to match the arity of map computation, but got: %d and %d", len(s.operands), len(b.Args()))
	}
	for i, a := range b.Args() {
		at := asTensor(s.ctx, a.Type())
		if !at.Ranked() || at.Rank() != 0 {
			return nil, fail("computation arguments must be 0-rank tensor, but got: arg #%d of type '%s'", i, a.Type())
		}
		if at.Elem() != s.tensor(i).Elem() {
			return nil, fail("element type of operands and computation arguments must match, but got: '%s' and '%s'", s.tensor(i).Elem(), at.Elem())
		}
	}
	if len(ret) != 1 {
		return nil, fail("computation must return single output, but got: %d", len(ret))
	}
	out := asTensor(s.ctx, ret[0])
	if !out.Ranked() || out.Rank() != 0 {
		return nil, fail("computation must return 0-rank tensor, but got: '%s'", ret[0])
	}
	dims := s.ints("dimensions")
	for i, d := range dims {
		if d != int64(i) {
			return nil, fail("requires monotonically increasing dimension numbers, but got: %s", joined(dims))
		}
	}
	if t := s.tensor(0); len(dims) != t.Rank() {
		return nil, fail("applied to a subset of dimensions currently not supported: operand dimensions = %d, requested map dimensions size = %d", t.Rank(), len(dims))
	}
	t, err := s.joinTypes(s.types(0, len(s.operands)), mostSpecific)
	if err != nil {
		return nil, err
	}
	return []ir.Type{withElem(s.ctx, asTensor(s.ctx, t), out.Elem())}, nil
}

// body returns the block of region i and the types that its terminator returns.
func (s *subject) body(i int) (*ir.Block, []ir.Type, error) {
	if i >= len(s.regions) || s.regions[i].Entry() == nil {
		return nil, nil, fail("expects a non-empty block")
	}
	b := s.regions[i].Entry()
	if last := b.Last(); last != nil && s.op != nil && i == 0 {
		s.ret = s.ret[:0]
		for k := range last.NumOperands() {
			s.ret = append(s.ret, last.Operand(k).Type())
		}
		return b, s.ret, nil
	}
	return b, returnTypes(b), nil
}

// returnTypes returns the types of the operands of a block's last operation.
func returnTypes(b *ir.Block) []ir.Type {
	last := b.Last()
	if last == nil {
		return nil
	}
	return view.Types(last.OperandList())
}
