package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

var gatherDims = GatherAttr.Constraint()

// Gather extracts slices at computed indices.
var Gather = &ir.Def{
	Name: "stablehlo.gather", Doc: "Returns slices of the operand at computed indices. Spec: gather.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}, {Name: "start_indices", Type: ods.RankedInt}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs: []ir.AttrSpec{
		ods.Required("dimension_numbers", gatherDims),
		ods.Required("slice_sizes", ods.I64Array),
		ods.Defaulted("indices_are_sorted", ods.BoolAttr, attrFalse),
	},
	Traits: ir.Pure,
	Infer:  infer(inferGather), Verify: verify(sameElements(1, "operand, result"), agrees(inferGather)),
	Clauses: ir.Clauses(`
		C1 offset_dims, collapsed_slice_dims and operand_batching_dims together are as many as operand has dimensions
		C2 index_vector_dim is a dimension of start_indices, or the one after the last
		C3 start_index_map has an element for each index along index_vector_dim
		C4 offset_dims rise
		C5 offset_dims are dimensions of the result
		C6 no dimension appears twice in collapsed_slice_dims and operand_batching_dims
		C7 collapsed_slice_dims rise
		C8 collapsed_slice_dims are dimensions of operand
		C9 slice_sizes along collapsed_slice_dims are at most 1
		C10 operand_batching_dims rise
		C11 operand_batching_dims are dimensions of operand
		C12 slice_sizes along operand_batching_dims are at most 1
		C13 no dimension appears twice in start_indices_batching_dims
		C14 start_indices_batching_dims are dimensions of start_indices
		C15 start_indices_batching_dims do not hold index_vector_dim
		C16 there are as many operand_batching_dims as start_indices_batching_dims
		C17 batching dimensions have one size in operand and start_indices
		C18 no dimension appears twice in start_index_map and operand_batching_dims
		C19 start_index_map are dimensions of operand
		C20 slice_sizes has an element for each dimension of operand
		C21 slice_sizes are within the shape of operand
		C22 the result has the sizes of start_indices less index_vector_dim, and at offset_dims those of the slices
		C23 the result has the element type of operand
	`),
}

// DynamicGather extracts slices of computed size.
var DynamicGather = &ir.Def{
	Name: "stablehlo.dynamic_gather", Doc: "Returns slices of the operand, of a computed size, at computed indices. Spec: dynamic_gather.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}, {Name: "start_indices", Type: ods.RankedInt}, {Name: "slice_sizes", Type: ods.StaticInts(1)}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs: []ir.AttrSpec{
		ods.Required("dimension_numbers", gatherDims),
		ods.Defaulted("indices_are_sorted", ods.BoolAttr, attrFalse),
	},
	Traits: ir.Pure,
	Infer:  infer(inferDynamicGather), Verify: verify(agrees(inferDynamicGather)),
	Clauses: ir.Clauses(`
		C1 offset_dims and collapsed_slice_dims together are as many as operand has dimensions
		C2 index_vector_dim is a dimension of start_indices, or the one after the last
		C3 start_index_map has an element for each index along index_vector_dim
		C4 offset_dims rise
		C5 offset_dims are dimensions of the result
		C6 collapsed_slice_dims rise
		C7 collapsed_slice_dims are dimensions of operand
		C8 slice_sizes along collapsed_slice_dims are at most 1 if they are constant
		C9 no dimension appears twice in start_index_map
		C10 start_index_map are dimensions of operand
		C11 slice_sizes has an element for each dimension of operand
		C12 slice_sizes are within the shape of operand if they are constant
		C13 the result has the sizes of start_indices less index_vector_dim, and at offset_dims those of the slices
		C14 the result has the element type of operand
	`),
}

