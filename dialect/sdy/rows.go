package sdy

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// Rows of the dialect. The definitions follow Shardy's sdy_ops.

// Mesh is sdy.mesh.
var Mesh = &ir.Def{
	Name: nameMesh,
	Doc:  "Names a mesh of devices.",
	Attrs: []ir.AttrSpec{
		{Name: "mesh", Type: MeshAttr.Constraint()},
		{Name: ir.SymbolName, Type: ir.AttrConstraint{Kind: ir.KindString, Form: ir.FormSymbol}},
	},
	Traits: ir.Symbol,
	Format: "$sym_name `=` $mesh attr-dict",
	Clauses: ir.Clauses(`
		the axes have different names and sizes of at least 1
		device_ids are the numbers from 0 to the product of the sizes, less one; a mesh without axes has at most one
	`),
}

// ManualComputation is sdy.manual_computation.
var ManualComputation = &ir.Def{
	Name:     nameManual,
	Doc:      "Computes on each device of the manual axes with that device's shards.",
	Operands: []ir.Arg{{Name: "tensors", Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{{Name: AttrInShardings, Type: PerValueAttr.Constraint()}, {Name: AttrManualAxes, Type: ManualAxesAttr.Constraint()}, {Name: AttrOutShardings, Type: PerValueAttr.Constraint()}},
	Regions:  []ir.RegionSpec{{Name: "body"}},
	Traits:   ir.SingleBlock | ir.IsolatedFromAbove | ir.NestedEffects,
	Format: "`` `(` $tensors `)` `in_shardings` `` `=` `` custom<Shardings>($in_shardings) `out_shardings` `` `=` `` custom<Shardings>($out_shardings) " +
		"`manual_axes` `` `=` `` custom<ManualAxes>($manual_axes) custom<Body>($body) attr-dict `:` functional-type(operands, results)",
	Flow:   view.ComputationFlow(RemapShardings),
	Verify: verifyManual,
	Clauses: ir.Clauses(`
		in_shardings and out_shardings are right for the operands and results, on one mesh or an empty one
		the manual axes are axes of that mesh, in its order, and of no computation around
		the manual axes come first in each dimension, and their devices divide its size
		the arguments and returned values of the body are the shards of the operands and results along the manual axes
	`),
}

// NamedComputation is sdy.named_computation.
var NamedComputation = &ir.Def{
	Name:     nameNamed,
	Doc:      "Runs its body under a name.",
	Operands: []ir.Arg{{Name: "operands", Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{{Name: AttrInShardings, Type: PerValueAttr.Constraint(), Optional: true}, {Name: AttrName, Type: ods.StrAttr}, {Name: AttrOutShardings, Type: PerValueAttr.Constraint(), Optional: true}},
	Regions:  []ir.RegionSpec{{Name: "body"}},
	Traits:   ir.SingleBlock | ir.IsolatedFromAbove | ir.NestedEffects,
	Format: "`` `<` $name `>` `` `(` $operands `)` (`in_shardings` `` `=` `` custom<Shardings>($in_shardings)^)? " +
		"(`out_shardings` `` `=` `` custom<Shardings>($out_shardings)^)? custom<Body>($body) attr-dict `:` functional-type(operands, results)",
	Flow:   view.ComputationFlow(RemapShardings),
	Verify: verifyNamed,
	Clauses: ir.Clauses(`
		the body takes the operands and gives the results
		in_shardings and out_shardings are right for the operands and results
	`),
}

// Return is sdy.return.
var Return = &ir.Def{
	Name:     nameReturn,
	Doc:      "Ends the body of a computation with its results.",
	Operands: []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Traits:   ir.Pure | ir.Terminator | ir.ReturnLike,
	Format:   "attr-dict ($results^ `:` type($results))?",
}

// ShardingConstraint is sdy.sharding_constraint.
var ShardingConstraint = &ir.Def{
	Name:     "sdy.sharding_constraint",
	Doc:      "Requests the given sharding for a value.",
	Operands: []ir.Arg{{Name: "input"}},
	Results:  []ir.Arg{{Name: "result"}},
	Attrs:    []ir.AttrSpec{{Name: "sharding", Type: ShardingAttr.Constraint()}},
	Format:   "$input $sharding attr-dict `:` custom<SameType>(type($input), type($result))",
	Infer:    view.InferFirst, Verify: verifyOwnSharding,
	Clauses: ir.Clauses("the sharding is right for the value"),
}

// Reshard is sdy.reshard.
var Reshard = &ir.Def{
	Name:     "sdy.reshard",
	Doc:      "Changes the sharding of a value.",
	Operands: []ir.Arg{{Name: "input"}},
	Results:  []ir.Arg{{Name: "result"}},
	Attrs:    []ir.AttrSpec{{Name: "sharding", Type: ShardingAttr.Constraint()}},
	Traits:   ir.Pure,
	Format:   "$input $sharding attr-dict `:` custom<SameType>(type($input), type($result))",
	Infer:    view.InferFirst, Verify: verifyOwnSharding,
	Clauses: ir.Clauses("the sharding is right for the value"),
}

// ShardingGroup is sdy.sharding_group.
var ShardingGroup = &ir.Def{
	Name:     "sdy.sharding_group",
	Doc:      "Makes the value share its sharding with all values of the group.",
	Operands: []ir.Arg{{Name: "input"}},
	Attrs:    []ir.AttrSpec{{Name: "group_id", Type: ir.AttrConstraint{Kind: ir.KindInt, Form: ir.FormBare, FormType: ir.ElementOf(tensor.I64)}}},
	Format:   "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)",
}

// PropagationBarrier is sdy.propagation_barrier.
var PropagationBarrier = &ir.Def{
	Name:     "sdy.propagation_barrier",
	Doc:      "Lets shardings propagate in the allowed direction only.",
	Operands: []ir.Arg{{Name: "input"}},
	Results:  []ir.Arg{{Name: "result"}},
	Attrs:    []ir.AttrSpec{{Name: "allowed_direction"}},
	Traits:   ir.Pure,
	Format: "$input `allowed_direction` `` `=` `` custom<Direction>($allowed_direction) attr-dict `:` " +
		"custom<SameType>(type($input), type($result))",
	Infer: view.InferFirst, Verify: verifyBarrier,
	Clauses: ir.Clauses("allowed_direction is not BOTH: nothing would be blocked"),
}

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	d := &ir.Dialect{
		Name: "sdy",
		Ops: append(collectiveOps(),
			ManualComputation, Mesh, NamedComputation, PropagationBarrier, Reshard, Return, ShardingConstraint, ShardingGroup),
		Attrs: attrs,

		VerifyAttr: verifyAttr, VerifyValueAttr: verifyValueAttr, RemapAttr: remapAttr,
		Directives: map[string]*ir.Directive{
			"Direction": {Parse: parseDirection, Print: printDirection},
			"Reduction": {Parse: parseReduction, Print: printReduction},
			"SameType":  view.SameType, "Shardings": Shardings, "Body": Body,
		},
	}
	for name, c := range collectiveDirectives() {
		d.Directives[name] = c
	}
	return d
}
