package stablehlo

import "github.com/hlocb/hlocb/ir"

// Rows of the operations that move elements without computing with them, and of those that make tensors.

// Constant holds a tensor.
var Constant = &ir.Def{
	Name: "stablehlo.constant", Doc: "Gives a constant tensor. Spec: constant.",
	Results: []ir.Arg{{Name: "output", Type: StaticTensor(FP, Pred, Int, Complex, QTensor, QAxis)}},
	Attrs:   []ir.AttrSpec{required("value", ElemsAttr)},
	Traits:  ir.Pure,
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
	Results: []ir.Arg{{Name: "output", Type: StaticTensor(Int, FP, Complex, QTensor)}},
	Attrs:   []ir.AttrSpec{required("iota_dimension", I64NonNeg)},
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
	Operands: []ir.Arg{{Name: "operand", Type: anyTensor}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensorQ}},
	Attrs:    []ir.AttrSpec{required("broadcast_sizes", I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferBroadcast), Verify: verify(oneElem, agrees(inferBroadcast)), Local: true,
}

// BroadcastInDim repeats along dimensions.
var BroadcastInDim = &ir.Def{
	Name: "stablehlo.broadcast_in_dim", Doc: "Repeats the operand's elements along the dimensions of the result that broadcast_dimensions does not name, and along its dimensions of size 1. Spec: broadcast_in_dim.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensorQ}},
	Results:  []ir.Arg{{Name: "result", Type: boundedTensor(FP, Pred, Int, Complex, QTensor, QAxis)}},
	Attrs:    []ir.AttrSpec{required("broadcast_dimensions", I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)",
	Verify:   verify(compatibleElemTypes, broadcastInDimRule),
	Local:    true,
	Clauses: ir.Clauses(`
		C1 the result has the element type of the operand, but for the parameters of a quantization per axis
		C2 broadcast_dimensions names a dimension for each of the operand's
		C3 broadcast_dimensions are dimensions of the result
		C4 no dimension stands twice in broadcast_dimensions
		C5 a dimension of the operand has size 1, or the size of the result's dimension that it becomes
		C6 a dimension that is quantized per axis becomes the result's, and one of size 1 gives its parameters to all indices
	`),
}

// Concatenate joins tensors along a dimension.
var Concatenate = &ir.Def{
	Name: "stablehlo.concatenate", Doc: "Joins tensors along one dimension. Spec: concatenate.",
	Operands: []ir.Arg{{Name: "inputs", Type: anyTensor, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs:    []ir.AttrSpec{required("dimension", I64NonNeg)},
	Traits:   ir.Pure,
	Format:   "custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferConcatenate), Verify: verify(oneElem, agrees(inferConcatenate)), Local: true,
	Clauses: ir.Clauses(`
		C1 all inputs have one element type
		C2 all inputs have one shape, but for the size along dimension
		C3 there is at least one input
		C4 dimension is a dimension of the inputs
		C5 the result has the element type of the inputs
		C6 the result has the shape of the inputs, and along dimension the sum of their sizes
	`),
}

// DynamicSlice takes a part at a computed place.
var DynamicSlice = &ir.Def{
	Name: "stablehlo.dynamic_slice", Doc: "Takes a slice of fixed size that starts at computed indices, clamped so that it fits. Spec: dynamic_slice.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensor}, {Name: "start_indices", Type: Scalar(Int), Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs:    []ir.AttrSpec{required("slice_sizes", I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` custom<VariadicOperandWithAttribute>($start_indices) `sizes` `=` $slice_sizes attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferDynamicSlice), Verify: verify(matching(1, "operand, result"), agrees(inferDynamicSlice)),
	Clauses: ir.Clauses(`
		C1 the result has the element type of operand
		C2 start_indices and slice_sizes are as many as operand has dimensions
		C3 all start_indices have one type
		C4 slice_sizes are within the shape of operand
		C5 the result has the sizes of slice_sizes
	`),
}

// DynamicUpdateSlice replaces a part at a computed place.
var DynamicUpdateSlice = &ir.Def{
	Name: "stablehlo.dynamic_update_slice", Doc: "Replaces the slice that starts at computed indices, clamped so that it fits. Spec: dynamic_update_slice.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensor}, {Name: "update", Type: anyTensor}, {Name: "start_indices", Type: Scalar(Int), Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Traits:   ir.Pure,
	Format:   formatGeneral,
	Infer:    infer(inferDynamicUpdateSlice), Verify: verify(matching(2, "operand, update, result"), agrees(inferDynamicUpdateSlice)),
	Clauses: ir.Clauses(`
		C1 the result has the type of operand
		C2 update has the element type of operand
		C3 update has the rank of operand
		C4 start_indices are as many as operand has dimensions
		C5 all start_indices have one type
		C6 the shape of update is within that of operand
	`),
}

// Pad surrounds and interleaves with a value.
var Pad = &ir.Def{
	Name: "stablehlo.pad", Doc: "Puts a value around the operand and between its elements; negative edges cut off. Spec: pad.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensor}, {Name: "padding_value", Type: Scalar(FP, Pred, Int, Complex, QTensor)}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs:    []ir.AttrSpec{required("edge_padding_low", I64Array), required("edge_padding_high", I64Array), required("interior_padding", I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferPad), Verify: verify(oneElem, sameLengths("edge_padding_low", "edge_padding_high", "interior_padding"), agrees(inferPad)), Local: true,
	Clauses: ir.Clauses(`
		C1 operand, padding_value and result have one element type
		C2 the three paddings have an element for each dimension of operand
		C3 interior_padding is not negative
		C4 the result has the sizes of operand and its paddings
	`),
}

// Reshape changes the shape.
var Reshape = &ir.Def{
	Name: "stablehlo.reshape", Doc: "Gives the elements in the same order another shape. Spec: reshape.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensorQ}},
	Results:  []ir.Arg{{Name: "result", Type: boundedTensor(FP, Pred, Int, Complex, QTensor, QAxis)}},
	Traits:   ir.Pure,
	Format:   formatGeneral,
	Verify:   verify(compatibleElemTypes, sameElems, reshapeRule),
	Local:    true,
	Clauses: ir.Clauses(`
		C1 the result has the element type of the operand, but for the axis of a quantization per axis
		C2 the result has as many elements as the operand
		C3 a dimension that is quantized per axis keeps its size, and the number of elements before it
	`),
}

// Reverse reverses dimensions.
var Reverse = &ir.Def{
	Name: "stablehlo.reverse", Doc: "Reverses the order of elements along the given dimensions. Spec: reverse.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensor}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs:    []ir.AttrSpec{required("dimensions", I64Array)},
	Traits:   ir.Pure | ir.SameShape,
	Format:   "$operand `,` `dims` `=` $dimensions attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
	Infer:    infer(inferSame), Verify: verify(sameShape, oneElem, compatibleTypes, reverseRule), Local: true,
	Clauses: ir.Clauses(`
		C1 the result has the type of operand
		C2 no dimension stands twice in dimensions
		C3 dimensions are dimensions of the result
	`),
}

// Slice takes a part.
var Slice = &ir.Def{
	Name: "stablehlo.slice", Doc: "Takes the elements from start to limit in steps of stride, per dimension. Spec: slice.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensor}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs:    []ir.AttrSpec{required("start_indices", I64Array), required("limit_indices", I64Array), required("strides", I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferSlice), Verify: verify(oneElem, sameLengths("start_indices", "limit_indices", "strides"), agrees(inferSlice)), Local: true,
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
	Operands: []ir.Arg{{Name: "inputs", Type: anyTensor, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: anyTensor, Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{defaulted("dimension", I64Attr, ir.NewInteger(-1, i64)), defaulted("is_stable", BoolAttr, attrFalse)},
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

// TransposeOp permutes dimensions.
var TransposeOp = &ir.Def{
	Name: "stablehlo.transpose", Doc: "Permutes the dimensions of the operand. Spec: transpose.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensorQ}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensorQ}},
	Attrs:    []ir.AttrSpec{required("permutation", I64Array)},
	Traits:   ir.Pure,
	Format:   "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)",
	Infer:    infer(inferTranspose), Verify: verify(compatibleElemTypes, sameElems, agrees(inferTranspose)), Local: true,
	Clauses: ir.Clauses(`
		C1 the result has the element type of the operand, but for the axis of a quantization per axis
		C2 permutation is one of the operand's dimensions
		C3 the result has the sizes of the operand, permuted
		C4 the axis of a quantization per axis is permuted with its dimension
	`),
}

// TorchIndexSelect gathers along one dimension.
var TorchIndexSelect = &ir.Def{
	Name: "stablehlo.torch_index_select", Doc: "Takes slices along a dimension by index. Not in the specification; use gather.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensor}, {Name: "index", Type: anyTensor}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs:    []ir.AttrSpec{required("dim", I64Attr), required("batch_dims", I64Attr)},
	Traits:   ir.Pure,
	Verify:   verify(torchIndexSelectRule),
}
