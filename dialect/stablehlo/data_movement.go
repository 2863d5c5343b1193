package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// Rows of the operations that move elements without computing, and of the operations that create tensors.

// Constant holds a tensor.
var Constant = &ir.Def{
	Name: "stablehlo.constant", Doc: "Returns a constant tensor. Spec: constant.",
	Results: []ir.Arg{{Name: "output", Type: ods.StaticTensor(ods.FP, ods.Pred, ods.Int, ods.Complex, ods.QTensor, ods.QAxis)}},
	Attrs:   []ir.AttrSpec{ods.Required("value", ods.ElemsAttr)},
	Traits:  ir.Pure | ir.ConstantLike,
	Syntax:  "attr-dict $value, which names the type of the result",
	Parse:   parseConstant, Print: printConstant,
	Infer:       infer(inferConstant),
	Verify:      verify(constantRule), // (C1)
	ResultNames: constantNames,
	Clauses: ir.Clauses(`
		C1 value has the type of the output; of a quantized output it holds the storage
	`),
}

// Iota counts along a dimension.
var Iota = &ir.Def{
	Name: "stablehlo.iota", Doc: "Fills a tensor with the index along one dimension. Spec: iota.",
	Results: []ir.Arg{{Name: "output", Type: ods.StaticTensor(ods.Int, ods.FP, ods.Complex, ods.QTensor)}},
	Attrs:   []ir.AttrSpec{ods.Required("iota_dimension", ods.I64NonNeg)},
	Traits:  ir.Pure,
	Format:  "`dim` `=` $iota_dimension attr-dict `:` type($output)",
	Verify:  verify(iotaRule),
	Clauses: ir.Clauses(`
		C1 iota_dimension is a dimension of the output
	`),
}

