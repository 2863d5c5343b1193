package chlo

import (
	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Enumerated attributes, which mirror StableHLO's.
var (
	PrecisionEnum           = hlo.PrecisionEnum.Mirror("chlo")
	ComparisonDirectionEnum = withCode(0, hlo.ComparisonDirectionEnum.Mirror("chlo"))
	ComparisonTypeEnum      = withCode(1, hlo.ComparisonTypeEnum.Mirror("chlo"))
)

// RaggedDotDims is #chlo.ragged_dot<...>: dot dimensions, the ragged dimensions of the left side and the group
// dimensions of the right side.
type RaggedDotDims struct {
	hlo.DotDims
	LHSRagged []int64 `attr:"lhs_ragged_dimensions"`
	RHSGroup  []int64 `attr:"rhs_group_dimensions"`
}

// withCode sets the bytecode code of a new row (ChloBytecode.cpp).
func withCode(code int, e *ir.EnumDef) *ir.EnumDef {
	e.Binary = []ir.Binary{{Code: code}}
	return e
}

// RaggedDotAttr is the row of #chlo.ragged_dot<...>.
var RaggedDotAttr = ir.NewAttrDef[RaggedDotDims](ir.AttrDef{
	Dialect: "chlo", Name: "ragged_dot", Partial: true,
	Doc:     "The dimension numbers of ragged_dot.",
	Summary: "Attribute that models the dimension information for ragged dot.",
})

var (
	fp        = ods.AnyTensor(ods.FP)
	fpComplex = ods.AnyTensor(ods.FP, ods.Complex)
	pred      = ods.AnyTensor(ods.Pred)
	predOrInt = ods.AnyTensor(ods.Pred, ods.Int)
)

// unary returns the row of an element-wise operation on one operand.
func unary(name, doc string, in, out ir.Constraint) *ir.Def {
	d := &ir.Def{
		Name: "chlo." + name, Doc: doc,
		Operands: []ir.Arg{{Name: "operand", Type: in}},
		Results:  []ir.Arg{{Name: "result", Type: out}},
		Traits:   ir.Pure | ir.Elementwise | ir.SameShape,
		Format:   "$operand attr-dict `:` type($operand) `->` type($result)",
		Infer:    view.InferFirst, Verify: verifySame,
	}
	if in.Summary != out.Summary {
		d.Infer, d.Verify = inferPred, verifyShape
	}
	return d
}

// binary returns the row of an element-wise operation on two operands of the same type.
func binary(name, x, y, doc string) *ir.Def {
	return &ir.Def{
		Name: "chlo." + name, Doc: doc,
		Operands: []ir.Arg{{Name: x, Type: fp}, {Name: y, Type: fp}},
		Results:  []ir.Arg{{Name: "result", Type: fp}},
		Traits:   ir.Pure | ir.Elementwise | ir.SameShape,
		Format:   "$" + x + " `,` $" + y + " attr-dict `:` type($" + x + ") `,` type($" + y + ") `->` type(results)",
		Infer:    view.InferFirst, Verify: verifySame,
	}
}

// broadcast returns the row of an element-wise operation that broadcasts its operands to a common shape.
func broadcast(name, doc string, in, out ir.Constraint, elem elemRule) *ir.Def {
	return &ir.Def{
		Name: "chlo.broadcast_" + name, Doc: doc,
		Operands: []ir.Arg{{Name: "lhs", Type: in}, {Name: "rhs", Type: in}},
		Results:  []ir.Arg{{Name: "result", Type: out}},
		Attrs:    []ir.AttrSpec{{Name: "broadcast_dimensions", Type: ods.I64Array, Optional: true}},
		Traits:   ir.Pure,
		Format:   "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)",
		Infer:    inferBroadcast(elem), Verify: verifyBroadcast(elem),
	}
}

// arithmetic is broadcast for operations that accept any tensor.
func arithmetic(name, doc string) *ir.Def {
	return broadcast(name, doc, ods.AnyUnranked, ods.AnyUnranked, sameElem)
}

// bitwise is broadcast for operations on booleans and integers.
func bitwise(name, doc string) *ir.Def {
	return broadcast(name, doc, predOrInt, ods.AnyUnranked, sameElem)
}

// Element-wise operations.
var (
	Acos           = unary("acos", "Computes the arc cosine of each element.", fpComplex, fpComplex)
	Acosh          = unary("acosh", "Computes the inverse hyperbolic cosine of each element.", fpComplex, fpComplex)
	AsinAcosKernel = unary("_asin_acos_kernel", "Computes the part that asin and acos of complex elements share.", ods.AnyTensor(ods.Complex), ods.AnyTensor(ods.Complex))
	Asin           = unary("asin", "Computes the arc sine of each element.", fpComplex, fpComplex)
	Asinh          = unary("asinh", "Computes the inverse hyperbolic sine of each element.", fpComplex, fpComplex)
	Atan           = unary("atan", "Computes the arc tangent of each element.", fpComplex, fpComplex)
	Atanh          = unary("atanh", "Computes the inverse hyperbolic tangent of each element.", fpComplex, fpComplex)
	BesselI1e      = unary("bessel_i1e", "Computes the exponentially scaled modified Bessel function of order 1 of each element.", fpComplex, fpComplex)
	Conj           = unary("conj", "Computes the complex conjugate of each element.", fpComplex, fpComplex)
	Cosh           = unary("cosh", "Computes the hyperbolic cosine of each element.", fpComplex, fpComplex)
	Digamma        = unary("digamma", "Computes the logarithmic derivative of the gamma function of each element.", fp, fp)
	Erf            = unary("erf", "Computes the error function of each element.", fp, fp)
	ErfInv         = unary("erf_inv", "Computes the inverse of the error function of each element.", fp, fp)
	Erfc           = unary("erfc", "Computes one minus the error function of each element.", fp, fp)
	IsInf          = unary("is_inf", "Reports for each element whether it is infinite.", fp, pred)
	IsNegInf       = unary("is_neg_inf", "Reports for each element whether it is negative infinity.", fp, pred)
	IsPosInf       = unary("is_pos_inf", "Reports for each element whether it is positive infinity.", fp, pred)
	Lgamma         = unary("lgamma", "Computes the logarithm of the gamma function of each element.", fp, fp)
	Sinh           = unary("sinh", "Computes the hyperbolic sine of each element.", fpComplex, fpComplex)
	Square         = unary("square", "Squares each element.", fpComplex, fpComplex)
	Tan            = unary("tan", "Computes the tangent of each element.", fpComplex, fpComplex)

	NextAfter = binary("next_after", "x", "y", "Returns the next number after each element of x towards y.")
	Polygamma = binary("polygamma", "n", "x", "Computes the polygamma function of order n of each element of x.")
	Zeta      = binary("zeta", "x", "q", "Computes the Hurwitz zeta function of each pair of elements.")
	Mulhi     = &ir.Def{
		Name: "chlo.mulhi", Doc: "Computes the upper half of the product of each pair of integers.",
		Operands: []ir.Arg{{Name: "lhs", Type: ods.RankedInt}, {Name: "rhs", Type: ods.RankedInt}},
		Results:  []ir.Arg{{Name: "result", Type: ods.RankedInt}},
		Traits:   ir.Pure | ir.Elementwise | ir.SameShape | ir.Commutative,
		Format:   "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)",
		Infer:    view.InferFirst, Verify: verifySame,
	}
)

// Element-wise operations that broadcast.
var (
	BroadcastAdd                  = arithmetic("add", "Adds with broadcasting.")
	BroadcastAnd                  = bitwise("and", "Computes the logical or bitwise and with broadcasting.")
	BroadcastAtan2                = arithmetic("atan2", "Computes the angle of the point (rhs, lhs) with broadcasting.")
	BroadcastComplex              = broadcast("complex", "Joins real and imaginary parts with broadcasting.", fp, ods.AnyTensor(ods.Complex), complexElem)
	BroadcastDivide               = arithmetic("divide", "Divides with broadcasting.")
	BroadcastMaximum              = arithmetic("maximum", "Takes the greater element with broadcasting.")
	BroadcastMinimum              = arithmetic("minimum", "Takes the smaller element with broadcasting.")
	BroadcastMultiply             = arithmetic("multiply", "Multiplies with broadcasting.")
	BroadcastNextAfter            = arithmetic("next_after", "Returns the next number after lhs towards rhs with broadcasting.")
	BroadcastOr                   = bitwise("or", "Computes the logical or bitwise or with broadcasting.")
	BroadcastPolygamma            = arithmetic("polygamma", "Computes the polygamma function with broadcasting.")
	BroadcastPower                = arithmetic("power", "Raises lhs to the power of rhs with broadcasting.")
	BroadcastRemainder            = arithmetic("remainder", "Computes the remainder of a division with broadcasting.")
	BroadcastShiftLeft            = arithmetic("shift_left", "Shifts bits left with broadcasting.")
	BroadcastShiftRightArithmetic = arithmetic("shift_right_arithmetic", "Shifts bits right, filling with the sign, with broadcasting.")
	BroadcastShiftRightLogical    = arithmetic("shift_right_logical", "Shifts bits right, filling with zeros, with broadcasting.")
	BroadcastSubtract             = arithmetic("subtract", "Subtracts with broadcasting.")
	BroadcastXor                  = bitwise("xor", "Computes the logical or bitwise exclusive or with broadcasting.")
	BroadcastZeta                 = broadcast("zeta", "Computes the Hurwitz zeta function with broadcasting.", fp, fp, sameElem)
	BroadcastCompare              = compare()
	BroadcastSelect               = &ir.Def{
		Name: "chlo.broadcast_select", Doc: "Selects each element from on_true or on_false by pred, with broadcasting.",
		Operands: []ir.Arg{{Name: "pred", Type: ods.Tensor(ods.Pred)}, {Name: "on_true", Type: ods.AnyUnranked}, {Name: "on_false", Type: ods.AnyUnranked}},
		Results:  []ir.Arg{{Name: "result", Type: ods.AnyUnranked}},
		Traits:   ir.Pure,
		Format:   "$pred `,` $on_true `,` $on_false attr-dict `:` functional-type(operands, results)",
		Infer:    inferSelect, Verify: verifySelect,
	}
)

func compare() *ir.Def {
	d := broadcast("compare", "Compares with broadcasting.", ods.AnyUnranked, ods.AnyTensor(ods.Pred), predElem)
	d.Attrs = append(d.Attrs,
		ir.AttrSpec{Name: "comparison_direction", Type: ods.Enum(ComparisonDirectionEnum, "Which comparison operation to perform.")},
		ir.AttrSpec{Name: "compare_type", Type: ods.Enum(ComparisonTypeEnum, "Which comparison type to use."), Optional: true})
	return d
}

// Constants.
var (
	Constant = &ir.Def{
		Name: "chlo.constant", Doc: "Returns a constant tensor.",
		Results: []ir.Arg{{Name: "output", Type: ods.StaticTensor(ods.FP, ods.Pred, ods.Int, ods.Complex, ods.QTensor)}},
		Attrs:   []ir.AttrSpec{{Name: "value", Type: ods.ElemsAttr}},
		Traits:  ir.Pure | ir.ConstantLike,
		Syntax:  "attr-dict $value, which names the type of the result",
		Parse:   parseConstant, Print: printConstant,
		Infer: inferConstant, Verify: func(op *ir.Op, r *ir.Reporter) { agree(op, r, inferConstant) },
		Clauses: ir.Clauses("the result has the type of value"),
	}
	ConstantLike = &ir.Def{
		Name: "chlo.constant_like", Doc: "Returns a tensor of the operand's shape filled with one value.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.AnyUnranked}},
		Results:  []ir.Arg{{Name: "result", Type: ods.AnyUnranked}},
		Attrs:    []ir.AttrSpec{{Name: "value", Type: ir.AttrConstraint{Summary: "a number", Check: isNumber}}},
		Traits:   ir.Pure,
		Fold:     foldConstantLike,
		Verify:   verifyConstantLike,
	}
)

var precisionConfig = ods.Optional(hlo.PrecisionConfig.Name, ods.ArrayOf(ods.Enum(PrecisionEnum, ""), hlo.PrecisionConfig.Type.Summary))

// RaggedDot multiplies with group dimensions.
var RaggedDot = &ir.Def{
	Name: "chlo.ragged_dot", Doc: "Computes a dot product along a ragged dimension that group_sizes divides into groups.",
	Operands: []ir.Arg{{Name: "lhs", Type: ods.AnyUnranked}, {Name: "rhs", Type: ods.AnyUnranked}, {Name: "group_sizes", Type: ods.Tensor(ods.Int)}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyUnranked}},
	Attrs: []ir.AttrSpec{
		{Name: "ragged_dot_dimension_numbers", Type: RaggedDotAttr.Constraint()},
		precisionConfig,
	},
	Traits: ir.Pure | ir.ChosenTypes,
	Infer:  inferRaggedDot, Verify: verifyRaggedDot,
}

