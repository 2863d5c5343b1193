package stablehlo

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

var (
	// PrecisionConfig is the precision of each operand of a product.
	PrecisionConfig = ods.Optional("precision_config", ods.ArrayOf(ods.Enum(PrecisionEnum, "XLA precision for an operand."), "Precision Config attribute"))
	dotDims         = DotAttr.Constraint()
	convDims        = ConvAttr.Constraint()
)

// convolutionClauses apply to convolution and dynamic_conv.
const convolutionClauses = `
	C1 lhs and rhs have one rank, N
	C2 window_strides has N-2 elements
	C3 the strides are positive
	C4 padding is a matrix of N-2 by 2
	C5 lhs_dilation has N-2 elements
	C6 the factors of lhs_dilation are positive
	C7 rhs_dilation has N-2 elements
	C8 the factors of rhs_dilation are positive
	C9 window_reversal has N-2 elements
	C10 the size of lhs along input_batch_dimension is a multiple of batch_group_count
	C11 the size of lhs along input_feature_dimension is a multiple of feature_group_count
	C12 there are N-2 input_spatial_dimensions
	C13 the dimensions of the input are different ones of lhs
	C14 the size of rhs along kernel_input_feature_dimension is that of lhs along input_feature_dimension, divided by feature_group_count
	C15 the size of rhs along kernel_output_feature_dimension is a multiple of batch_group_count
	C16 the size of rhs along kernel_output_feature_dimension is a multiple of feature_group_count
	C17 there are N-2 kernel_spatial_dimensions
	C18 the dimensions of the kernel are different ones of rhs
	C19 there are N-2 output_spatial_dimensions
	C20 the dimensions of the output are different ones of the result
	C21 feature_group_count is positive
	C22 batch_group_count is positive
	C23 feature_group_count or batch_group_count is 1
	C24 precision_config has at most two elements
	C25 the result has the batch of lhs divided by batch_group_count, the output features of rhs, and along each spatial dimension as many indices as windows fit
	C26 the result has rank N
	C27 without quantization, lhs, rhs and the result have one element type -- of the result MLIR checks none: integers may be summed in a wider type
	C28 with quantization rhs is quantized, and lhs if and only if the result is
	C29 rhs is quantized per axis along kernel_output_feature_dimension, if per axis
	C30 the result is quantized per axis along output_feature_dimension, if per axis
	C31 quantized lhs and rhs have one storage type
	C32 quantized lhs, rhs and result have one expressed type
	C33 the result is quantized per tensor where lhs is quantized and rhs is per tensor
	C34 where lhs is not quantized, it and the result have the expressed type of rhs
`

// Convolution convolves.
var Convolution = &ir.Def{
	Name: "stablehlo.convolution", Doc: "Computes dot products of windows of lhs with slices of rhs. Spec: convolution.",
	Operands: []ir.Arg{{Name: "lhs", Type: ods.AnyRanked}, {Name: "rhs", Type: ods.AnyQuantized}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyQuantized}},
	Attrs: []ir.AttrSpec{
		ods.Optional("window_strides", ods.I64Array), ods.Optional("padding", ods.I64Elems), ods.Optional("lhs_dilation", ods.I64Array),
		ods.Optional("rhs_dilation", ods.I64Array), ods.Optional("window_reversal", ods.BoolArray), ods.Required("dimension_numbers", convDims),
		ods.Required("feature_group_count", ods.I64Pos), ods.Required("batch_group_count", ods.I64Pos), PrecisionConfig,
	},
	Traits: ir.Pure | ir.ChosenTypes,
	Format: "`(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,` `window` `=` `{` custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal) `}` attr-dict `:` functional-type(operands, results)",
	Infer:  infer(inferConvolution), Verify: verify(convolutionRule),
	Clauses: ir.Clauses(convolutionClauses),
}

