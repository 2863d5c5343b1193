package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// Reduce reduces dimensions.
var Reduce = &ir.Def{
	Name: "stablehlo.reduce", Doc: "Reduces the given dimensions with a computation on scalars. Spec: reduce.",
	Operands: []ir.Arg{{Name: "inputs", Type: ods.AnyRanked, Mult: ir.Variadic}, {Name: "init_values", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{ods.Required("dimensions", ods.I64Array)},
	Regions:  []ir.RegionSpec{{Name: "body"}},
	Flow:     elementFlow,
	Traits:   ir.Pure | ir.SameVariadicOperands | ir.SingleBlock,
	Syntax: "`(` input `init:` init_value `)`, ... (`applies` op)? `across` `dimensions` `=` $dimensions attr-dict `:` functional-type(operands, results)" +
		" (`reducer` `(` argument `,` argument `)`, ... $body)?",
	Parse: parseReduce, Print: printReduce, Fits: reduceFits,
	Infer: infer(inferReduce), Verify: verify(reduceRule, agrees(inferReduce)),
	Clauses: ir.Clauses(`
		C1 all inputs have one shape
		C2 an input and its initial value have one element type -- MLIR asks only that both can be promoted to the type of the computation
		C3 there are as many inputs as initial values and results, and at least one
		C4 dimensions are dimensions of the inputs
		C5 no dimension appears twice in dimensions
		C6 the body takes two scalars for each input, of types that the inputs can be promoted to, and gives one of each
		C7 the results have the shape of the inputs less dimensions
		C8 the results have the element types of the body
	`),
}

// ReduceWindow reduces windows.
var ReduceWindow = &ir.Def{
	Name: "stablehlo.reduce_window", Doc: "Combines the elements of each window with a computation on scalars. Spec: reduce_window.",
	Operands: []ir.Arg{{Name: "inputs", Type: ods.AnyRanked, Mult: ir.Variadic}, {Name: "init_values", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: ods.AnyRanked, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		ods.Required("window_dimensions", ods.I64Array), ods.Optional("window_strides", ods.I64Array), ods.Optional("base_dilations", ods.I64Array),
		ods.Optional("window_dilations", ods.I64Array), ods.Optional("padding", ods.I64Elems),
	},
	Regions: []ir.RegionSpec{{Name: "body"}},
	Flow:    elementFlow,
	Traits:  ir.Pure | ir.SameVariadicOperands | ir.SingleBlock,
	Infer:   infer(inferReduceWindow), Verify: verify(infers(inferReduceWindow), reduceWindowRule, agrees(inferReduceWindow)),
	Clauses: ir.Clauses(`
		C1 there are as many inputs as initial values and results, and at least one
		C2 all inputs have one shape
		C3 an input and its initial value have one element type -- MLIR asks only that both can be promoted to the type of the computation
		C4 window_dimensions has an element for each dimension of the inputs
		C5 the sizes of a window are positive
		C6 window_strides has an element for each dimension of the inputs
		C7 the strides are positive
		C8 base_dilations has an element for each dimension of the inputs
		C9 the factors of base_dilations are positive
		C10 window_dilations has an element for each dimension of the inputs
		C11 the factors of window_dilations are positive
		C12 padding is a matrix of two columns with a row for each dimension of the inputs
		C13 the body takes two scalars for each input, of types that the inputs can be promoted to, and gives one of each
		C14 all results have one shape
		C15 the results have along each dimension as many indices as windows fit
		C16 the results have the element types of the body
	`),
}
