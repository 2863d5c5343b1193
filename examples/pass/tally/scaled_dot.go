package tally

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

// ScaledDot multiplies matrices and scales the product.
var ScaledDot = &ir.Def{
	Name:     "tally.scaled_dot",
	Doc:      "Multiplies matrices, scales the product, and permutes its dimensions.",
	Operands: []ir.Arg{{Name: "lhs", Type: ods.Floats}, {Name: "rhs", Type: ods.Floats}},
	Results:  []ir.Arg{{Name: "result", Type: ods.Floats}},
	Attrs:    []ir.AttrSpec{ods.Required("factor", ods.I64Attr), ods.Optional("layout", ods.I64Array)},
	Traits:   ir.Pure,
	Format:   "$lhs `x` $rhs `by` $factor (`perm` $layout^)? attr-dict `:` functional-type(operands, results)",
}
