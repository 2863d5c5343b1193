package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

const (
	formatUnary   = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))"
	formatBinary  = "$lhs `,` $rhs attr-dict `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))"
	formatGeneral = "operands attr-dict `:` functional-type(operands, results)"
)

var resultAccuracy = ods.Defaulted("result_accuracy", ResultAccuracyAttr.Constraint(), ResultAccuracyAttr.New(&ResultAccuracy{}))

// unary returns the row of an element-wise operation on one operand whose result has the operand's type.
func unary(name, doc string, t ir.Constraint) *ir.Def {
	return &ir.Def{
		Name: "stablehlo." + name, Doc: doc,
		Operands: []ir.Arg{{Name: "operand", Type: t}},
		Results:  []ir.Arg{{Name: "result", Type: t}},
		Traits:   ir.Pure | ir.Elementwise | ir.SameShape,
		Format:   formatUnary,
		Infer:    infer(inferSame),
		Verify:   verify(compatibleTypes),
		Clauses:  ir.Clauses("C1 the result has the type of operand, up to quantization"),
	}
}

// withAccuracy adds the attribute with which a program requests the accuracy of a transcendental function.
func withAccuracy(d *ir.Def) *ir.Def {
	d.Attrs = []ir.AttrSpec{resultAccuracy}
	d.Verify = verify(compatibleTypes, accuracyRule)
	return d
}

// binary returns the row of an element-wise operation on two operands of the same type.
func binary(name, doc string, t ir.Constraint, more ir.Traits) *ir.Def {
	return &ir.Def{
		Name: "stablehlo." + name, Doc: doc,
		Operands: []ir.Arg{{Name: "lhs", Type: t}, {Name: "rhs", Type: t}},
		Results:  []ir.Arg{{Name: "result", Type: t}},
		Traits:   ir.Pure | ir.Elementwise | ir.SameShape | more,
		Format:   formatBinary,
		Infer:    infer(inferSame),
		Verify:   verify(compatibleTypes),
		Clauses:  ir.Clauses("C1 lhs, rhs and the result have one type, up to quantization"),
	}
}

// bitwise returns the row of and, or, xor. Upstream constrains their result less than their operands.
func bitwise(name, doc string) *ir.Def {
	d := binary(name, doc, ods.PredOrInt, ir.Commutative)
	d.Results[0].Type = ods.AnyRanked
	return d
}

// Operations on one operand. Their constraint is C1: the result has the type of the operand.
var (
	Abs                 = withResult(unary("abs", "Computes the absolute value of each element; for complex elements, the modulus. Spec: abs.", ods.Signed), ods.Tensor(ods.SInt, ods.FP, ods.QTensor), inferAbs, partClauses)
	Cbrt                = withAccuracy(unary("cbrt", "Computes the cubic root of each element. Spec: cbrt.", ods.FPOrComplex))
	Ceil                = unary("ceil", "Rounds each element up to an integral value. Spec: ceil.", ods.Floats)
	Convert             = withResult(unary("convert", "Converts each element to another element type. Spec: convert.", ods.Tensor(ods.FP, ods.Pred, ods.Int, ods.Complex)), ods.Tensor(ods.FP, ods.Pred, ods.Int, ods.Complex), nil, "C1 the result has the shape of operand")
	Cosine              = withAccuracy(unary("cosine", "Computes the cosine of each element. Spec: cosine.", ods.FPOrComplex))
	CountLeadingZeros   = unary("count_leading_zeros", "Counts the zero bits above the highest set bit of each element. Spec: count_leading_zeros.", ods.RankedInt)
	Exponential         = withAccuracy(unary("exponential", "Computes e to the power of each element. Spec: exponential.", ods.FPOrComplex))
	ExponentialMinusOne = withAccuracy(unary("exponential_minus_one", "Computes e to the power of each element, minus one, exactly near zero. Spec: exponential_minus_one.", ods.FPOrComplex))
	Floor               = unary("floor", "Rounds each element down to an integral value. Spec: floor.", ods.Floats)
	Imag                = withResult(unary("imag", "Takes the imaginary part of each element; for real elements, zero. Spec: imag.", ods.Tensor(ods.FP, ods.Complex)), ods.Tensor(ods.FP), inferAbs, partClauses)
	IsFinite            = isFinite()
	Log                 = withAccuracy(unary("log", "Computes the natural logarithm of each element. Spec: log.", ods.FPOrComplex))
	LogPlusOne          = withAccuracy(unary("log_plus_one", "Computes the natural logarithm of one plus each element, exactly near zero. Spec: log_plus_one.", ods.FPOrComplex))
	Logistic            = withAccuracy(unary("logistic", "Computes 1 / (1 + e^-x) of each element. Spec: logistic.", ods.FPOrComplex))
	Negate              = unary("negate", "Negates each element. Spec: negate.", ods.Numeric)
	Not                 = unary("not", "Computes the logical or bitwise complement of each element. Spec: not.", ods.PredOrInt)
	Popcnt              = unary("popcnt", "Counts the set bits of each element. Spec: popcnt.", ods.RankedInt)
	Real                = withResult(unary("real", "Takes the real part of each element. Spec: real.", ods.Tensor(ods.FP, ods.Complex)), ods.Tensor(ods.FP), inferAbs, partClauses)
	RoundNearestAFZ     = unary("round_nearest_afz", "Rounds each element to the nearest integral value, ties away from zero. Spec: round_nearest_afz.", ods.Floats)
	RoundNearestEven    = unary("round_nearest_even", "Rounds each element to the nearest integral value, ties to even. Spec: round_nearest_even.", ods.Floats)
	Rsqrt               = withAccuracy(unary("rsqrt", "Computes the reciprocal of the square root of each element. Spec: rsqrt.", ods.FPOrComplex))
	Sign                = unary("sign", "Computes the sign of each element: -1, 0, 1, or the unit complex number. Spec: sign.", ods.Signed)
	Sine                = withAccuracy(unary("sine", "Computes the sine of each element. Spec: sine.", ods.FPOrComplex))
	Sqrt                = withAccuracy(unary("sqrt", "Computes the square root of each element. Spec: sqrt.", ods.FPOrComplex))
	Tan                 = withAccuracy(unary("tan", "Computes the tangent of each element. Spec: tan.", ods.FPOrComplex))
	Tanh                = withAccuracy(unary("tanh", "Computes the hyperbolic tangent of each element. Spec: tanh.", ods.FPOrComplex))
)

