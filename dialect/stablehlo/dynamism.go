package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// Rows of the operations with computed shapes.

// DynamicBroadcastInDim broadcasts to a computed shape.
var DynamicBroadcastInDim = &ir.Def{
	Name: "stablehlo.dynamic_broadcast_in_dim", Doc: "Broadcasts to a computed shape. Spec: dynamic_broadcast_in_dim.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyQuantized}, {Name: "output_dimensions", Type: ods.ShapeTensor}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyQuantized}},
	Attrs: []ir.AttrSpec{
		ods.Required("broadcast_dimensions", ods.I64Array), ods.Optional("known_expanding_dimensions", ods.I64Array), ods.Optional("known_nonexpanding_dimensions", ods.I64Array),
	},
	Traits: ir.Pure,
	Format: "$operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)",
	Verify: verify(dynamicBroadcastInDimRule),
	Clauses: ir.Clauses(`
		C1 the result has the element type of the operand, except for the parameters of a quantization per axis
		C2 broadcast_dimensions names a dimension for each of the operand's
		C3 broadcast_dimensions are dimensions of the result
		C4 no dimension appears twice in broadcast_dimensions
		C5 a dimension of the operand has size 1, or the size of the result's dimension that it becomes
		C6 a dimension that is quantized per axis becomes the result's, and one of size 1 gives its parameters to all indices
		C7 output_dimensions has an element for each dimension of the result
		C8 no dimension appears twice in known_expanding_dimensions and known_nonexpanding_dimensions
		C9 known_expanding_dimensions are dimensions of the operand
		C10 known_nonexpanding_dimensions are dimensions of the operand
	`),
}

// DynamicIota counts along a dimension of a computed shape.
var DynamicIota = &ir.Def{
	Name: "stablehlo.dynamic_iota", Doc: "Fills a tensor of a computed shape with the index along one dimension. Spec: dynamic_iota.",
	Operands: []ir.Arg{{Name: "output_shape", Type: ods.ShapeTensor}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs:    []ir.AttrSpec{ods.Required("iota_dimension", ods.I64NonNeg)},
	Traits:   ir.Pure,
	Format:   "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)",
	Verify:   verify(dynamicIotaRule),
	Clauses: ir.Clauses(`
		C1 iota_dimension is a dimension of the result
		C2 output_shape has an element for each dimension of the result
	`),
}

// DynamicPad pads by computed amounts.
var DynamicPad = &ir.Def{
	Name: "stablehlo.dynamic_pad", Doc: "Pads by computed amounts. Spec: dynamic_pad.",
	Operands: []ir.Arg{
		{Name: "operand", Type: ods.AnyRanked}, {Name: "padding_value", Type: ods.Scalar(ods.FP, ods.Pred, ods.Int, ods.Complex, ods.QTensor)},
		{Name: "edge_padding_low", Type: ods.ShapeTensor}, {Name: "edge_padding_high", Type: ods.ShapeTensor}, {Name: "interior_padding", Type: ods.ShapeTensor},
	},
	Results: []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Traits:  ir.Pure,
	Format:  formatGeneral,
	Verify:  verify(sameElements(2, "operand, padding_value, result"), dynamicPadRule),
	Clauses: ir.Clauses(`
		C1 operand, padding_value and result have one element type
		C2 the three paddings have an element for each dimension of operand
		C3 interior_padding is not negative if it is constant
		C4 the result has the sizes of operand and its paddings if they are constant
	`),
}

// DynamicReshape reshapes to a computed shape.
var DynamicReshape = &ir.Def{
	Name: "stablehlo.dynamic_reshape", Doc: "Reshapes to a computed shape. Spec: dynamic_reshape.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyQuantized}, {Name: "output_shape", Type: ods.ShapeTensor}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyQuantized}},
	Traits:   ir.Pure,
	Format:   formatGeneral,
	Verify:   verify(dynamicReshapeRule),
	Clauses: ir.Clauses(`
		C1 the result has the element type of the operand, except for the axis of a quantization per axis
		C2 the result has as many elements as the operand
		C3 a dimension that is quantized per axis keeps its size, and the number of elements before it
		C4 output_shape has an element for each dimension of the result
	`),
}

// GetDimensionSize and SetDimensionSize read and change the size of a dimension.
var (
	GetDimensionSize = &ir.Def{
		Name: "stablehlo.get_dimension_size", Doc: "Returns the size of one dimension. Spec: get_dimension_size.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.AnyQuantized}},
		Results:  []ir.Arg{{Name: "result", Type: ods.Tensor(ods.I32)}},
		Attrs:    []ir.AttrSpec{ods.Required("dimension", ods.I64NonNeg)},
		Traits:   ir.Pure,
		Format:   "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)",
		Infer:    infer(inferGetDimensionSize), Verify: verify(agrees(inferGetDimensionSize)),
		Clauses: ir.Clauses(`
			C1 dimension is a dimension of operand
		`),
	}
	SetDimensionSize = &ir.Def{
		Name: "stablehlo.set_dimension_size", Doc: "Truncates one dimension to a computed size. Not in the specification.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}, {Name: "size", Type: ods.Tensor(ods.I32)}},
		Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
		Attrs:    []ir.AttrSpec{ods.Required("dimension", ods.I64NonNeg)},
		Traits:   ir.Pure,
		Format:   "$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)",
		Infer:    infer(inferSetDimensionSize), Verify: verify(agrees(inferSetDimensionSize)),
	}
)

// RealDynamicSlice slices with computed limits and strides.
var RealDynamicSlice = &ir.Def{
	Name: "stablehlo.real_dynamic_slice", Doc: "Returns a slice whose start, limit and strides are computed. Not in the specification.",
	Operands: []ir.Arg{
		{Name: "operand", Type: ods.AnyRanked}, {Name: "start_indices", Type: ods.Tensor1D(ods.Index, ods.Int)},
		{Name: "limit_indices", Type: ods.Tensor1D(ods.Index, ods.Int)}, {Name: "strides", Type: ods.Tensor1D(ods.Index, ods.Int)},
	},
	Results: []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Traits:  ir.Pure,
	Format:  formatGeneral,
	Verify:  verify(sameElements(1, "operand, result"), realDynamicSliceRule),
}
