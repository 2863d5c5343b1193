// Package tally is a dialect outside of hlocb. Its rows are written by hand; views_gen.go is generated from them.
package tally

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
)

//go:generate go run ./gen

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{Name: "tally", Ops: []*ir.Def{Repeat, Yield, ScaledDot}}
}

// Repeat runs its body a fixed number of times. The body takes the carried values and yields the values of the next
// trip. The Flow of the row says this to all of hlocb: hooks in the body get their order, and passes follow values
// through the loop.
var Repeat = &ir.Def{
	Name:     "tally.repeat",
	Doc:      "Runs its body a number of times.",
	Operands: []ir.Arg{{Name: "initial", Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{ods.Required("times", ods.I64NonNeg)},
	Regions:  []ir.RegionSpec{{Name: "body"}},
	Traits:   ir.SingleBlock,
	Flow: &ir.Flow{
		Runs: []ir.Runs{ir.RunsRepeated},
		Edges: []ir.FlowEdge{
			{From: ir.Port{At: ir.AtOperands}, To: ir.Port{At: ir.AtArgs}},
			{From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtArgs}},
			{From: ir.Port{At: ir.AtOperands}, To: ir.Port{At: ir.AtResults}},
			{From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtResults}},
		},
	},
}

// Yield ends the body of tally.repeat.
var Yield = &ir.Def{
	Name:     "tally.yield",
	Doc:      "Ends the body of repeat.",
	Operands: []ir.Arg{{Name: "values", Mult: ir.Variadic}},
	Traits:   ir.Pure | ir.Terminator | ir.ReturnLike,
}
