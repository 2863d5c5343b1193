package stablehlo

import "github.com/hlocb/hlocb/ir"

var (
	precisionConfig = optional("precision_config", arrayOf(func(a ir.Attr) bool {
		e, ok := a.(*ir.EnumAttr)
		return ok && e.Def().Name == "precision"
	}, "Precision Config attribute"))
	dotDims  = parsed[DotDims]("dot", "Attribute that models the dimension information for dot.")
	convDims = parsed[ConvDims]("conv", "Structure of dimension information for conv op")
)

// Convolution convolves.
var Convolution = &ir.Def{
	Name: "stablehlo.convolution", Doc: "Computes dot products of windows of lhs with slices of rhs. Spec: convolution.",
	Operands: []ir.Arg{{Name: "lhs", Type: anyTensor}, {Name: "rhs", Type: anyTensorQ}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensorQ}},
	Attrs: []ir.AttrSpec{
		optional("window_strides", I64Array), optional("padding", I64Elems), optional("lhs_dilation", I64Array),
		optional("rhs_dilation", I64Array), optional("window_reversal", BoolArray), required("dimension_numbers", convDims),
		required("feature_group_count", I64Pos), required("batch_group_count", I64Pos), precisionConfig,
	},
	Traits: ir.Pure,
	Format: "`(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,` `window` `=` `{` custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal) `}` attr-dict `:` functional-type(operands, results)",
	Infer:  infer(inferConvolution), Verify: verify(convolutionRule),
}

// DynamicConv convolves with a computed padding.
var DynamicConv = &ir.Def{
	Name: "stablehlo.dynamic_conv", Doc: "Computes a convolution whose padding is computed. Spec: dynamic_conv.",
	Operands: []ir.Arg{{Name: "lhs", Type: anyTensor}, {Name: "rhs", Type: anyTensor}, {Name: "padding", Type: staticInts2D()}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs: []ir.AttrSpec{
		optional("window_strides", I64Array), optional("lhs_dilation", I64Array), optional("rhs_dilation", I64Array),
		optional("window_reversal", BoolArray), required("dimension_numbers", convDims),
		required("feature_group_count", I64Pos), required("batch_group_count", I64Pos), precisionConfig,
	},
	Traits: ir.Pure,
	Verify: verify(dynamicConvRule),
}

// Dot multiplies matrices and vectors.
var Dot = &ir.Def{
	Name: "stablehlo.dot", Doc: "Multiplies matrices or vectors. Not in the specification; use dot_general.",
	Operands: []ir.Arg{{Name: "lhs", Type: anyTensor}, {Name: "rhs", Type: anyTensorQ}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensorQ}},
	Attrs:    []ir.AttrSpec{precisionConfig},
	Traits:   ir.Pure,
	Format:   "$lhs `,` $rhs `` custom<PrecisionConfig>($precision_config) attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferDot), Verify: verify(dotRule),
}

// DotGeneral multiplies along chosen dimensions.
var DotGeneral = &ir.Def{
	Name: "stablehlo.dot_general", Doc: "Computes dot products along contracting dimensions, for each index of batching dimensions. Spec: dot_general.",
	Operands: []ir.Arg{{Name: "lhs", Type: anyTensor}, {Name: "rhs", Type: anyTensorQ}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensorQ}},
	Attrs: []ir.AttrSpec{
		required("dot_dimension_numbers", dotDims), precisionConfig,
		optional("algorithm", parsed[DotAlgorithm]("dot_algorithm", "Attribute that models the algorithm constraints to use for computing dot.")),
	},
	Traits: ir.Pure,
	Format: "$lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers) `` custom<PrecisionConfig>($precision_config, $algorithm) attr-dict `:` functional-type(operands, results)",
	Infer:  infer(inferDotGeneral), Verify: verify(dotGeneralRule),
}

// Einsum and UnaryEinsum compute what an equation says.
var (
	Einsum = &ir.Def{
		Name: "stablehlo.einsum", Doc: "Computes what an Einstein summation says. Not in the specification; use dot_general.",
		Operands: []ir.Arg{{Name: "lhs", Type: anyTensor}, {Name: "rhs", Type: anyTensor}},
		Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
		Attrs:    []ir.AttrSpec{required("einsum_config", StrAttr)},
		Traits:   ir.Pure,
		Format:   "$lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)",
	}
	UnaryEinsum = &ir.Def{
		Name: "stablehlo.unary_einsum", Doc: "Computes an Einstein summation over one operand. Not in the specification.",
		Operands: []ir.Arg{{Name: "operand", Type: anyTensor}},
		Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
		Attrs:    []ir.AttrSpec{required("einsum_config", StrAttr)},
		Traits:   ir.Pure,
		Format:   "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)",
	}
)
