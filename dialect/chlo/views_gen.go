// Code generated from the rows of the dialect. DO NOT EDIT.

package chlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"slices"
)

// Names of the attributes of ops.
const (
	AttrBroadcastDimensions       = "broadcast_dimensions"
	AttrCompareType               = "compare_type"
	AttrComparisonDirection       = "comparison_direction"
	AttrDimension                 = "dimension"
	AttrIsAssociative             = "is_associative"
	AttrIsReverse                 = "is_reverse"
	AttrIsStable                  = "is_stable"
	AttrK                         = "k"
	AttrOperandSegmentSizes       = "operandSegmentSizes"
	AttrPrecisionConfig           = "precision_config"
	AttrRaggedDotDimensionNumbers = "ragged_dot_dimension_numbers"
	AttrResultSegmentSizes        = "resultSegmentSizes"
	AttrScanDimSize               = "scan_dim_size"
	AttrValue                     = "value"
)

// AcosOp is the view of chlo.acos, and of ops that mirror it. The op must have been verified.
type AcosOp struct{ *ir.Op }

// AsAcos returns the view of op; ok is false if op is of another kind.
func AsAcos(op *ir.Op) (v AcosOp, ok bool) { return AcosOp{op}, op != nil && op.IsOrMirrors(Acos) }

