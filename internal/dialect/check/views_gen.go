// Code generated from the rows of the dialect. DO NOT EDIT.

package check

import (
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Names of the attributes of ops.
const (
	AttrIter             = "iter"
	AttrMaxULPDifference = "max_ulp_difference"
	AttrMinULPDifference = "min_ulp_difference"
	AttrProbeID          = "probe_id"
	AttrTolerance        = "tolerance"
	AttrValue            = "value"
)

// ExpectAlmostEqOp is the view of check.expect_almost_eq, and of ops that mirror it. The op must have been verified.
type ExpectAlmostEqOp struct{ *ir.Op }

// AsExpectAlmostEq returns the view of op; ok is false if op is of another kind.
func AsExpectAlmostEq(op *ir.Op) (v ExpectAlmostEqOp, ok bool) {
	return ExpectAlmostEqOp{op}, op != nil && op.IsOrMirrors(ExpectAlmostEq)
}

// Operands, attributes and regions of check.expect_almost_eq, and setters of operands and attributes.
func (v ExpectAlmostEqOp) LHS() *ir.Value             { return v.Operand(0) }
func (v ExpectAlmostEqOp) SetLHS(value *ir.Value)     { v.SetOperand(0, value) }
func (v ExpectAlmostEqOp) RHS() *ir.Value             { return v.Operand(1) }
func (v ExpectAlmostEqOp) SetRHS(value *ir.Value)     { v.SetOperand(1, value) }
func (v ExpectAlmostEqOp) Tolerance() float64         { return view.Float(v.Attr("tolerance")) }
func (v ExpectAlmostEqOp) SetTolerance(value float64) { view.Set(v.Op, "tolerance", value) }

// ExpectAlmostEqAttrs are the attributes of check.expect_almost_eq. An optional attribute that is zero is left out.
type ExpectAlmostEqAttrs struct {
	Tolerance float64
}

// BuildExpectAlmostEq builds check.expect_almost_eq and checks its types.
func BuildExpectAlmostEq(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a ExpectAlmostEqAttrs) (ExpectAlmostEqOp, error) {
	op, err := view.Build(b, ExpectAlmostEq, nil, []*ir.Value{lhs, rhs}, nil, a.Tolerance)
	return ExpectAlmostEqOp{op}, err
}

// ExpectAlmostEqConstOp is the view of check.expect_almost_eq_const, and of ops that mirror it. The op must have been verified.
type ExpectAlmostEqConstOp struct{ *ir.Op }

// AsExpectAlmostEqConst returns the view of op; ok is false if op is of another kind.
func AsExpectAlmostEqConst(op *ir.Op) (v ExpectAlmostEqConstOp, ok bool) {
	return ExpectAlmostEqConstOp{op}, op != nil && op.IsOrMirrors(ExpectAlmostEqConst)
}

// Operands, attributes and regions of check.expect_almost_eq_const, and setters of operands and attributes.
func (v ExpectAlmostEqConstOp) LHS() *ir.Value             { return v.Operand(0) }
func (v ExpectAlmostEqConstOp) SetLHS(value *ir.Value)     { v.SetOperand(0, value) }
func (v ExpectAlmostEqConstOp) Value() ir.Attr             { return v.Attr("value") }
func (v ExpectAlmostEqConstOp) SetValue(value ir.Attr)     { view.Set(v.Op, "value", value) }
func (v ExpectAlmostEqConstOp) Tolerance() float64         { return view.Float(v.Attr("tolerance")) }
func (v ExpectAlmostEqConstOp) SetTolerance(value float64) { view.Set(v.Op, "tolerance", value) }

// ExpectAlmostEqConstAttrs are the attributes of check.expect_almost_eq_const. An optional attribute that is zero is left out.
type ExpectAlmostEqConstAttrs struct {
	Value     ir.Attr
	Tolerance float64
}

// BuildExpectAlmostEqConst builds check.expect_almost_eq_const and checks its types.
func BuildExpectAlmostEqConst(b *ir.Builder, lhs *ir.Value, a ExpectAlmostEqConstAttrs) (ExpectAlmostEqConstOp, error) {
	op, err := view.Build(b, ExpectAlmostEqConst, nil, []*ir.Value{lhs}, nil, a.Value, a.Tolerance)
	return ExpectAlmostEqConstOp{op}, err
}

// ExpectEqOp is the view of check.expect_eq, and of ops that mirror it. The op must have been verified.
type ExpectEqOp struct{ *ir.Op }

// AsExpectEq returns the view of op; ok is false if op is of another kind.
func AsExpectEq(op *ir.Op) (v ExpectEqOp, ok bool) {
	return ExpectEqOp{op}, op != nil && op.IsOrMirrors(ExpectEq)
}

// Operands, attributes and regions of check.expect_eq, and setters of operands and attributes.
func (v ExpectEqOp) LHS() *ir.Value         { return v.Operand(0) }
func (v ExpectEqOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v ExpectEqOp) RHS() *ir.Value         { return v.Operand(1) }
func (v ExpectEqOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildExpectEq builds check.expect_eq and checks its types.
func BuildExpectEq(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (ExpectEqOp, error) {
	op, err := view.Build(b, ExpectEq, nil, []*ir.Value{lhs, rhs}, nil)
	return ExpectEqOp{op}, err
}

// ExpectEqConstOp is the view of check.expect_eq_const, and of ops that mirror it. The op must have been verified.
type ExpectEqConstOp struct{ *ir.Op }

// AsExpectEqConst returns the view of op; ok is false if op is of another kind.
func AsExpectEqConst(op *ir.Op) (v ExpectEqConstOp, ok bool) {
	return ExpectEqConstOp{op}, op != nil && op.IsOrMirrors(ExpectEqConst)
}

// Operands, attributes and regions of check.expect_eq_const, and setters of operands and attributes.
func (v ExpectEqConstOp) LHS() *ir.Value         { return v.Operand(0) }
func (v ExpectEqConstOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v ExpectEqConstOp) Value() ir.Attr         { return v.Attr("value") }
func (v ExpectEqConstOp) SetValue(value ir.Attr) { view.Set(v.Op, "value", value) }

// ExpectEqConstAttrs are the attributes of check.expect_eq_const. An optional attribute that is zero is left out.
type ExpectEqConstAttrs struct {
	Value ir.Attr
}

// BuildExpectEqConst builds check.expect_eq_const and checks its types.
func BuildExpectEqConst(b *ir.Builder, lhs *ir.Value, a ExpectEqConstAttrs) (ExpectEqConstOp, error) {
	op, err := view.Build(b, ExpectEqConst, nil, []*ir.Value{lhs}, nil, a.Value)
	return ExpectEqConstOp{op}, err
}

// ExpectCloseOp is the view of check.expect_close, and of ops that mirror it. The op must have been verified.
type ExpectCloseOp struct{ *ir.Op }

// AsExpectClose returns the view of op; ok is false if op is of another kind.
func AsExpectClose(op *ir.Op) (v ExpectCloseOp, ok bool) {
	return ExpectCloseOp{op}, op != nil && op.IsOrMirrors(ExpectClose)
}

// Operands, attributes and regions of check.expect_close, and setters of operands and attributes.
func (v ExpectCloseOp) Actual() *ir.Value           { return v.Operand(0) }
func (v ExpectCloseOp) SetActual(value *ir.Value)   { v.SetOperand(0, value) }
func (v ExpectCloseOp) Expected() *ir.Value         { return v.Operand(1) }
func (v ExpectCloseOp) SetExpected(value *ir.Value) { v.SetOperand(1, value) }
func (v ExpectCloseOp) MaxULPDifference() (n int64, ok bool) {
	return view.OptionalInt(v.Attr("max_ulp_difference"))
}
func (v ExpectCloseOp) SetMaxULPDifference(value *int64) { view.Set(v.Op, "max_ulp_difference", value) }
func (v ExpectCloseOp) MinULPDifference() (n int64, ok bool) {
	return view.OptionalInt(v.Attr("min_ulp_difference"))
}
func (v ExpectCloseOp) SetMinULPDifference(value *int64) { view.Set(v.Op, "min_ulp_difference", value) }

// ExpectCloseAttrs are the attributes of check.expect_close. An optional attribute that is zero is left out.
type ExpectCloseAttrs struct {
	MaxULPDifference *int64
	MinULPDifference *int64
}

// BuildExpectClose builds check.expect_close and checks its types.
func BuildExpectClose(b *ir.Builder, actual *ir.Value, expected *ir.Value, a ExpectCloseAttrs) (ExpectCloseOp, error) {
	op, err := view.Build(b, ExpectClose, nil, []*ir.Value{actual, expected}, nil, a.MaxULPDifference, a.MinULPDifference)
	return ExpectCloseOp{op}, err
}

// ExpectSerializedEqOp is the view of check.expect_serialized_eq, and of ops that mirror it. The op must have been verified.
type ExpectSerializedEqOp struct{ *ir.Op }

// AsExpectSerializedEq returns the view of op; ok is false if op is of another kind.
func AsExpectSerializedEq(op *ir.Op) (v ExpectSerializedEqOp, ok bool) {
	return ExpectSerializedEqOp{op}, op != nil && op.IsOrMirrors(ExpectSerializedEq)
}

// Operands, attributes and regions of check.expect_serialized_eq, and setters of operands and attributes.
func (v ExpectSerializedEqOp) Expected() *ir.Value         { return v.Operand(0) }
func (v ExpectSerializedEqOp) SetExpected(value *ir.Value) { v.SetOperand(0, value) }
func (v ExpectSerializedEqOp) ProbeID() string             { return view.String(v.Attr("probe_id")) }
func (v ExpectSerializedEqOp) SetProbeID(value string)     { view.Set(v.Op, "probe_id", value) }
func (v ExpectSerializedEqOp) Iter() (n int64, ok bool)    { return view.OptionalInt(v.Attr("iter")) }
func (v ExpectSerializedEqOp) SetIter(value *int64)        { view.Set(v.Op, "iter", value) }

// ExpectSerializedEqAttrs are the attributes of check.expect_serialized_eq. An optional attribute that is zero is left out.
type ExpectSerializedEqAttrs struct {
	ProbeID string
	Iter    *int64
}

// BuildExpectSerializedEq builds check.expect_serialized_eq and checks its types.
func BuildExpectSerializedEq(b *ir.Builder, expected *ir.Value, a ExpectSerializedEqAttrs) (ExpectSerializedEqOp, error) {
	op, err := view.Build(b, ExpectSerializedEq, nil, []*ir.Value{expected}, nil, a.ProbeID, a.Iter)
	return ExpectSerializedEqOp{op}, err
}
