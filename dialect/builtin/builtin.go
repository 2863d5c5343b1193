// Package builtin is MLIR's builtin dialect: modules and unrealized conversion casts.
package builtin

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/ir"
)

// Module is builtin.module.
var Module = &ir.Def{
	Name: "builtin.module",
	Doc:  "Holds functions and other symbols: the unit that is compiled (StableHLO spec, Programs).",
	Attrs: []ir.AttrSpec{
		{Name: "sym_name", Type: ir.AttrConstraint{Kind: ir.KindString, Form: ir.FormSymbol}, Optional: true},
		{Name: "sym_visibility", Optional: true},
	},
	Regions: []ir.RegionSpec{{Name: "bodyRegion"}},
	Traits:  ir.IsolatedFromAbove | ir.SingleBlock | ir.NoTerminator | ir.SymbolTable | ir.Symbol | ir.GraphRegion,
	Verify: func(op *ir.Op, r *ir.Reporter) {
		for _, a := range op.Attrs() {
			if !strings.Contains(a.Name, ".") && a.Name != ir.SymbolName && a.Name != "sym_visibility" {
				r.Errorf(op, "can only contain attributes with dialect-prefixed names, found: '%s'", a.Name)
				return
			}
		}
	},
	Clauses:        ir.Clauses("attributes other than these are in the namespace of a dialect"),
	Format:         "($sym_name^)? attr-dict-with-keyword $bodyRegion",
	DefaultDialect: "builtin",
}

// UnrealizedConversionCast is builtin.unrealized_conversion_cast.
var UnrealizedConversionCast = &ir.Def{
	Name:     "builtin.unrealized_conversion_cast",
	Doc:      "Converts between types until a pass replaces it by real ops.",
	Operands: []ir.Arg{{Name: "inputs", Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "outputs", Mult: ir.Variadic}},
	Traits:   ir.Pure,
	Verify: func(op *ir.Op, r *ir.Reporter) {
		if op.NumResults() == 0 {
			r.Errorf(op, "expected at least one result for cast operation")
		}
	},
	Fold:    foldCast,
	Clauses: ir.Clauses("there is at least one output"),
	Format:  "($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict",
}

// foldCast folds a cast to the same types, and a cast of all results of another cast back to their types.
func foldCast(op *ir.Op) []ir.Folded {
	if op.NumOperands() == 0 {
		return nil
	}
	if slices.EqualFunc(op.OperandList(), op.ResultTypes(), func(v *ir.Value, t ir.Type) bool { return v.Type() == t }) {
		return folded(op.OperandList())
	}
	from := op.Operand(0).DefiningOp()
	if from == nil || !from.Is(op.Def()) || from.NumResults() != op.NumOperands() || from.NumOperands() != op.NumResults() {
		return nil
	}
	for i, v := range op.Operands() {
		if v != from.Result(i) {
			return nil
		}
	}
	for i, v := range from.Operands() {
		if v.Type() != op.Result(i).Type() {
			return nil
		}
	}
	return folded(from.OperandList())
}

func folded(values []*ir.Value) []ir.Folded {
	out := make([]ir.Folded, len(values))
	for i, v := range values {
		out[i].Value = v
	}
	return out
}

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{Name: "builtin", Ops: []*ir.Def{Module, UnrealizedConversionCast}}
}
