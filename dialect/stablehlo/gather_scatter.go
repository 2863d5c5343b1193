package stablehlo

import "github.com/hlocb/hlocb/ir"

var gatherDims = parsed[GatherDims]("gather", "Attribute that models the dimension information for gather")

// Gather takes slices by computed indices.
var Gather = &ir.Def{
	Name: "stablehlo.gather", Doc: "Takes slices of the operand at computed indices. Spec: gather.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensor}, {Name: "start_indices", Type: intTensor}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs: []ir.AttrSpec{
		required("dimension_numbers", gatherDims),
		required("slice_sizes", I64Array),
		defaulted("indices_are_sorted", BoolAttr, attrFalse),
	},
	Traits: ir.Pure,
	Infer:  infer(inferGather), Verify: verify(matching(1, "operand, result"), agrees(inferGather)),
}

// DynamicGather takes slices of computed size.
var DynamicGather = &ir.Def{
	Name: "stablehlo.dynamic_gather", Doc: "Takes slices of the operand, of a computed size, at computed indices. Spec: dynamic_gather.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensor}, {Name: "start_indices", Type: intTensor}, {Name: "slice_sizes", Type: staticInts1D()}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs: []ir.AttrSpec{
		required("dimension_numbers", gatherDims),
		defaulted("indices_are_sorted", BoolAttr, attrFalse),
	},
	Traits: ir.Pure,
	Infer:  infer(inferDynamicGather), Verify: verify(agrees(inferDynamicGather)),
}

// Scatter updates slices at computed indices.
var Scatter = &ir.Def{
	Name: "stablehlo.scatter", Doc: "Combines updates into slices of the inputs at computed indices. Spec: scatter.",
	Operands: []ir.Arg{
		{Name: "inputs", Type: anyTensor, Mult: ir.Variadic},
		{Name: "scatter_indices", Type: Tensor(AnyInt, Index)},
		{Name: "updates", Type: anyTensor, Mult: ir.Variadic},
	},
	Results: []ir.Arg{{Name: "results", Type: anyTensor, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		required("scatter_dimension_numbers", parsed[ScatterDims]("scatter", "Attribute that models the dimension information for scatter")),
		defaulted("indices_are_sorted", BoolAttr, attrFalse),
		defaulted("unique_indices", BoolAttr, attrFalse),
	},
	Regions: []ir.RegionSpec{{Name: "update_computation"}},
	Traits:  ir.Pure | ir.SameVariadicOperands | ir.SingleBlock,
	Infer:   infer(inferScatter), Verify: verify(scatterRule, agrees(inferScatter)),
}

// SelectAndScatter scatters to the selected element of each window.
var SelectAndScatter = &ir.Def{
	Name: "stablehlo.select_and_scatter", Doc: "Chooses an element in each window of the operand and scatters the source to the chosen ones. Spec: select_and_scatter.",
	Operands: []ir.Arg{{Name: "operand", Type: anyTensor}, {Name: "source", Type: anyTensor}, {Name: "init_value", Type: anyTensor}},
	Results:  []ir.Arg{{Name: "result", Type: anyTensor}},
	Attrs: []ir.AttrSpec{
		optional("window_dimensions", I64Array), optional("window_strides", I64Array), optional("padding", I64Elems),
	},
	Regions: []ir.RegionSpec{{Name: "select"}, {Name: "scatter"}},
	Traits:  ir.Pure,
	Infer:   infer(inferSelectAndScatter), Verify: verify(selectAndScatterRule, agrees(inferSelectAndScatter)),
}