// Broadcast adds leading dimensions.
var Broadcast = &ir.Def{
	Name: "stablehlo.broadcast", Doc: "Repeats the operand along new leading dimensions. Not in the specification; use broadcast_in_dim.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyQuantized}},
	Attrs:    []ir.AttrSpec{ods.Required("broadcast_sizes", ods.I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferBroadcast), Verify: verify(oneElem, agrees(inferBroadcast)),
}

// BroadcastInDim repeats elements along dimensions.
var BroadcastInDim = &ir.Def{
	Name: "stablehlo.broadcast_in_dim", Doc: "Repeats the operand's elements along the dimensions of the result that broadcast_dimensions does not name, and along its dimensions of size 1. Spec: broadcast_in_dim.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyQuantized}},
	Results:  []ir.Arg{{Name: "result", Type: bounded}},
	Attrs:    []ir.AttrSpec{ods.Required("broadcast_dimensions", ods.I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)",
	Verify:   verify(compatibleElemTypes, broadcastInDimRule),
	Clauses: ir.Clauses(`
		C1 the result has the element type of the operand, except for the parameters of a quantization per axis
		C2 broadcast_dimensions names a dimension for each of the operand's
		C3 broadcast_dimensions are dimensions of the result
		C4 no dimension appears twice in broadcast_dimensions
		C5 a dimension of the operand has size 1, or the size of the result's dimension that it becomes
		C6 a dimension that is quantized per axis becomes the result's, and one of size 1 gives its parameters to all indices
	`),
}

// Concatenate joins tensors along a dimension.
var Concatenate = &ir.Def{
	Name: "stablehlo.concatenate", Doc: "Joins tensors along one dimension. Spec: concatenate.",
	Operands: []ir.Arg{{Name: "inputs", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs:    []ir.AttrSpec{ods.Required("dimension", ods.I64NonNeg)},
	Traits:   ir.Pure,
	Format:   "custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferConcatenate), Verify: verify(oneElem, agrees(inferConcatenate)),
	Clauses: ir.Clauses(`
		C1 all inputs have one element type
		C2 all inputs have one shape, except for the size along dimension
		C3 there is at least one input
		C4 dimension is a dimension of the inputs
		C5 the result has the element type of the inputs
		C6 the result has the shape of the inputs, and along dimension the sum of their sizes
	`),
}

// DynamicSlice extracts a part at a computed position.
var DynamicSlice = &ir.Def{
	Name: "stablehlo.dynamic_slice", Doc: "Returns a slice of fixed size that starts at computed indices, clamped to the operand's shape. Spec: dynamic_slice.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}, {Name: "start_indices", Type: ods.Scalar(ods.Int), Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs:    []ir.AttrSpec{ods.Required("slice_sizes", ods.I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` custom<VariadicOperandWithAttribute>($start_indices) `sizes` `=` $slice_sizes attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferDynamicSlice), Verify: verify(sameElements(1, "operand, result"), agrees(inferDynamicSlice)),
	Clauses: ir.Clauses(`
		C1 the result has the element type of operand
		C2 start_indices and slice_sizes are as many as operand has dimensions
		C3 all start_indices have one type
		C4 slice_sizes are within the shape of operand
		C5 the result has the sizes of slice_sizes
	`),
}

// DynamicUpdateSlice replaces a part at a computed position.
var DynamicUpdateSlice = &ir.Def{
	Name: "stablehlo.dynamic_update_slice", Doc: "Replaces the slice that starts at computed indices, clamped to the operand's shape. Spec: dynamic_update_slice.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}, {Name: "update", Type: ods.AnyRanked}, {Name: "start_indices", Type: ods.Scalar(ods.Int), Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Traits:   ir.Pure,
	Format:   formatGeneral,
	Infer:    infer(inferDynamicUpdateSlice), Verify: verify(sameElements(2, "operand, update, result"), agrees(inferDynamicUpdateSlice)),
	Clauses: ir.Clauses(`
		C1 the result has the type of operand
		C2 update has the element type of operand
		C3 update has the rank of operand
		C4 start_indices are as many as operand has dimensions
		C5 all start_indices have one type
		C6 the shape of update is within that of operand
	`),
}

// Pad adds a value around and between elements.
var Pad = &ir.Def{
	Name: "stablehlo.pad", Doc: "Adds a value around the operand and between its elements; negative edges remove elements. Spec: pad.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}, {Name: "padding_value", Type: ods.Scalar(ods.FP, ods.Pred, ods.Int, ods.Complex, ods.QTensor)}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs:    []ir.AttrSpec{ods.Required("edge_padding_low", ods.I64Array), ods.Required("edge_padding_high", ods.I64Array), ods.Required("interior_padding", ods.I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferPad), Verify: verify(oneElem, sameLengths("edge_padding_low", "edge_padding_high", "interior_padding"), agrees(inferPad)),
	Clauses: ir.Clauses(`
		C1 operand, padding_value and result have one element type
		C2 the three paddings have an element for each dimension of operand
		C3 interior_padding is not negative
		C4 the result has the sizes of operand and its paddings
	`),
}

// Reshape changes the shape.
var Reshape = &ir.Def{
	Name: "stablehlo.reshape", Doc: "Returns the elements, in the same order, in another shape. Spec: reshape.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyQuantized}},
	Results:  []ir.Arg{{Name: "result", Type: bounded}},
	Traits:   ir.Pure,
	Format:   formatGeneral,
	Verify:   verify(compatibleElemTypes, sameElems, reshapeRule),
	Clauses: ir.Clauses(`
		C1 the result has the element type of the operand, except for the axis of a quantization per axis
		C2 the result has as many elements as the operand
		C3 a dimension that is quantized per axis keeps its size, and the number of elements before it
	`),
}

// Reverse reverses dimensions.
var Reverse = &ir.Def{
	Name: "stablehlo.reverse", Doc: "Reverses the order of elements along the given dimensions. Spec: reverse.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs:    []ir.AttrSpec{ods.Required("dimensions", ods.I64Array)},
	Traits:   ir.Pure | ir.SameShape,
	Format:   "$operand `,` `dims` `=` $dimensions attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
	Infer:    infer(inferSame), Verify: verify(sameShape, oneElem, compatibleTypes, reverseRule),
	Clauses: ir.Clauses(`
		C1 the result has the type of operand
		C2 no dimension appears twice in dimensions
		C3 dimensions are dimensions of the result
	`),
}

// Slice extracts a part.
var Slice = &ir.Def{
	Name: "stablehlo.slice", Doc: "Returns the elements from start to limit in steps of stride, per dimension. Spec: slice.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs:    []ir.AttrSpec{ods.Required("start_indices", ods.I64Array), ods.Required("limit_indices", ods.I64Array), ods.Required("strides", ods.I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferSlice), Verify: verify(oneElem, sameLengths("start_indices", "limit_indices", "strides"), agrees(inferSlice)),
	Clauses: ir.Clauses(`
		C1 the result has the element type of operand
		C2 start_indices, limit_indices and strides have an element for each dimension of operand
		C3 the starts are not negative, the limits not below them and not above the sizes
		C4 the strides are positive
		C5 the result has along each dimension as many indices as steps fit
	`),
}

// Sort sorts tensors together.
var Sort = &ir.Def{
	Name: "stablehlo.sort", Doc: "Sorts tensors of one shape together along a dimension with a comparator. Spec: sort.",
	Operands: []ir.Arg{{Name: "inputs", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{ods.Defaulted("dimension", ods.I64Attr, ir.NewInteger(-1, i64)), ods.Defaulted("is_stable", ods.BoolAttr, attrFalse)},
	Regions:  []ir.RegionSpec{{Name: "comparator"}},
	Flow:     elementFlow,
	Traits:   ir.Pure | ir.SameShape | ir.SingleBlock,
	Infer:    infer(inferSort), Verify: verify(sameShape, agrees(inferSort), sortRule),
	Clauses: ir.Clauses(`
		C1 there is at least one input
		C2 each result has the type of its input
		C3 all inputs and results have one shape
		C4 dimension is one of the inputs', or one counted from the end
		C5 the comparator takes two scalars of each input's element type, in the order of the inputs, and gives a boolean
	`),
}

// Transpose permutes dimensions.
var Transpose = &ir.Def{
	Name: "stablehlo.transpose", Doc: "Permutes the dimensions of the operand. Spec: transpose.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyQuantized}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyQuantized}},
	Attrs:    []ir.AttrSpec{ods.Required("permutation", ods.I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferTranspose), Verify: verify(compatibleElemTypes, sameElems, agrees(inferTranspose)),
	Clauses: ir.Clauses(`
		C1 the result has the element type of the operand, except for the axis of a quantization per axis
		C2 permutation is one of the operand's dimensions
		C3 the result has the sizes of the operand, permuted
		C4 the axis of a quantization per axis is permuted with its dimension
	`),
}

// TorchIndexSelect gathers along one dimension.
var TorchIndexSelect = &ir.Def{
	Name: "stablehlo.torch_index_select", Doc: "Returns slices along a dimension by index. Not in the specification; use gather.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}, {Name: "index", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs:    []ir.AttrSpec{ods.Required("dim", ods.I64Attr), ods.Required("batch_dims", ods.I64Attr)},
	Traits:   ir.Pure,
	Verify:   verify(torchIndexSelectRule),
}