// Scan folds along a dimension and keeps the result of each step.
var Scan = &ir.Def{
	Name: "chlo.scan", Doc: "Applies a computation to the slices along a dimension one after the other, carrying values, and stacks its outputs.",
	Operands: []ir.Arg{{Name: "inputs", Type: ods.AnyRanked, Mult: ir.Variadic}, {Name: "inits", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "outputs", Type: ods.AnyRanked, Mult: ir.Variadic}, {Name: "carries", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		{Name: "dimension", Type: ods.I64NonNeg},
		{Name: "scan_dim_size", Type: ods.I64Attr, Optional: true},
		{Name: "is_reverse", Type: ods.BoolAttr, Optional: true, Default: ir.NewInteger(0, ir.Int(1))},
		{Name: "is_associative", Type: ods.BoolAttr, Optional: true},
		{Name: "operandSegmentSizes", Optional: true},
		{Name: "resultSegmentSizes", Optional: true},
	},
	Regions: []ir.RegionSpec{{Name: "body"}},
	Flow:    &ir.Flow{Runs: []ir.Runs{ir.RunsUnordered}},
	Traits:  ir.AttrSizedOperands | ir.AttrSizedResults | ir.SingleBlock | ir.NestedEffects,
	Syntax:  "`(` $inputs `)` `inits` `(` $inits `)` `dimension` `=` $dimension (`attributes` attr-dict)? $body `:` functional-type(operands, results)",
	Parse:   parseScan, Print: printScan,
	Verify: verifyScan, ArgNames: scanArgNames,
}

// TopK finds the greatest elements.
var TopK = &ir.Def{
	Name: "chlo.top_k", Doc: "Finds the k greatest elements along the last dimension and their indices.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyUnranked}},
	Results:  []ir.Arg{{Name: "values", Type: ods.AnyUnranked}, {Name: "indices", Type: ods.AnyUnranked}},
	Attrs: []ir.AttrSpec{
		{Name: "k", Type: ods.I64Attr},
		ods.LateDefaulted("is_stable", ods.BoolAttr, ir.NewInteger(1, ir.Int(1))),
	},
	Traits: ir.Pure,
	Format: "`(` $operand `,` `k` `=` $k (`,` `is_stable` `=` $is_stable^)? `)` attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`",
	Infer:  inferTopK, Verify: verifyTopK,
	ResultNames: func(op *ir.Op, set func(*ir.Value, string)) {
		set(op.Result(0), "values")
		set(op.Result(1), "indices")
	},
}

var ops = []*ir.Def{
	Acos, Acosh, AsinAcosKernel, Asin, Asinh, Atan, Atanh, BesselI1e,
	BroadcastAdd, BroadcastAnd, BroadcastAtan2, BroadcastCompare, BroadcastComplex, BroadcastDivide, BroadcastMaximum,
	BroadcastMinimum, BroadcastMultiply, BroadcastNextAfter, BroadcastOr, BroadcastPolygamma, BroadcastPower,
	BroadcastRemainder, BroadcastSelect, BroadcastShiftLeft, BroadcastShiftRightArithmetic, BroadcastShiftRightLogical,
	BroadcastSubtract, BroadcastXor, BroadcastZeta, Conj, Constant, ConstantLike, Cosh, Digamma, Erf, ErfInv, Erfc,
	IsInf, IsNegInf, IsPosInf, Lgamma, Mulhi, NextAfter, Polygamma, RaggedDot, Scan, Sinh, Square, Tan, TopK, Zeta,
}

// Ops returns the rows of all operations of the dialect. The caller must not change the list.
func Ops() []*ir.Def { return ops }

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name: "chlo", Ops: ops, Attrs: []*ir.AttrDef{RaggedDotAttr}, Directives: hlo.Directives,
		Enums: []*ir.EnumDef{ComparisonDirectionEnum, ComparisonTypeEnum, PrecisionEnum},
	}
}