// Operands, attributes and regions of chlo.acos, and setters of operands and attributes.
func (v AcosOp) Input() *ir.Value         { return v.Operand(0) }
func (v AcosOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAcos builds chlo.acos and infers its types.
func BuildAcos(b *ir.Builder, operand *ir.Value) (AcosOp, error) {
	op, err := view.Build(b, Acos, nil, []*ir.Value{operand}, nil)
	return AcosOp{op}, err
}

// AcoshOp is the view of chlo.acosh, and of ops that mirror it. The op must have been verified.
type AcoshOp struct{ *ir.Op }

// AsAcosh returns the view of op; ok is false if op is of another kind.
func AsAcosh(op *ir.Op) (v AcoshOp, ok bool) { return AcoshOp{op}, op != nil && op.IsOrMirrors(Acosh) }

// Operands, attributes and regions of chlo.acosh, and setters of operands and attributes.
func (v AcoshOp) Input() *ir.Value         { return v.Operand(0) }
func (v AcoshOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAcosh builds chlo.acosh and infers its types.
func BuildAcosh(b *ir.Builder, operand *ir.Value) (AcoshOp, error) {
	op, err := view.Build(b, Acosh, nil, []*ir.Value{operand}, nil)
	return AcoshOp{op}, err
}

// AsinAcosKernelOp is the view of chlo._asin_acos_kernel, and of ops that mirror it. The op must have been verified.
type AsinAcosKernelOp struct{ *ir.Op }

// AsAsinAcosKernel returns the view of op; ok is false if op is of another kind.
func AsAsinAcosKernel(op *ir.Op) (v AsinAcosKernelOp, ok bool) {
	return AsinAcosKernelOp{op}, op != nil && op.IsOrMirrors(AsinAcosKernel)
}

// Operands, attributes and regions of chlo._asin_acos_kernel, and setters of operands and attributes.
func (v AsinAcosKernelOp) Input() *ir.Value         { return v.Operand(0) }
func (v AsinAcosKernelOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAsinAcosKernel builds chlo._asin_acos_kernel and infers its types.
func BuildAsinAcosKernel(b *ir.Builder, operand *ir.Value) (AsinAcosKernelOp, error) {
	op, err := view.Build(b, AsinAcosKernel, nil, []*ir.Value{operand}, nil)
	return AsinAcosKernelOp{op}, err
}

// AsinOp is the view of chlo.asin, and of ops that mirror it. The op must have been verified.
type AsinOp struct{ *ir.Op }

// AsAsin returns the view of op; ok is false if op is of another kind.
func AsAsin(op *ir.Op) (v AsinOp, ok bool) { return AsinOp{op}, op != nil && op.IsOrMirrors(Asin) }

// Operands, attributes and regions of chlo.asin, and setters of operands and attributes.
func (v AsinOp) Input() *ir.Value         { return v.Operand(0) }
func (v AsinOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAsin builds chlo.asin and infers its types.
func BuildAsin(b *ir.Builder, operand *ir.Value) (AsinOp, error) {
	op, err := view.Build(b, Asin, nil, []*ir.Value{operand}, nil)
	return AsinOp{op}, err
}

// AsinhOp is the view of chlo.asinh, and of ops that mirror it. The op must have been verified.
type AsinhOp struct{ *ir.Op }

// AsAsinh returns the view of op; ok is false if op is of another kind.
func AsAsinh(op *ir.Op) (v AsinhOp, ok bool) { return AsinhOp{op}, op != nil && op.IsOrMirrors(Asinh) }

// Operands, attributes and regions of chlo.asinh, and setters of operands and attributes.
func (v AsinhOp) Input() *ir.Value         { return v.Operand(0) }
func (v AsinhOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAsinh builds chlo.asinh and infers its types.
func BuildAsinh(b *ir.Builder, operand *ir.Value) (AsinhOp, error) {
	op, err := view.Build(b, Asinh, nil, []*ir.Value{operand}, nil)
	return AsinhOp{op}, err
}

// AtanOp is the view of chlo.atan, and of ops that mirror it. The op must have been verified.
type AtanOp struct{ *ir.Op }

// AsAtan returns the view of op; ok is false if op is of another kind.
func AsAtan(op *ir.Op) (v AtanOp, ok bool) { return AtanOp{op}, op != nil && op.IsOrMirrors(Atan) }

// Operands, attributes and regions of chlo.atan, and setters of operands and attributes.
func (v AtanOp) Input() *ir.Value         { return v.Operand(0) }
func (v AtanOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAtan builds chlo.atan and infers its types.
func BuildAtan(b *ir.Builder, operand *ir.Value) (AtanOp, error) {
	op, err := view.Build(b, Atan, nil, []*ir.Value{operand}, nil)
	return AtanOp{op}, err
}

// AtanhOp is the view of chlo.atanh, and of ops that mirror it. The op must have been verified.
type AtanhOp struct{ *ir.Op }

// AsAtanh returns the view of op; ok is false if op is of another kind.
func AsAtanh(op *ir.Op) (v AtanhOp, ok bool) { return AtanhOp{op}, op != nil && op.IsOrMirrors(Atanh) }

// Operands, attributes and regions of chlo.atanh, and setters of operands and attributes.
func (v AtanhOp) Input() *ir.Value         { return v.Operand(0) }
func (v AtanhOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildAtanh builds chlo.atanh and infers its types.
func BuildAtanh(b *ir.Builder, operand *ir.Value) (AtanhOp, error) {
	op, err := view.Build(b, Atanh, nil, []*ir.Value{operand}, nil)
	return AtanhOp{op}, err
}

// BesselI1eOp is the view of chlo.bessel_i1e, and of ops that mirror it. The op must have been verified.
type BesselI1eOp struct{ *ir.Op }

// AsBesselI1e returns the view of op; ok is false if op is of another kind.
func AsBesselI1e(op *ir.Op) (v BesselI1eOp, ok bool) {
	return BesselI1eOp{op}, op != nil && op.IsOrMirrors(BesselI1e)
}

// Operands, attributes and regions of chlo.bessel_i1e, and setters of operands and attributes.
func (v BesselI1eOp) Input() *ir.Value         { return v.Operand(0) }
func (v BesselI1eOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildBesselI1e builds chlo.bessel_i1e and infers its types.
func BuildBesselI1e(b *ir.Builder, operand *ir.Value) (BesselI1eOp, error) {
	op, err := view.Build(b, BesselI1e, nil, []*ir.Value{operand}, nil)
	return BesselI1eOp{op}, err
}

// BroadcastAddOp is the view of chlo.broadcast_add, and of ops that mirror it. The op must have been verified.
type BroadcastAddOp struct{ *ir.Op }

// AsBroadcastAdd returns the view of op; ok is false if op is of another kind.
func AsBroadcastAdd(op *ir.Op) (v BroadcastAddOp, ok bool) {
	return BroadcastAddOp{op}, op != nil && op.IsOrMirrors(BroadcastAdd)
}

// Operands, attributes and regions of chlo.broadcast_add, and setters of operands and attributes.
func (v BroadcastAddOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastAddOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastAddOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastAddOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastAddOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastAddOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastAddAttrs are the attributes of chlo.broadcast_add. An optional attribute that is zero is left out.
type BroadcastAddAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastAdd builds chlo.broadcast_add and infers its types.
func BuildBroadcastAdd(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastAddAttrs) (BroadcastAddOp, error) {
	op, err := view.Build(b, BroadcastAdd, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastAddOp{op}, err
}

// BroadcastAndOp is the view of chlo.broadcast_and, and of ops that mirror it. The op must have been verified.
type BroadcastAndOp struct{ *ir.Op }

// AsBroadcastAnd returns the view of op; ok is false if op is of another kind.
func AsBroadcastAnd(op *ir.Op) (v BroadcastAndOp, ok bool) {
	return BroadcastAndOp{op}, op != nil && op.IsOrMirrors(BroadcastAnd)
}

// Operands, attributes and regions of chlo.broadcast_and, and setters of operands and attributes.
func (v BroadcastAndOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastAndOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastAndOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastAndOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastAndOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastAndOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastAndAttrs are the attributes of chlo.broadcast_and. An optional attribute that is zero is left out.
type BroadcastAndAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastAnd builds chlo.broadcast_and and infers its types.
func BuildBroadcastAnd(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastAndAttrs) (BroadcastAndOp, error) {
	op, err := view.Build(b, BroadcastAnd, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastAndOp{op}, err
}

// BroadcastAtan2Op is the view of chlo.broadcast_atan2, and of ops that mirror it. The op must have been verified.
type BroadcastAtan2Op struct{ *ir.Op }

// AsBroadcastAtan2 returns the view of op; ok is false if op is of another kind.
func AsBroadcastAtan2(op *ir.Op) (v BroadcastAtan2Op, ok bool) {
	return BroadcastAtan2Op{op}, op != nil && op.IsOrMirrors(BroadcastAtan2)
}

// Operands, attributes and regions of chlo.broadcast_atan2, and setters of operands and attributes.
func (v BroadcastAtan2Op) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastAtan2Op) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastAtan2Op) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastAtan2Op) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastAtan2Op) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastAtan2Op) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastAtan2Attrs are the attributes of chlo.broadcast_atan2. An optional attribute that is zero is left out.
type BroadcastAtan2Attrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastAtan2 builds chlo.broadcast_atan2 and infers its types.
func BuildBroadcastAtan2(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastAtan2Attrs) (BroadcastAtan2Op, error) {
	op, err := view.Build(b, BroadcastAtan2, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastAtan2Op{op}, err
}

// BroadcastCompareOp is the view of chlo.broadcast_compare, and of ops that mirror it. The op must have been verified.
type BroadcastCompareOp struct{ *ir.Op }

// AsBroadcastCompare returns the view of op; ok is false if op is of another kind.
func AsBroadcastCompare(op *ir.Op) (v BroadcastCompareOp, ok bool) {
	return BroadcastCompareOp{op}, op != nil && op.IsOrMirrors(BroadcastCompare)
}

// Operands, attributes and regions of chlo.broadcast_compare, and setters of operands and attributes.
func (v BroadcastCompareOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastCompareOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastCompareOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastCompareOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastCompareOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastCompareOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}
func (v BroadcastCompareOp) ComparisonDirection() stablehlo.ComparisonDirection {
	return view.Case[stablehlo.ComparisonDirection](v.Attr("comparison_direction"))
}
func (v BroadcastCompareOp) SetComparisonDirection(value stablehlo.ComparisonDirection) {
	view.Set(v.Op, "comparison_direction", value)
}
func (v BroadcastCompareOp) CompareType() stablehlo.ComparisonType {
	return view.Case[stablehlo.ComparisonType](v.Attr("compare_type"))
}
func (v BroadcastCompareOp) SetCompareType(value stablehlo.ComparisonType) {
	view.Set(v.Op, "compare_type", value)
}

// BroadcastCompareAttrs are the attributes of chlo.broadcast_compare. An optional attribute that is zero is left out.
type BroadcastCompareAttrs struct {
	BroadcastDimensions []int64
	ComparisonDirection stablehlo.ComparisonDirection
	CompareType         stablehlo.ComparisonType
}

// BuildBroadcastCompare builds chlo.broadcast_compare and infers its types.
func BuildBroadcastCompare(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastCompareAttrs) (BroadcastCompareOp, error) {
	op, err := view.Build(b, BroadcastCompare, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions, a.ComparisonDirection, a.CompareType)
	return BroadcastCompareOp{op}, err
}

// BroadcastComplexOp is the view of chlo.broadcast_complex, and of ops that mirror it. The op must have been verified.
type BroadcastComplexOp struct{ *ir.Op }

// AsBroadcastComplex returns the view of op; ok is false if op is of another kind.
func AsBroadcastComplex(op *ir.Op) (v BroadcastComplexOp, ok bool) {
	return BroadcastComplexOp{op}, op != nil && op.IsOrMirrors(BroadcastComplex)
}

// Operands, attributes and regions of chlo.broadcast_complex, and setters of operands and attributes.
func (v BroadcastComplexOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastComplexOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastComplexOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastComplexOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastComplexOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastComplexOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastComplexAttrs are the attributes of chlo.broadcast_complex. An optional attribute that is zero is left out.
type BroadcastComplexAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastComplex builds chlo.broadcast_complex and infers its types.
func BuildBroadcastComplex(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastComplexAttrs) (BroadcastComplexOp, error) {
	op, err := view.Build(b, BroadcastComplex, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastComplexOp{op}, err
}

// BroadcastDivideOp is the view of chlo.broadcast_divide, and of ops that mirror it. The op must have been verified.
type BroadcastDivideOp struct{ *ir.Op }

// AsBroadcastDivide returns the view of op; ok is false if op is of another kind.
func AsBroadcastDivide(op *ir.Op) (v BroadcastDivideOp, ok bool) {
	return BroadcastDivideOp{op}, op != nil && op.IsOrMirrors(BroadcastDivide)
}

// Operands, attributes and regions of chlo.broadcast_divide, and setters of operands and attributes.
func (v BroadcastDivideOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastDivideOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastDivideOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastDivideOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastDivideOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastDivideOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastDivideAttrs are the attributes of chlo.broadcast_divide. An optional attribute that is zero is left out.
type BroadcastDivideAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastDivide builds chlo.broadcast_divide and infers its types.
func BuildBroadcastDivide(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastDivideAttrs) (BroadcastDivideOp, error) {
	op, err := view.Build(b, BroadcastDivide, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastDivideOp{op}, err
}

// BroadcastMaximumOp is the view of chlo.broadcast_maximum, and of ops that mirror it. The op must have been verified.
type BroadcastMaximumOp struct{ *ir.Op }

// AsBroadcastMaximum returns the view of op; ok is false if op is of another kind.
func AsBroadcastMaximum(op *ir.Op) (v BroadcastMaximumOp, ok bool) {
	return BroadcastMaximumOp{op}, op != nil && op.IsOrMirrors(BroadcastMaximum)
}

// Operands, attributes and regions of chlo.broadcast_maximum, and setters of operands and attributes.
func (v BroadcastMaximumOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastMaximumOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastMaximumOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastMaximumOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastMaximumOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastMaximumOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastMaximumAttrs are the attributes of chlo.broadcast_maximum. An optional attribute that is zero is left out.
type BroadcastMaximumAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastMaximum builds chlo.broadcast_maximum and infers its types.
func BuildBroadcastMaximum(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastMaximumAttrs) (BroadcastMaximumOp, error) {
	op, err := view.Build(b, BroadcastMaximum, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastMaximumOp{op}, err
}

// BroadcastMinimumOp is the view of chlo.broadcast_minimum, and of ops that mirror it. The op must have been verified.
type BroadcastMinimumOp struct{ *ir.Op }

// AsBroadcastMinimum returns the view of op; ok is false if op is of another kind.
func AsBroadcastMinimum(op *ir.Op) (v BroadcastMinimumOp, ok bool) {
	return BroadcastMinimumOp{op}, op != nil && op.IsOrMirrors(BroadcastMinimum)
}

// Operands, attributes and regions of chlo.broadcast_minimum, and setters of operands and attributes.
func (v BroadcastMinimumOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastMinimumOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastMinimumOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastMinimumOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastMinimumOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastMinimumOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastMinimumAttrs are the attributes of chlo.broadcast_minimum. An optional attribute that is zero is left out.
type BroadcastMinimumAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastMinimum builds chlo.broadcast_minimum and infers its types.
func BuildBroadcastMinimum(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastMinimumAttrs) (BroadcastMinimumOp, error) {
	op, err := view.Build(b, BroadcastMinimum, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastMinimumOp{op}, err
}

// BroadcastMultiplyOp is the view of chlo.broadcast_multiply, and of ops that mirror it. The op must have been verified.
type BroadcastMultiplyOp struct{ *ir.Op }

// AsBroadcastMultiply returns the view of op; ok is false if op is of another kind.
func AsBroadcastMultiply(op *ir.Op) (v BroadcastMultiplyOp, ok bool) {
	return BroadcastMultiplyOp{op}, op != nil && op.IsOrMirrors(BroadcastMultiply)
}

// Operands, attributes and regions of chlo.broadcast_multiply, and setters of operands and attributes.
func (v BroadcastMultiplyOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastMultiplyOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastMultiplyOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastMultiplyOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastMultiplyOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastMultiplyOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastMultiplyAttrs are the attributes of chlo.broadcast_multiply. An optional attribute that is zero is left out.
type BroadcastMultiplyAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastMultiply builds chlo.broadcast_multiply and infers its types.
func BuildBroadcastMultiply(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastMultiplyAttrs) (BroadcastMultiplyOp, error) {
	op, err := view.Build(b, BroadcastMultiply, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastMultiplyOp{op}, err
}

// BroadcastNextAfterOp is the view of chlo.broadcast_next_after, and of ops that mirror it. The op must have been verified.
type BroadcastNextAfterOp struct{ *ir.Op }

// AsBroadcastNextAfter returns the view of op; ok is false if op is of another kind.
func AsBroadcastNextAfter(op *ir.Op) (v BroadcastNextAfterOp, ok bool) {
	return BroadcastNextAfterOp{op}, op != nil && op.IsOrMirrors(BroadcastNextAfter)
}

// Operands, attributes and regions of chlo.broadcast_next_after, and setters of operands and attributes.
func (v BroadcastNextAfterOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastNextAfterOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastNextAfterOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastNextAfterOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastNextAfterOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastNextAfterOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastNextAfterAttrs are the attributes of chlo.broadcast_next_after. An optional attribute that is zero is left out.
type BroadcastNextAfterAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastNextAfter builds chlo.broadcast_next_after and infers its types.
func BuildBroadcastNextAfter(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastNextAfterAttrs) (BroadcastNextAfterOp, error) {
	op, err := view.Build(b, BroadcastNextAfter, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastNextAfterOp{op}, err
}

// BroadcastOrOp is the view of chlo.broadcast_or, and of ops that mirror it. The op must have been verified.
type BroadcastOrOp struct{ *ir.Op }

// AsBroadcastOr returns the view of op; ok is false if op is of another kind.
func AsBroadcastOr(op *ir.Op) (v BroadcastOrOp, ok bool) {
	return BroadcastOrOp{op}, op != nil && op.IsOrMirrors(BroadcastOr)
}

// Operands, attributes and regions of chlo.broadcast_or, and setters of operands and attributes.
func (v BroadcastOrOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastOrOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastOrOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastOrOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastOrOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastOrOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastOrAttrs are the attributes of chlo.broadcast_or. An optional attribute that is zero is left out.
type BroadcastOrAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastOr builds chlo.broadcast_or and infers its types.
func BuildBroadcastOr(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastOrAttrs) (BroadcastOrOp, error) {
	op, err := view.Build(b, BroadcastOr, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastOrOp{op}, err
}

// BroadcastPolygammaOp is the view of chlo.broadcast_polygamma, and of ops that mirror it. The op must have been verified.
type BroadcastPolygammaOp struct{ *ir.Op }

// AsBroadcastPolygamma returns the view of op; ok is false if op is of another kind.
func AsBroadcastPolygamma(op *ir.Op) (v BroadcastPolygammaOp, ok bool) {
	return BroadcastPolygammaOp{op}, op != nil && op.IsOrMirrors(BroadcastPolygamma)
}

// Operands, attributes and regions of chlo.broadcast_polygamma, and setters of operands and attributes.
func (v BroadcastPolygammaOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastPolygammaOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastPolygammaOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastPolygammaOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastPolygammaOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastPolygammaOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastPolygammaAttrs are the attributes of chlo.broadcast_polygamma. An optional attribute that is zero is left out.
type BroadcastPolygammaAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastPolygamma builds chlo.broadcast_polygamma and infers its types.
func BuildBroadcastPolygamma(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastPolygammaAttrs) (BroadcastPolygammaOp, error) {
	op, err := view.Build(b, BroadcastPolygamma, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastPolygammaOp{op}, err
}

// BroadcastPowerOp is the view of chlo.broadcast_power, and of ops that mirror it. The op must have been verified.
type BroadcastPowerOp struct{ *ir.Op }

// AsBroadcastPower returns the view of op; ok is false if op is of another kind.
func AsBroadcastPower(op *ir.Op) (v BroadcastPowerOp, ok bool) {
	return BroadcastPowerOp{op}, op != nil && op.IsOrMirrors(BroadcastPower)
}

// Operands, attributes and regions of chlo.broadcast_power, and setters of operands and attributes.
func (v BroadcastPowerOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastPowerOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastPowerOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastPowerOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastPowerOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastPowerOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastPowerAttrs are the attributes of chlo.broadcast_power. An optional attribute that is zero is left out.
type BroadcastPowerAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastPower builds chlo.broadcast_power and infers its types.
func BuildBroadcastPower(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastPowerAttrs) (BroadcastPowerOp, error) {
	op, err := view.Build(b, BroadcastPower, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastPowerOp{op}, err
}

// BroadcastRemainderOp is the view of chlo.broadcast_remainder, and of ops that mirror it. The op must have been verified.
type BroadcastRemainderOp struct{ *ir.Op }

// AsBroadcastRemainder returns the view of op; ok is false if op is of another kind.
func AsBroadcastRemainder(op *ir.Op) (v BroadcastRemainderOp, ok bool) {
	return BroadcastRemainderOp{op}, op != nil && op.IsOrMirrors(BroadcastRemainder)
}

// Operands, attributes and regions of chlo.broadcast_remainder, and setters of operands and attributes.
func (v BroadcastRemainderOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastRemainderOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastRemainderOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastRemainderOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastRemainderOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastRemainderOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastRemainderAttrs are the attributes of chlo.broadcast_remainder. An optional attribute that is zero is left out.
type BroadcastRemainderAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastRemainder builds chlo.broadcast_remainder and infers its types.
func BuildBroadcastRemainder(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastRemainderAttrs) (BroadcastRemainderOp, error) {
	op, err := view.Build(b, BroadcastRemainder, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastRemainderOp{op}, err
}

// BroadcastSelectOp is the view of chlo.broadcast_select, and of ops that mirror it. The op must have been verified.
type BroadcastSelectOp struct{ *ir.Op }

// AsBroadcastSelect returns the view of op; ok is false if op is of another kind.
func AsBroadcastSelect(op *ir.Op) (v BroadcastSelectOp, ok bool) {
	return BroadcastSelectOp{op}, op != nil && op.IsOrMirrors(BroadcastSelect)
}

// Operands, attributes and regions of chlo.broadcast_select, and setters of operands and attributes.
func (v BroadcastSelectOp) Pred() *ir.Value            { return v.Operand(0) }
func (v BroadcastSelectOp) SetPred(value *ir.Value)    { v.SetOperand(0, value) }
func (v BroadcastSelectOp) OnTrue() *ir.Value          { return v.Operand(1) }
func (v BroadcastSelectOp) SetOnTrue(value *ir.Value)  { v.SetOperand(1, value) }
func (v BroadcastSelectOp) OnFalse() *ir.Value         { return v.Operand(2) }
func (v BroadcastSelectOp) SetOnFalse(value *ir.Value) { v.SetOperand(2, value) }

// BuildBroadcastSelect builds chlo.broadcast_select and infers its types.
func BuildBroadcastSelect(b *ir.Builder, pred *ir.Value, onTrue *ir.Value, onFalse *ir.Value) (BroadcastSelectOp, error) {
	op, err := view.Build(b, BroadcastSelect, nil, []*ir.Value{pred, onTrue, onFalse}, nil)
	return BroadcastSelectOp{op}, err
}

// BroadcastShiftLeftOp is the view of chlo.broadcast_shift_left, and of ops that mirror it. The op must have been verified.
type BroadcastShiftLeftOp struct{ *ir.Op }

// AsBroadcastShiftLeft returns the view of op; ok is false if op is of another kind.
func AsBroadcastShiftLeft(op *ir.Op) (v BroadcastShiftLeftOp, ok bool) {
	return BroadcastShiftLeftOp{op}, op != nil && op.IsOrMirrors(BroadcastShiftLeft)
}

// Operands, attributes and regions of chlo.broadcast_shift_left, and setters of operands and attributes.
func (v BroadcastShiftLeftOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastShiftLeftOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastShiftLeftOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastShiftLeftOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastShiftLeftOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastShiftLeftOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastShiftLeftAttrs are the attributes of chlo.broadcast_shift_left. An optional attribute that is zero is left out.
type BroadcastShiftLeftAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastShiftLeft builds chlo.broadcast_shift_left and infers its types.
func BuildBroadcastShiftLeft(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastShiftLeftAttrs) (BroadcastShiftLeftOp, error) {
	op, err := view.Build(b, BroadcastShiftLeft, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastShiftLeftOp{op}, err
}

// BroadcastShiftRightArithmeticOp is the view of chlo.broadcast_shift_right_arithmetic, and of ops that mirror it. The op must have been verified.
type BroadcastShiftRightArithmeticOp struct{ *ir.Op }

// AsBroadcastShiftRightArithmetic returns the view of op; ok is false if op is of another kind.
func AsBroadcastShiftRightArithmetic(op *ir.Op) (v BroadcastShiftRightArithmeticOp, ok bool) {
	return BroadcastShiftRightArithmeticOp{op}, op != nil && op.IsOrMirrors(BroadcastShiftRightArithmetic)
}

// Operands, attributes and regions of chlo.broadcast_shift_right_arithmetic, and setters of operands and attributes.
func (v BroadcastShiftRightArithmeticOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastShiftRightArithmeticOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastShiftRightArithmeticOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastShiftRightArithmeticOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastShiftRightArithmeticOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastShiftRightArithmeticOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastShiftRightArithmeticAttrs are the attributes of chlo.broadcast_shift_right_arithmetic. An optional attribute that is zero is left out.
type BroadcastShiftRightArithmeticAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastShiftRightArithmetic builds chlo.broadcast_shift_right_arithmetic and infers its types.
func BuildBroadcastShiftRightArithmetic(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastShiftRightArithmeticAttrs) (BroadcastShiftRightArithmeticOp, error) {
	op, err := view.Build(b, BroadcastShiftRightArithmetic, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastShiftRightArithmeticOp{op}, err
}

// BroadcastShiftRightLogicalOp is the view of chlo.broadcast_shift_right_logical, and of ops that mirror it. The op must have been verified.
type BroadcastShiftRightLogicalOp struct{ *ir.Op }

// AsBroadcastShiftRightLogical returns the view of op; ok is false if op is of another kind.
func AsBroadcastShiftRightLogical(op *ir.Op) (v BroadcastShiftRightLogicalOp, ok bool) {
	return BroadcastShiftRightLogicalOp{op}, op != nil && op.IsOrMirrors(BroadcastShiftRightLogical)
}

// Operands, attributes and regions of chlo.broadcast_shift_right_logical, and setters of operands and attributes.
func (v BroadcastShiftRightLogicalOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastShiftRightLogicalOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastShiftRightLogicalOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastShiftRightLogicalOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastShiftRightLogicalOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastShiftRightLogicalOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastShiftRightLogicalAttrs are the attributes of chlo.broadcast_shift_right_logical. An optional attribute that is zero is left out.
type BroadcastShiftRightLogicalAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastShiftRightLogical builds chlo.broadcast_shift_right_logical and infers its types.
func BuildBroadcastShiftRightLogical(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastShiftRightLogicalAttrs) (BroadcastShiftRightLogicalOp, error) {
	op, err := view.Build(b, BroadcastShiftRightLogical, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastShiftRightLogicalOp{op}, err
}

// BroadcastSubtractOp is the view of chlo.broadcast_subtract, and of ops that mirror it. The op must have been verified.
type BroadcastSubtractOp struct{ *ir.Op }

// AsBroadcastSubtract returns the view of op; ok is false if op is of another kind.
func AsBroadcastSubtract(op *ir.Op) (v BroadcastSubtractOp, ok bool) {
	return BroadcastSubtractOp{op}, op != nil && op.IsOrMirrors(BroadcastSubtract)
}

// Operands, attributes and regions of chlo.broadcast_subtract, and setters of operands and attributes.
func (v BroadcastSubtractOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastSubtractOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastSubtractOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastSubtractOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastSubtractOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastSubtractOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastSubtractAttrs are the attributes of chlo.broadcast_subtract. An optional attribute that is zero is left out.
type BroadcastSubtractAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastSubtract builds chlo.broadcast_subtract and infers its types.
func BuildBroadcastSubtract(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastSubtractAttrs) (BroadcastSubtractOp, error) {
	op, err := view.Build(b, BroadcastSubtract, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastSubtractOp{op}, err
}

// BroadcastXorOp is the view of chlo.broadcast_xor, and of ops that mirror it. The op must have been verified.
type BroadcastXorOp struct{ *ir.Op }

// AsBroadcastXor returns the view of op; ok is false if op is of another kind.
func AsBroadcastXor(op *ir.Op) (v BroadcastXorOp, ok bool) {
	return BroadcastXorOp{op}, op != nil && op.IsOrMirrors(BroadcastXor)
}

// Operands, attributes and regions of chlo.broadcast_xor, and setters of operands and attributes.
func (v BroadcastXorOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastXorOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastXorOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastXorOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastXorOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastXorOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastXorAttrs are the attributes of chlo.broadcast_xor. An optional attribute that is zero is left out.
type BroadcastXorAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastXor builds chlo.broadcast_xor and infers its types.
func BuildBroadcastXor(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastXorAttrs) (BroadcastXorOp, error) {
	op, err := view.Build(b, BroadcastXor, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastXorOp{op}, err
}

// BroadcastZetaOp is the view of chlo.broadcast_zeta, and of ops that mirror it. The op must have been verified.
type BroadcastZetaOp struct{ *ir.Op }

// AsBroadcastZeta returns the view of op; ok is false if op is of another kind.
func AsBroadcastZeta(op *ir.Op) (v BroadcastZetaOp, ok bool) {
	return BroadcastZetaOp{op}, op != nil && op.IsOrMirrors(BroadcastZeta)
}

// Operands, attributes and regions of chlo.broadcast_zeta, and setters of operands and attributes.
func (v BroadcastZetaOp) LHS() *ir.Value         { return v.Operand(0) }
func (v BroadcastZetaOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v BroadcastZetaOp) RHS() *ir.Value         { return v.Operand(1) }
func (v BroadcastZetaOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }
func (v BroadcastZetaOp) BroadcastDimensions() []int64 {
	return view.Ints(v.Attr("broadcast_dimensions"))
}
func (v BroadcastZetaOp) SetBroadcastDimensions(value []int64) {
	view.Set(v.Op, "broadcast_dimensions", value)
}

// BroadcastZetaAttrs are the attributes of chlo.broadcast_zeta. An optional attribute that is zero is left out.
type BroadcastZetaAttrs struct {
	BroadcastDimensions []int64
}

// BuildBroadcastZeta builds chlo.broadcast_zeta and infers its types.
func BuildBroadcastZeta(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, a BroadcastZetaAttrs) (BroadcastZetaOp, error) {
	op, err := view.Build(b, BroadcastZeta, nil, []*ir.Value{lhs, rhs}, nil, a.BroadcastDimensions)
	return BroadcastZetaOp{op}, err
}

// ConjOp is the view of chlo.conj, and of ops that mirror it. The op must have been verified.
type ConjOp struct{ *ir.Op }

// AsConj returns the view of op; ok is false if op is of another kind.
func AsConj(op *ir.Op) (v ConjOp, ok bool) { return ConjOp{op}, op != nil && op.IsOrMirrors(Conj) }

// Operands, attributes and regions of chlo.conj, and setters of operands and attributes.
func (v ConjOp) Input() *ir.Value         { return v.Operand(0) }
func (v ConjOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildConj builds chlo.conj and infers its types.
func BuildConj(b *ir.Builder, operand *ir.Value) (ConjOp, error) {
	op, err := view.Build(b, Conj, nil, []*ir.Value{operand}, nil)
	return ConjOp{op}, err
}

// ConstantOp is the view of chlo.constant, and of ops that mirror it. The op must have been verified.
type ConstantOp struct{ *ir.Op }

// AsConstant returns the view of op; ok is false if op is of another kind.
func AsConstant(op *ir.Op) (v ConstantOp, ok bool) {
	return ConstantOp{op}, op != nil && op.IsOrMirrors(Constant)
}

// Operands, attributes and regions of chlo.constant, and setters of operands and attributes.
func (v ConstantOp) Value() ir.Attr         { return v.Attr("value") }
func (v ConstantOp) SetValue(value ir.Attr) { view.Set(v.Op, "value", value) }

// ConstantAttrs are the attributes of chlo.constant. An optional attribute that is zero is left out.
type ConstantAttrs struct {
	Value ir.Attr
}

// BuildConstant builds chlo.constant and infers its types.
func BuildConstant(b *ir.Builder, a ConstantAttrs) (ConstantOp, error) {
	op, err := view.Build(b, Constant, nil, nil, nil, a.Value)
	return ConstantOp{op}, err
}

// ConstantLikeOp is the view of chlo.constant_like, and of ops that mirror it. The op must have been verified.
type ConstantLikeOp struct{ *ir.Op }

// AsConstantLike returns the view of op; ok is false if op is of another kind.
func AsConstantLike(op *ir.Op) (v ConstantLikeOp, ok bool) {
	return ConstantLikeOp{op}, op != nil && op.IsOrMirrors(ConstantLike)
}

// Operands, attributes and regions of chlo.constant_like, and setters of operands and attributes.
func (v ConstantLikeOp) Input() *ir.Value         { return v.Operand(0) }
func (v ConstantLikeOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v ConstantLikeOp) Value() ir.Attr           { return v.Attr("value") }
func (v ConstantLikeOp) SetValue(value ir.Attr)   { view.Set(v.Op, "value", value) }

// ConstantLikeAttrs are the attributes of chlo.constant_like. An optional attribute that is zero is left out.
type ConstantLikeAttrs struct {
	Value ir.Attr
}

// BuildConstantLike builds chlo.constant_like and checks its types.
func BuildConstantLike(b *ir.Builder, operand *ir.Value, result ir.Type, a ConstantLikeAttrs) (ConstantLikeOp, error) {
	op, err := view.Build(b, ConstantLike, []ir.Type{result}, []*ir.Value{operand}, nil, a.Value)
	return ConstantLikeOp{op}, err
}

// CoshOp is the view of chlo.cosh, and of ops that mirror it. The op must have been verified.
type CoshOp struct{ *ir.Op }

// AsCosh returns the view of op; ok is false if op is of another kind.
func AsCosh(op *ir.Op) (v CoshOp, ok bool) { return CoshOp{op}, op != nil && op.IsOrMirrors(Cosh) }

// Operands, attributes and regions of chlo.cosh, and setters of operands and attributes.
func (v CoshOp) Input() *ir.Value         { return v.Operand(0) }
func (v CoshOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildCosh builds chlo.cosh and infers its types.
func BuildCosh(b *ir.Builder, operand *ir.Value) (CoshOp, error) {
	op, err := view.Build(b, Cosh, nil, []*ir.Value{operand}, nil)
	return CoshOp{op}, err
}

// DigammaOp is the view of chlo.digamma, and of ops that mirror it. The op must have been verified.
type DigammaOp struct{ *ir.Op }

// AsDigamma returns the view of op; ok is false if op is of another kind.
func AsDigamma(op *ir.Op) (v DigammaOp, ok bool) {
	return DigammaOp{op}, op != nil && op.IsOrMirrors(Digamma)
}

// Operands, attributes and regions of chlo.digamma, and setters of operands and attributes.
func (v DigammaOp) Input() *ir.Value         { return v.Operand(0) }
func (v DigammaOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildDigamma builds chlo.digamma and infers its types.
func BuildDigamma(b *ir.Builder, operand *ir.Value) (DigammaOp, error) {
	op, err := view.Build(b, Digamma, nil, []*ir.Value{operand}, nil)
	return DigammaOp{op}, err
}

// ErfOp is the view of chlo.erf, and of ops that mirror it. The op must have been verified.
type ErfOp struct{ *ir.Op }

// AsErf returns the view of op; ok is false if op is of another kind.
func AsErf(op *ir.Op) (v ErfOp, ok bool) { return ErfOp{op}, op != nil && op.IsOrMirrors(Erf) }

// Operands, attributes and regions of chlo.erf, and setters of operands and attributes.
func (v ErfOp) Input() *ir.Value         { return v.Operand(0) }
func (v ErfOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildErf builds chlo.erf and infers its types.
func BuildErf(b *ir.Builder, operand *ir.Value) (ErfOp, error) {
	op, err := view.Build(b, Erf, nil, []*ir.Value{operand}, nil)
	return ErfOp{op}, err
}

// ErfInvOp is the view of chlo.erf_inv, and of ops that mirror it. The op must have been verified.
type ErfInvOp struct{ *ir.Op }

// AsErfInv returns the view of op; ok is false if op is of another kind.
func AsErfInv(op *ir.Op) (v ErfInvOp, ok bool) {
	return ErfInvOp{op}, op != nil && op.IsOrMirrors(ErfInv)
}

// Operands, attributes and regions of chlo.erf_inv, and setters of operands and attributes.
func (v ErfInvOp) Input() *ir.Value         { return v.Operand(0) }
func (v ErfInvOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildErfInv builds chlo.erf_inv and infers its types.
func BuildErfInv(b *ir.Builder, operand *ir.Value) (ErfInvOp, error) {
	op, err := view.Build(b, ErfInv, nil, []*ir.Value{operand}, nil)
	return ErfInvOp{op}, err
}

// ErfcOp is the view of chlo.erfc, and of ops that mirror it. The op must have been verified.
type ErfcOp struct{ *ir.Op }

// AsErfc returns the view of op; ok is false if op is of another kind.
func AsErfc(op *ir.Op) (v ErfcOp, ok bool) { return ErfcOp{op}, op != nil && op.IsOrMirrors(Erfc) }

// Operands, attributes and regions of chlo.erfc, and setters of operands and attributes.
func (v ErfcOp) Input() *ir.Value         { return v.Operand(0) }
func (v ErfcOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildErfc builds chlo.erfc and infers its types.
func BuildErfc(b *ir.Builder, operand *ir.Value) (ErfcOp, error) {
	op, err := view.Build(b, Erfc, nil, []*ir.Value{operand}, nil)
	return ErfcOp{op}, err
}

// IsInfOp is the view of chlo.is_inf, and of ops that mirror it. The op must have been verified.
type IsInfOp struct{ *ir.Op }

// AsIsInf returns the view of op; ok is false if op is of another kind.
func AsIsInf(op *ir.Op) (v IsInfOp, ok bool) { return IsInfOp{op}, op != nil && op.IsOrMirrors(IsInf) }

// Operands, attributes and regions of chlo.is_inf, and setters of operands and attributes.
func (v IsInfOp) Input() *ir.Value         { return v.Operand(0) }
func (v IsInfOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildIsInf builds chlo.is_inf and infers its types.
func BuildIsInf(b *ir.Builder, operand *ir.Value) (IsInfOp, error) {
	op, err := view.Build(b, IsInf, nil, []*ir.Value{operand}, nil)
	return IsInfOp{op}, err
}

// IsNegInfOp is the view of chlo.is_neg_inf, and of ops that mirror it. The op must have been verified.
type IsNegInfOp struct{ *ir.Op }

// AsIsNegInf returns the view of op; ok is false if op is of another kind.
func AsIsNegInf(op *ir.Op) (v IsNegInfOp, ok bool) {
	return IsNegInfOp{op}, op != nil && op.IsOrMirrors(IsNegInf)
}

// Operands, attributes and regions of chlo.is_neg_inf, and setters of operands and attributes.
func (v IsNegInfOp) Input() *ir.Value         { return v.Operand(0) }
func (v IsNegInfOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildIsNegInf builds chlo.is_neg_inf and infers its types.
func BuildIsNegInf(b *ir.Builder, operand *ir.Value) (IsNegInfOp, error) {
	op, err := view.Build(b, IsNegInf, nil, []*ir.Value{operand}, nil)
	return IsNegInfOp{op}, err
}

// IsPosInfOp is the view of chlo.is_pos_inf, and of ops that mirror it. The op must have been verified.
type IsPosInfOp struct{ *ir.Op }

// AsIsPosInf returns the view of op; ok is false if op is of another kind.
func AsIsPosInf(op *ir.Op) (v IsPosInfOp, ok bool) {
	return IsPosInfOp{op}, op != nil && op.IsOrMirrors(IsPosInf)
}

// Operands, attributes and regions of chlo.is_pos_inf, and setters of operands and attributes.
func (v IsPosInfOp) Input() *ir.Value         { return v.Operand(0) }
func (v IsPosInfOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildIsPosInf builds chlo.is_pos_inf and infers its types.
func BuildIsPosInf(b *ir.Builder, operand *ir.Value) (IsPosInfOp, error) {
	op, err := view.Build(b, IsPosInf, nil, []*ir.Value{operand}, nil)
	return IsPosInfOp{op}, err
}

// LgammaOp is the view of chlo.lgamma, and of ops that mirror it. The op must have been verified.
type LgammaOp struct{ *ir.Op }

// AsLgamma returns the view of op; ok is false if op is of another kind.
func AsLgamma(op *ir.Op) (v LgammaOp, ok bool) {
	return LgammaOp{op}, op != nil && op.IsOrMirrors(Lgamma)
}

// Operands, attributes and regions of chlo.lgamma, and setters of operands and attributes.
func (v LgammaOp) Input() *ir.Value         { return v.Operand(0) }
func (v LgammaOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildLgamma builds chlo.lgamma and infers its types.
func BuildLgamma(b *ir.Builder, operand *ir.Value) (LgammaOp, error) {
	op, err := view.Build(b, Lgamma, nil, []*ir.Value{operand}, nil)
	return LgammaOp{op}, err
}

// MulhiOp is the view of chlo.mulhi, and of ops that mirror it. The op must have been verified.
type MulhiOp struct{ *ir.Op }

// AsMulhi returns the view of op; ok is false if op is of another kind.
func AsMulhi(op *ir.Op) (v MulhiOp, ok bool) { return MulhiOp{op}, op != nil && op.IsOrMirrors(Mulhi) }

// Operands, attributes and regions of chlo.mulhi, and setters of operands and attributes.
func (v MulhiOp) LHS() *ir.Value         { return v.Operand(0) }
func (v MulhiOp) SetLHS(value *ir.Value) { v.SetOperand(0, value) }
func (v MulhiOp) RHS() *ir.Value         { return v.Operand(1) }
func (v MulhiOp) SetRHS(value *ir.Value) { v.SetOperand(1, value) }

// BuildMulhi builds chlo.mulhi and infers its types.
func BuildMulhi(b *ir.Builder, lhs *ir.Value, rhs *ir.Value) (MulhiOp, error) {
	op, err := view.Build(b, Mulhi, nil, []*ir.Value{lhs, rhs}, nil)
	return MulhiOp{op}, err
}

// NextAfterOp is the view of chlo.next_after, and of ops that mirror it. The op must have been verified.
type NextAfterOp struct{ *ir.Op }

// AsNextAfter returns the view of op; ok is false if op is of another kind.
func AsNextAfter(op *ir.Op) (v NextAfterOp, ok bool) {
	return NextAfterOp{op}, op != nil && op.IsOrMirrors(NextAfter)
}

// Operands, attributes and regions of chlo.next_after, and setters of operands and attributes.
func (v NextAfterOp) X() *ir.Value         { return v.Operand(0) }
func (v NextAfterOp) SetX(value *ir.Value) { v.SetOperand(0, value) }
func (v NextAfterOp) Y() *ir.Value         { return v.Operand(1) }
func (v NextAfterOp) SetY(value *ir.Value) { v.SetOperand(1, value) }

// BuildNextAfter builds chlo.next_after and infers its types.
func BuildNextAfter(b *ir.Builder, x *ir.Value, y *ir.Value) (NextAfterOp, error) {
	op, err := view.Build(b, NextAfter, nil, []*ir.Value{x, y}, nil)
	return NextAfterOp{op}, err
}

// PolygammaOp is the view of chlo.polygamma, and of ops that mirror it. The op must have been verified.
type PolygammaOp struct{ *ir.Op }

// AsPolygamma returns the view of op; ok is false if op is of another kind.
func AsPolygamma(op *ir.Op) (v PolygammaOp, ok bool) {
	return PolygammaOp{op}, op != nil && op.IsOrMirrors(Polygamma)
}

// Operands, attributes and regions of chlo.polygamma, and setters of operands and attributes.
func (v PolygammaOp) N() *ir.Value         { return v.Operand(0) }
func (v PolygammaOp) SetN(value *ir.Value) { v.SetOperand(0, value) }
func (v PolygammaOp) X() *ir.Value         { return v.Operand(1) }
func (v PolygammaOp) SetX(value *ir.Value) { v.SetOperand(1, value) }

// BuildPolygamma builds chlo.polygamma and infers its types.
func BuildPolygamma(b *ir.Builder, n *ir.Value, x *ir.Value) (PolygammaOp, error) {
	op, err := view.Build(b, Polygamma, nil, []*ir.Value{n, x}, nil)
	return PolygammaOp{op}, err
}

// RaggedDotOp is the view of chlo.ragged_dot, and of ops that mirror it. The op must have been verified.
type RaggedDotOp struct{ *ir.Op }

// AsRaggedDot returns the view of op; ok is false if op is of another kind.
func AsRaggedDot(op *ir.Op) (v RaggedDotOp, ok bool) {
	return RaggedDotOp{op}, op != nil && op.IsOrMirrors(RaggedDot)
}

// Operands, attributes and regions of chlo.ragged_dot, and setters of operands and attributes.
func (v RaggedDotOp) LHS() *ir.Value                { return v.Operand(0) }
func (v RaggedDotOp) SetLHS(value *ir.Value)        { v.SetOperand(0, value) }
func (v RaggedDotOp) RHS() *ir.Value                { return v.Operand(1) }
func (v RaggedDotOp) SetRHS(value *ir.Value)        { v.SetOperand(1, value) }
func (v RaggedDotOp) GroupSizes() *ir.Value         { return v.Operand(2) }
func (v RaggedDotOp) SetGroupSizes(value *ir.Value) { v.SetOperand(2, value) }
func (v RaggedDotOp) Dims() *RaggedDotDims {
	return view.Data[RaggedDotDims](v.Attr("ragged_dot_dimension_numbers"))
}
func (v RaggedDotOp) SetDims(value *RaggedDotDims) {
	view.Set(v.Op, "ragged_dot_dimension_numbers", value)
}
func (v RaggedDotOp) PrecisionConfig() []stablehlo.Precision {
	return view.List(v.Attr("precision_config"), view.Case[stablehlo.Precision])
}
func (v RaggedDotOp) SetPrecisionConfig(value []stablehlo.Precision) {
	view.Set(v.Op, "precision_config", value)
}

// RaggedDotAttrs are the attributes of chlo.ragged_dot. An optional attribute that is zero is left out.
type RaggedDotAttrs struct {
	Dims            *RaggedDotDims
	PrecisionConfig []stablehlo.Precision
}

// BuildRaggedDot builds chlo.ragged_dot and checks its types.
func BuildRaggedDot(b *ir.Builder, lhs *ir.Value, rhs *ir.Value, groupSizes *ir.Value, result ir.Type, a RaggedDotAttrs) (RaggedDotOp, error) {
	op, err := view.Build(b, RaggedDot, []ir.Type{result}, []*ir.Value{lhs, rhs, groupSizes}, nil, a.Dims, a.PrecisionConfig)
	return RaggedDotOp{op}, err
}

// ScanOp is the view of chlo.scan, and of ops that mirror it. The op must have been verified.
type ScanOp struct{ *ir.Op }

// AsScan returns the view of op; ok is false if op is of another kind.
func AsScan(op *ir.Op) (v ScanOp, ok bool) { return ScanOp{op}, op != nil && op.IsOrMirrors(Scan) }

// Operands, attributes and regions of chlo.scan, and setters of operands and attributes.
func (v ScanOp) Inputs() []*ir.Value             { return view.Group(v.Op, 0) }
func (v ScanOp) SetInputs(values []*ir.Value)    { view.SetGroup(v.Op, 0, values...) }
func (v ScanOp) Inits() []*ir.Value              { return view.Group(v.Op, 1) }
func (v ScanOp) SetInits(values []*ir.Value)     { view.SetGroup(v.Op, 1, values...) }
func (v ScanOp) Dimension() int64                { return view.Int(v.Attr("dimension")) }
func (v ScanOp) SetDimension(value int64)        { view.Set(v.Op, "dimension", value) }
func (v ScanOp) ScanDimSize() (n int64, ok bool) { return view.OptionalInt(v.Attr("scan_dim_size")) }
func (v ScanOp) SetScanDimSize(value *int64)     { view.Set(v.Op, "scan_dim_size", value) }
func (v ScanOp) IsReverse() bool                 { return view.Bool(v.Attr("is_reverse")) }
func (v ScanOp) SetIsReverse(value bool)         { view.Set(v.Op, "is_reverse", value) }
func (v ScanOp) IsAssociative() (value, ok bool) { return view.OptionalBool(v.Attr("is_associative")) }
func (v ScanOp) SetIsAssociative(value *bool)    { view.Set(v.Op, "is_associative", value) }
func (v ScanOp) Body() *ir.Region                { return v.Region(0) }

// ScanAttrs are the attributes of chlo.scan. An optional attribute that is zero is left out.
type ScanAttrs struct {
	Dimension     int64
	ScanDimSize   *int64
	IsReverse     bool
	IsAssociative *bool
}

// BuildScan builds chlo.scan and checks its types.
func BuildScan(b *ir.Builder, inputs []*ir.Value, inits []*ir.Value, body *ir.Region, outputs []ir.Type, carries []ir.Type, a ScanAttrs) (ScanOp, error) {
	op, err := view.Build(b, Scan, slices.Concat(outputs, carries), view.Join(inputs, inits), []*ir.Region{body}, a.Dimension, a.ScanDimSize, a.IsReverse, a.IsAssociative, view.Sizes(inputs, inits), view.Sizes(outputs, carries))
	return ScanOp{op}, err
}

// SinhOp is the view of chlo.sinh, and of ops that mirror it. The op must have been verified.
type SinhOp struct{ *ir.Op }

// AsSinh returns the view of op; ok is false if op is of another kind.
func AsSinh(op *ir.Op) (v SinhOp, ok bool) { return SinhOp{op}, op != nil && op.IsOrMirrors(Sinh) }

// Operands, attributes and regions of chlo.sinh, and setters of operands and attributes.
func (v SinhOp) Input() *ir.Value         { return v.Operand(0) }
func (v SinhOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildSinh builds chlo.sinh and infers its types.
func BuildSinh(b *ir.Builder, operand *ir.Value) (SinhOp, error) {
	op, err := view.Build(b, Sinh, nil, []*ir.Value{operand}, nil)
	return SinhOp{op}, err
}

// SquareOp is the view of chlo.square, and of ops that mirror it. The op must have been verified.
type SquareOp struct{ *ir.Op }

// AsSquare returns the view of op; ok is false if op is of another kind.
func AsSquare(op *ir.Op) (v SquareOp, ok bool) {
	return SquareOp{op}, op != nil && op.IsOrMirrors(Square)
}

// Operands, attributes and regions of chlo.square, and setters of operands and attributes.
func (v SquareOp) Input() *ir.Value         { return v.Operand(0) }
func (v SquareOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildSquare builds chlo.square and infers its types.
func BuildSquare(b *ir.Builder, operand *ir.Value) (SquareOp, error) {
	op, err := view.Build(b, Square, nil, []*ir.Value{operand}, nil)
	return SquareOp{op}, err
}

// TanOp is the view of chlo.tan, and of ops that mirror it. The op must have been verified.
type TanOp struct{ *ir.Op }

// AsTan returns the view of op; ok is false if op is of another kind.
func AsTan(op *ir.Op) (v TanOp, ok bool) { return TanOp{op}, op != nil && op.IsOrMirrors(Tan) }

// Operands, attributes and regions of chlo.tan, and setters of operands and attributes.
func (v TanOp) Input() *ir.Value         { return v.Operand(0) }
func (v TanOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }

// BuildTan builds chlo.tan and infers its types.
func BuildTan(b *ir.Builder, operand *ir.Value) (TanOp, error) {
	op, err := view.Build(b, Tan, nil, []*ir.Value{operand}, nil)
	return TanOp{op}, err
}

// TopKOp is the view of chlo.top_k, and of ops that mirror it. The op must have been verified.
type TopKOp struct{ *ir.Op }

// AsTopK returns the view of op; ok is false if op is of another kind.
func AsTopK(op *ir.Op) (v TopKOp, ok bool) { return TopKOp{op}, op != nil && op.IsOrMirrors(TopK) }

// Operands, attributes and regions of chlo.top_k, and setters of operands and attributes.
func (v TopKOp) Input() *ir.Value         { return v.Operand(0) }
func (v TopKOp) SetInput(value *ir.Value) { v.SetOperand(0, value) }
func (v TopKOp) K() int64                 { return view.Int(v.Attr("k")) }
func (v TopKOp) SetK(value int64)         { view.Set(v.Op, "k", value) }
func (v TopKOp) IsStable() bool           { return view.IntOr(v.Attr("is_stable"), 1) != 0 }
func (v TopKOp) SetIsStable(value *bool)  { view.Set(v.Op, "is_stable", value) }

// TopKAttrs are the attributes of chlo.top_k. An optional attribute that is zero is left out.
type TopKAttrs struct {
	K        int64
	IsStable *bool
}

// BuildTopK builds chlo.top_k and infers its types.
func BuildTopK(b *ir.Builder, operand *ir.Value, a TopKAttrs) (TopKOp, error) {
	op, err := view.Build(b, TopK, nil, []*ir.Value{operand}, nil, a.K, a.IsStable)
	return TopKOp{op}, err
}

// ZetaOp is the view of chlo.zeta, and of ops that mirror it. The op must have been verified.
type ZetaOp struct{ *ir.Op }

// AsZeta returns the view of op; ok is false if op is of another kind.
func AsZeta(op *ir.Op) (v ZetaOp, ok bool) { return ZetaOp{op}, op != nil && op.IsOrMirrors(Zeta) }

// Operands, attributes and regions of chlo.zeta, and setters of operands and attributes.
func (v ZetaOp) X() *ir.Value         { return v.Operand(0) }
func (v ZetaOp) SetX(value *ir.Value) { v.SetOperand(0, value) }
func (v ZetaOp) Q() *ir.Value         { return v.Operand(1) }
func (v ZetaOp) SetQ(value *ir.Value) { v.SetOperand(1, value) }

// BuildZeta builds chlo.zeta and infers its types.
func BuildZeta(b *ir.Builder, x *ir.Value, q *ir.Value) (ZetaOp, error) {
	op, err := view.Build(b, Zeta, nil, []*ir.Value{x, q}, nil)
	return ZetaOp{op}, err
}