// partClauses apply to abs, real and imag.
const partClauses = `
	C1 the result has the shape of operand
	C2 the result has the element type of operand; of complex elements the type of their parts
`

// withResult replaces the result's parts of a row: its constraint, its inference (nil for none) and the clauses.
func withResult(d *ir.Def, t ir.Constraint, f inference, clauses string) *ir.Def {
	d.Results[0].Type, d.Clauses = t, ir.Clauses(clauses)
	d.Infer, d.Verify = nil, verify(sameShape)
	if f != nil {
		d.Infer, d.Verify = infer(f), verify(elementwiseShape, agrees(f))
	}
	return d
}

func isFinite() *ir.Def {
	return &ir.Def{
		Name: "stablehlo.is_finite", Doc: "Reports for each element whether it is finite, neither infinite nor NaN. Spec: is_finite.",
		Operands: []ir.Arg{{Name: "x", Type: ods.Floats}},
		Results:  []ir.Arg{{Name: "y", Type: ods.PredTensor}},
		Traits:   ir.Pure | ir.Elementwise | ir.SameShape,
		Format:   "$x attr-dict `:` functional-type(operands, results)",
		Infer:    infer(inferPred), Verify: verify(elementwiseShape, agrees(inferPred)),
		Clauses: ir.Clauses(`
			C1 the result has the shape of x
		`),
	}
}

// Operations on two operands of one type, which is also the type of the result (C1).
var (
	Add                  = withAddRules(binary("add", "Adds two tensors element by element; for booleans, computes the logical or. Spec: add.", ods.AnyQuantized, ir.Commutative))
	And                  = bitwise("and", "Computes the logical or bitwise and of two tensors. Spec: and.")
	Atan2                = binary("atan2", "Computes the angle of the point (rhs, lhs). Spec: atan2.", ods.FPOrComplex, 0)
	Divide               = binary("divide", "Divides two tensors; integers round towards zero. Spec: divide.", ods.Numeric, 0)
	Maximum              = binary("maximum", "Takes the greater of two elements; for booleans, computes the logical or. Spec: maximum.", ods.AnyRanked, ir.Commutative)
	Minimum              = binary("minimum", "Takes the smaller of two elements; for booleans, computes the logical and. Spec: minimum.", ods.AnyRanked, ir.Commutative)
	Multiply             = binary("multiply", "Multiplies two tensors element by element; for booleans, computes the logical and. Spec: multiply.", ods.AnyRanked, ir.Commutative)
	Or                   = bitwise("or", "Computes the logical or bitwise or of two tensors. Spec: or.")
	Power                = binary("power", "Raises lhs to the power of rhs. Spec: power.", ods.Numeric, 0)
	Remainder            = binary("remainder", "Computes the remainder of a division that rounds towards zero. Spec: remainder.", ods.Numeric, 0)
	ShiftLeft            = binary("shift_left", "Shifts the bits of lhs left by rhs. Spec: shift_left.", ods.RankedInt, 0)
	ShiftRightArithmetic = binary("shift_right_arithmetic", "Shifts the bits of lhs right by rhs, filling with the sign. Spec: shift_right_arithmetic.", ods.RankedInt, 0)
	ShiftRightLogical    = binary("shift_right_logical", "Shifts the bits of lhs right by rhs, filling with zeros. Spec: shift_right_logical.", ods.RankedInt, 0)
	Subtract             = binary("subtract", "Subtracts rhs from lhs. Spec: subtract.", ods.Numeric, 0)
	Xor                  = bitwise("xor", "Computes the logical or bitwise exclusive or of two tensors. Spec: xor.")
)