// Scatter updates slices at computed indices.
var Scatter = &ir.Def{
	Name: "stablehlo.scatter", Doc: "Combines updates into slices of the inputs at computed indices. Spec: scatter.",
	Operands: []ir.Arg{
		{Name: "inputs", Type: ods.AnyRanked, Mult: ir.Variadic},
		{Name: "scatter_indices", Type: ods.Tensor(anyInt, ods.Index)},
		{Name: "updates", Type: ods.AnyRanked, Mult: ir.Variadic},
	},
	Results: []ir.Arg{{Name: "results", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("scatter_dimension_numbers", ScatterAttr.Constraint()),
		ods.Defaulted("indices_are_sorted", ods.BoolAttr, attrFalse),
		ods.Defaulted("unique_indices", ods.BoolAttr, attrFalse),
	},
	Regions: []ir.RegionSpec{{Name: "update_computation"}},
	Flow:    elementFlow,
	Traits:  ir.Pure | ir.SameVariadicOperands | ir.SingleBlock,
	Infer:   infer(inferScatter), Verify: verify(scatterRule, agrees(inferScatter)),
	Clauses: ir.Clauses(`
		C1 all inputs have one shape
		C2 update_window_dims, inserted_window_dims and input_batching_dims together are as many as the inputs have dimensions
		C3 all updates have one shape
		C4 the updates have the sizes of scatter_indices less index_vector_dim, and at update_window_dims sizes within those of the inputs
		C5 there are as many inputs as updates, and at least one
		C6 an input and its update have one element type -- MLIR asks only that both can be promoted to the type of the computation
		C7 update_window_dims rise
		C8 update_window_dims are dimensions of the updates
		C9 no dimension appears twice in inserted_window_dims and input_batching_dims
		C10 inserted_window_dims rise
		C11 inserted_window_dims are dimensions of the inputs
		C12 input_batching_dims rise
		C13 input_batching_dims are dimensions of the inputs
		C14 no dimension appears twice in scatter_indices_batching_dims
		C15 scatter_indices_batching_dims are dimensions of scatter_indices
		C16 scatter_indices_batching_dims do not hold index_vector_dim
		C17 there are as many input_batching_dims as scatter_indices_batching_dims
		C18 batching dimensions have one size in the inputs and scatter_indices
		C19 scatter_dims_to_operand_dims has an element for each index along index_vector_dim
		C20 no dimension appears twice in scatter_dims_to_operand_dims and input_batching_dims
		C21 scatter_dims_to_operand_dims are dimensions of the inputs
		C22 index_vector_dim is a dimension of scatter_indices, or the one after the last
		C23 the computation takes two scalars for each input, of types that the inputs can be promoted to, and gives one of each
		C24 the results have the shapes of the inputs
		C25 the results have the element types of the computation
	`),
}

// SelectAndScatter scatters to the selected element of each window.
var SelectAndScatter = &ir.Def{
	Name: "stablehlo.select_and_scatter", Doc: "Chooses an element in each window of the operand and scatters the source to the chosen ones. Spec: select_and_scatter.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyRanked}, {Name: "source", Type: ods.AnyRanked}, {Name: "init_value", Type: ods.AnyRanked}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyRanked}},
	Attrs: []ir.AttrSpec{
		ods.Optional("window_dimensions", ods.I64Array), ods.Optional("window_strides", ods.I64Array), ods.Optional("padding", ods.I64Elems),
	},
	Regions: []ir.RegionSpec{{Name: "select"}, {Name: "scatter"}},
	Flow:    elementFlow,
	Traits:  ir.Pure | ir.SingleBlock,
	Infer:   infer(inferSelectAndScatter), Verify: verify(selectAndScatterRule, agrees(inferSelectAndScatter)),
	Clauses: ir.Clauses(`
		C1 operand and source have one element type
		C2 source has along each dimension as many indices as windows fit
		C3 init_value has the element type of operand
		C4 window_dimensions has an element for each dimension of operand
		C5 the sizes of a window are positive
		C6 window_strides has an element for each dimension of operand
		C7 the strides are positive
		C8 padding is a matrix of two columns with a row for each dimension of operand
		C9 select takes two scalars of the operand's element type and gives a boolean
		C10 scatter takes two scalars of one type that operand can be promoted to, and gives one
		C11 the result has the shape of operand
		C12 the result has the element type of scatter
	`),
}
