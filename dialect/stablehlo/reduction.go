package stablehlo

import "github.com/hlocb/hlocb/ir"

// Reduce folds dimensions away.
var Reduce = &ir.Def{
	Name: "stablehlo.reduce", Doc: "Combines the elements along dimensions, which disappear, with a computation on scalars. Spec: reduce.",
	Operands: []ir.Arg{{Name: "inputs", Type: anyTensor, Mult: ir.Variadic}, {Name: "init_values", Type: anyTensor, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: anyTensor, Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{required("dimensions", I64Array)},
	Regions:  []ir.RegionSpec{{Name: "body"}},
	Traits:   ir.Pure | ir.SameVariadicOperands | ir.SingleBlock,
	Parse:    parseReduce, Print: printReduce,
	Infer: infer(inferReduce), Verify: verify(reduceRule, agrees(inferReduce)),
}

// ReduceWindow folds windows.
var ReduceWindow = &ir.Def{
	Name: "stablehlo.reduce_window", Doc: "Combines the elements of each window with a computation on scalars. Spec: reduce_window.",
	Operands: []ir.Arg{{Name: "inputs", Type: anyTensor, Mult: ir.Variadic}, {Name: "init_values", Type: anyTensor, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: anyTensor, Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		required("window_dimensions", I64Array), optional("window_strides", I64Array), optional("base_dilations", I64Array),
		optional("window_dilations", I64Array), optional("padding", I64Elems),
	},
	Regions: []ir.RegionSpec{{Name: "body"}},
	Traits:  ir.Pure | ir.SameVariadicOperands | ir.SingleBlock,
	Infer:   infer(inferReduceWindow), Verify: verify(reduceWindowRule, agrees(inferReduceWindow)),
}
