package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// branchFlow returns the flow of if and case: operand 0 selects the region that runs. choose returns the position of
// the region among n.
func branchFlow(choose func(selector int64, n int) int) *ir.Flow {
	return &ir.Flow{
		Runs:    []ir.Runs{ir.RunsAtMostOnce},
		Control: 1,
		Edges: []ir.FlowEdge{
			{From: ir.Port{At: ir.AtYields, Region: ir.AllRegions}, To: ir.Port{At: ir.AtResults}},
		},
		Select: func(op *ir.Op, v ir.Attr) (*ir.Region, bool) {
			list := view.Elements(v)
			if len(list) != 1 {
				return nil, false
			}
			return op.Region(choose(list[0], len(op.Regions()))), true
		},
	}
}

// loopFlow is the flow of while. The condition sees the carried values of every trip. The results are the values that
// it saw last.
var loopFlow = &ir.Flow{
	Runs: []ir.Runs{ir.RunsTest, ir.RunsRepeated},
	Edges: []ir.FlowEdge{
		{From: ir.Port{At: ir.AtOperands}, To: ir.Port{At: ir.AtArgs, Region: ir.AllRegions}},
		{From: ir.Port{At: ir.AtYields, Region: 1}, To: ir.Port{At: ir.AtArgs, Region: ir.AllRegions}},
		{From: ir.Port{At: ir.AtOperands}, To: ir.Port{At: ir.AtResults}},
		{From: ir.Port{At: ir.AtYields, Region: 1}, To: ir.Port{At: ir.AtResults}},
	},
}

// elementFlow is the flow of an op that applies its regions to elements, in any order.
var elementFlow = &ir.Flow{Runs: []ir.Runs{ir.RunsUnordered}}

// AfterAll joins tokens.
var AfterAll = &ir.Def{
	Name: "stablehlo.after_all", Doc: "Returns a token that follows all of its operands. Spec: after_all.",
	Operands: []ir.Arg{{Name: "inputs", Type: ods.Token, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "result", Type: ods.Token}},
	Traits:   ir.Pure,
	Format:   "$inputs attr-dict `:` custom<VariadicSameOperandsAndResultType>(ref($inputs), type($inputs), type($result))",
	Infer:    infer(inferToken), Verify: verify(agrees(inferToken)),
}

// CreateToken creates a token.
var CreateToken = &ir.Def{
	Name: "stablehlo.create_token", Doc: "Returns a new token. Not in the specification; use after_all.",
	Results: []ir.Arg{{Name: "output", Type: ods.Token}},
	Traits:  ir.Pure,
	Format:  "attr-dict `:` type(results)",
	Infer:   infer(inferToken), Verify: verify(agrees(inferToken)),
}

// Case chooses a branch by index.
var Case = &ir.Def{
	Name: "stablehlo.case", Doc: "Executes the branch with the given index, or the last branch if there is no such index. Spec: case.",
	Operands: []ir.Arg{{Name: "index", Type: ods.Tensor(ods.I32)}},
	Results:  []ir.Arg{{Name: "results", Type: branchResult, Mult: ir.Variadic}},
	Regions:  []ir.RegionSpec{{Name: "branches", Mult: ir.Variadic}},
	Traits:   ir.SingleBlock | ir.NestedEffects,
	Flow: branchFlow(func(i int64, n int) int {
		if i < 0 || i >= int64(n) {
			return n - 1
		}
		return int(i)
	}),
	Infer: infer(inferBranches), Verify: verify(agrees(inferBranches)),
	Clauses: ir.Clauses(`
		C1 there is at least one branch
		C2 the branches take no arguments
		C3 all branches return the same types
		C4 the results have the types that the branches return
	`),
}

// If chooses between two branches.
var If = &ir.Def{
	Name: "stablehlo.if", Doc: "Executes one of two branches. Spec: if.",
	Operands: []ir.Arg{{Name: "pred", Type: ods.PredTensor}},
	Results:  []ir.Arg{{Name: "results", Type: branchResult, Mult: ir.Variadic}},
	Regions:  []ir.RegionSpec{{Name: "true_branch"}, {Name: "false_branch"}},
	Traits:   ir.SingleBlock | ir.NestedEffects,
	Flow: branchFlow(func(pred int64, _ int) int {
		if pred != 0 {
			return 0
		}
		return 1
	}),
	Infer: infer(inferBranches), Verify: verify(agrees(inferBranches)),
	Clauses: ir.Clauses(`
		C1 the branches take no arguments
		C2 both branches return the same types
		C3 the results have the types that the branches return
	`),
}

// While loops.
var While = &ir.Def{
	Name: "stablehlo.while", Doc: "Executes body while cond returns true; both regions get the loop's values. Spec: while.",
	Operands: []ir.Arg{{Name: "operand", Type: loopValue, Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Type: loopValue, Mult: ir.Variadic}},
	Regions:  []ir.RegionSpec{{Name: "cond"}, {Name: "body"}},
	Traits:   ir.SingleBlock | ir.NestedEffects,
	Syntax:   "`(` argument `=` $operand, ... `)` `:` type($operand) (`attributes` attr-dict)? `cond` $cond `do` $body",
	Parse:    parseWhile, Print: printWhile, Fits: whileFits,
	Flow:  loopFlow,
	Infer: infer(inferPairwise), Verify: verify(agrees(inferPairwise), whileRule),
	ArgNames: whileArgNames,
	Clauses: ir.Clauses(`
		C1 cond takes the operands and gives a boolean
		C2 body takes the operands and gives values of their types
		C3 the results have the types of the operands
	`),
}

// OptimizationBarrier keeps operations in order.
var OptimizationBarrier = &ir.Def{
	Name: "stablehlo.optimization_barrier", Doc: "Forwards its operands; nothing that depends on its results may be computed before all operands. Spec: optimization_barrier.",
	Operands: []ir.Arg{{Name: "operand", Type: ods.AnyOf(ods.AnyRanked, ods.Token), Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "result", Type: ods.AnyOf(ods.AnyRanked, ods.Token), Mult: ir.Variadic}},
	Traits:   ir.Pure,
	Format:   "attr-dict ($operand^ `:` custom<PairwiseOpType>(type($operand), type($result))):(`(` `)`)?",
	Flow:     &ir.Flow{Edges: []ir.FlowEdge{{From: ir.Port{At: ir.AtOperands}, To: ir.Port{At: ir.AtResults}}}},
	Infer:    infer(inferPairwise), Verify: verify(pairwiseRule),
	Clauses: ir.Clauses(`
		C1 each result has the type of its operand
	`),
}

// Return ends a region.
var Return = &ir.Def{
	Name: "stablehlo.return", Doc: "Ends a region and passes its operands to the op that contains it.",
	Operands: []ir.Arg{{Name: "results", Type: ods.FlowValue, Mult: ir.Variadic}},
	Traits:   ir.Pure | ir.Terminator | ir.ReturnLike,
	Format:   "$results attr-dict (`:` type($results)^)?",
}