// BitcastConvert reinterprets bits as another element type.
var BitcastConvert = &ir.Def{
	Name: "stablehlo.bitcast_convert", Doc: "Reads the bits of the operand as another element type; if the widths differ, the last dimension is added or removed. Spec: bitcast_convert.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyQuantized}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyQuantized}},
	Traits:   ir.Pure,
	Format:   formatGeneral,
	Verify:   verify(bitcastRule),
	Clauses: ir.Clauses(`
		C1 equal shapes if the elements are equally wide; otherwise the narrower side has one more dimension at the end, whose elements together are as wide as one element of the other side
		C2 complex elements stay complex, and real ones real
	`),
}

// Clamp limits elements.
var Clamp = &ir.Def{
	Name: "stablehlo.clamp", Doc: "Limits each element to the range from min to max, which are scalars or as large as the operand. Spec: clamp.",
	Operands: []ir.Arg{{Name: "min", Type: ods.AnyRanked}, {Name: "operand", Type: ods.AnyRanked}, {Name: "max", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Traits:   ir.Pure,
	Format:   "$min `,` $operand `,` $max attr-dict `:` custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result))",
	Infer:    infer(inferClamp), Verify: verify(compatibleElemTypes, agrees(inferClamp)),
	Clauses: ir.Clauses(`
		C1 min is a scalar or has the shape of operand
		C2 max is a scalar or has the shape of operand
		C3 min, operand and max have one element type, up to quantization
		C4 the result has the type of operand, up to quantization
	`),
}

// Compare compares elements.
var Compare = &ir.Def{
	Name: "stablehlo.compare", Doc: "Compares two tensors element by element. Spec: compare.",
	Operands: []ir.Arg{{Name: "lhs", Type: ods.AnyRanked}, {Name: "rhs", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.PredTensor}},
	Attrs: []ir.AttrSpec{
		ods.Required("comparison_direction", ods.Enum(ComparisonDirectionEnum, "Which comparison operation to perform.")),
		ods.Optional("compare_type", ods.Enum(ComparisonTypeEnum, "Which comparison type to use.")),
	},
	Traits: ir.Pure | ir.Elementwise | ir.SameShape,
	Format: "$comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict `:` functional-type(operands, results)",
	Infer:  infer(inferCompare), Verify: verify(compatibleOperandElems, elementwiseShape, agrees(inferCompare)),
	Clauses: ir.Clauses(`
		C1 lhs and rhs have one element type, up to quantization
		C2 lhs, rhs and the result have one shape
		C3 compare_type is one that the element type has: SIGNED or UNSIGNED of integers, FLOAT or TOTALORDER of floats, FLOAT of complex numbers -- MLIR takes any, and programs have been written that say too little
	`),
}

// Complex joins real and imaginary parts.
var Complex = &ir.Def{
	Name: "stablehlo.complex", Doc: "Makes complex elements from their real and imaginary parts. Spec: complex.",
	Operands: []ir.Arg{{Name: "lhs", Type: ods.Tensor(ods.FP32)}, {Name: "rhs", Type: ods.Tensor(ods.FP32)}},
	Results:  []ir.Arg{{Name: "result", Type: ods.Tensor(ods.Complex)}},
	Traits:   ir.Pure | ir.Elementwise | ir.SameShape,
	Format:   "operands attr-dict `:` custom<ComplexOpType>(type($lhs), type($rhs), type($result))",
	Infer:    infer(inferComplex), Verify: verify(sameOperandElems, sameShape, agrees(inferComplex)),
	Clauses: ir.Clauses(`
		C1 lhs and rhs have one type
		C2 the result has the shape of lhs
		C3 the result has complex elements whose parts have the element type of lhs
	`),
}

// Map applies a function to the elements of tensors with the same shape.
var Map = &ir.Def{
	Name: "stablehlo.map", Doc: "Applies a computation on scalars to the elements of one or more tensors of one shape. Spec: map.",
	Operands: []ir.Arg{{Name: "inputs", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs:    []ir.AttrSpec{ods.Required("dimensions", ods.I64Array)},
	Regions:  []ir.RegionSpec{{Name: "computation"}},
	Flow:     elementFlow,
	Traits:   ir.Pure | ir.SameShape | ir.SingleBlock,
	Infer:    infer(inferMap), Verify: verify(sameShape, agrees(inferMap)),
	Clauses: ir.Clauses(`
		C1 the inputs and the result have one shape
		C2 there is at least one input
		C3 dimensions are all dimensions of the inputs, in order
		C4 the computation takes a scalar of each input's element type and gives one of the result's
	`),
}

// ReducePrecision rounds to a narrower format.
var ReducePrecision = &ir.Def{
	Name: "stablehlo.reduce_precision", Doc: "Rounds each element to a format with the given widths of exponent and mantissa. Spec: reduce_precision.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.Floats}},
	Results:  []ir.Arg{{Name: "output", Type: ods.Floats}},
	Attrs: []ir.AttrSpec{
		ods.Required("exponent_bits", ods.I32Pos),    // (C2)
		ods.Required("mantissa_bits", ods.I32NonNeg), // (C3)
	},
	Traits: ir.Pure | ir.Elementwise | ir.SameShape,
	Format: "$operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($output))",
	Infer:  infer(inferSame), Verify: verify(compatibleTypes), // (C1)
	Clauses: ir.Clauses(`
		C1 output has the type of operand, up to quantization
		C2 exponent_bits is positive
		C3 mantissa_bits is not negative
	`),
}

// Select chooses between two tensors.
var Select = &ir.Def{
	Name: "stablehlo.select", Doc: "Selects each element from on_true or on_false by pred, a scalar or a tensor of their shape. Spec: select.",
	Operands: []ir.Arg{{Name: "pred", Type: ods.PredTensor}, {Name: "on_true", Type: ods.AnyRanked}, {Name: "on_false", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Traits:   ir.Pure,
	Format:   "operands attr-dict `:` custom<SelectOpType>(type($pred), type($on_true), type($on_false), type($result))",
	Infer:    infer(inferSelect), Verify: verify(agrees(inferSelect)),
	Clauses: ir.Clauses(`
		C1 pred is a scalar or has the shape of on_true
		C2 on_true, on_false and the result have one type, up to quantization
	`),
}

// UniformQuantize and UniformDequantize convert between real and quantized elements.
var (
	UniformQuantize = &ir.Def{
		Name: "stablehlo.uniform_quantize", Doc: "Quantizes or requantizes each element. Spec: uniform_quantize.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.Tensor(ods.FP, ods.QTensor, ods.QAxis)}},
		Results:  []ir.Arg{{Name: "result", Type: ods.Tensor(ods.QTensor, ods.QAxis)}},
		Traits:   ir.Pure | ir.Elementwise | ir.SameShape,
		Format:   formatUnary,
		Verify:   verify(sameShape, uniformQuantizeRule),
		Clauses: ir.Clauses(`
			C1 the result has the shape of operand
			C2 the expressed type of the result is that of operand, or its element type
		`),
	}
	UniformDequantize = &ir.Def{
		Name: "stablehlo.uniform_dequantize", Doc: "Computes the real value of each quantized element. Spec: uniform_dequantize.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.Tensor(ods.QTensor, ods.QAxis)}},
		Results:  []ir.Arg{{Name: "result", Type: ods.Tensor(ods.FP)}},
		Traits:   ir.Pure | ir.Elementwise | ir.SameShape,
		Format:   formatUnary,
		Infer:    infer(inferDequantize), Verify: verify(sameShape, agrees(inferDequantize)),
		Clauses: ir.Clauses(`
			C1 the result has the shape of operand
			C2 the result has the expressed type of operand
		`),
	}
)

// withAddRules adds the quantization rules of stablehlo.add to its row.
func withAddRules(d *ir.Def) *ir.Def {
	d.Clauses = ir.Clauses(`
		C1 without quantization, lhs, rhs and the result have one type
		C2 with quantization lhs, rhs and the result are all quantized
		C3 quantized lhs, rhs and result have one storage type
		C4 quantized lhs, rhs and result have one expressed type
		C5 the result is quantized per axis if and only if lhs or rhs is
		C6 lhs quantized per axis has the axis of the result
		C7 rhs quantized per axis has the axis of the result
	`)
	d.Verify = verify(sameShape, addRule, agrees(inferSame))
	return d
}