// DynamicConv convolves with a computed padding.
var DynamicConv = &ir.Def{
	Name: "stablehlo.dynamic_conv", Doc: "Computes a convolution whose padding is computed. Spec: dynamic_conv.",
	Operands: []ir.Arg{{Name: "lhs", Type: ods.AnyRanked}, {Name: "rhs", Type: ods.AnyRanked}, {Name: "padding", Type: ods.StaticInts(2)}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs: []ir.AttrSpec{
		ods.Optional("window_strides", ods.I64Array), ods.Optional("lhs_dilation", ods.I64Array), ods.Optional("rhs_dilation", ods.I64Array),
		ods.Optional("window_reversal", ods.BoolArray), ods.Required("dimension_numbers", convDims),
		ods.Required("feature_group_count", ods.I64Pos), ods.Required("batch_group_count", ods.I64Pos), PrecisionConfig,
	},
	Traits: ir.Pure,
	Verify: verify(dynamicConvRule),
	Clauses: ir.Clauses(strings.NewReplacer(
		"C2 window_strides has N-2 elements", "C2 window_strides has N-2 elements, if padding is a constant",
		"fit\n", "fit -- MLIR does not check sizes that depend on padding\n",
		"C26 the result has rank N", "C26 the result has rank N -- as C25",
	).Replace(convolutionClauses)),
}

// Dot multiplies matrices and vectors.
var Dot = &ir.Def{
	Name: "stablehlo.dot", Doc: "Multiplies matrices or vectors. Not in the specification; use dot_general.",
	Operands: []ir.Arg{{Name: "lhs", Type: ods.AnyRanked}, {Name: "rhs", Type: ods.AnyQuantized}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyQuantized}},
	Attrs:    []ir.AttrSpec{PrecisionConfig},
	Traits:   ir.Pure | ir.ChosenTypes,
	Format:   "$lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferDot), Verify: verify(precisionRule, dotRule),
}

// DotGeneral multiplies along chosen dimensions.
var DotGeneral = &ir.Def{
	Name: "stablehlo.dot_general", Doc: "Computes dot products along contracting dimensions, for each index of batching dimensions. Spec: dot_general.",
	Operands: []ir.Arg{{Name: "lhs", Type: ods.AnyRanked}, {Name: "rhs", Type: ods.AnyQuantized}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyQuantized}},
	Attrs: []ir.AttrSpec{
		ods.Required("dot_dimension_numbers", dotDims), PrecisionConfig,
		ods.Optional("algorithm", DotAlgorithmAttr.Constraint()),
	},
	Traits: ir.Pure | ir.ChosenTypes,
	Format: "$lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers) `` custom<PrecisionConfig>($precision_config, $algorithm) attr-dict `:` functional-type(operands, results)",
	Infer:  infer(inferDotGeneral), Verify: verify(precisionRule, dotGeneralRule),
	Clauses: ir.Clauses(`
		C1 there are as many lhs_batching_dimensions as rhs_batching_dimensions
		C2 there are as many lhs_contracting_dimensions as rhs_contracting_dimensions
		C3 no dimension of lhs appears twice in lhs_batching_dimensions and lhs_contracting_dimensions
		C4 no dimension of rhs appears twice in rhs_batching_dimensions and rhs_contracting_dimensions
		C5 lhs_batching_dimensions are dimensions of lhs
		C6 lhs_contracting_dimensions are dimensions of lhs
		C7 rhs_batching_dimensions are dimensions of rhs
		C8 rhs_contracting_dimensions are dimensions of rhs
		C9 batching dimensions have one size on both sides
		C10 contracting dimensions have one size on both sides
		C11 precision_config has at most two elements
		C12 the result has the batching dimensions, then the others of lhs, then the others of rhs
		C13 without quantization, lhs and rhs have one element type -- MLIR takes two types, and algorithms mix them
		C14 with quantization rhs is quantized, and lhs if and only if the result is
		C15 the zero points of rhs are 0
		C16 rhs is not quantized per axis along a contracting dimension
		C17 quantized lhs and rhs have one storage type
		C18 quantized lhs, rhs and result have one expressed type
		C19 the result is quantized per tensor where lhs is quantized and rhs is per tensor
		C20 where lhs is not quantized, it and the result have the expressed type of rhs
		C21 with an algorithm the precisions are DEFAULT
		C22 the algorithm's lhs_component_count is positive
		C23 the algorithm's rhs_component_count is positive
		C24 the algorithm's num_primitive_operations is positive
	`),
}

// Einsum and UnaryEinsum compute an equation.
var (
	Einsum = &ir.Def{
		Name: "stablehlo.einsum", Doc: "Computes an Einstein summation. Not in the specification; use dot_general.",
		Operands: []ir.Arg{{Name: "lhs", Type: ods.AnyRanked}, {Name: "rhs", Type: ods.AnyRanked}},
		Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
		Attrs:    []ir.AttrSpec{ods.Required("einsum_config", ods.StrAttr)},
		Traits:   ir.Pure,
		Format:   "$lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)",
	}
	UnaryEinsum = &ir.Def{
		Name: "stablehlo.unary_einsum", Doc: "Computes an Einstein summation over one operand. Not in the specification.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}},
		Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
		Attrs:    []ir.AttrSpec{ods.Required("einsum_config", ods.StrAttr)},
		Traits:   ir.Pure,
		Format:   "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)",
	}
)
