// Package check is the dialect of the test assertions in StableHLO's own tests.
package check

import (
	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

var (
	tolerance = ir.AttrSpec{Name: "tolerance", Type: ods.F64Attr, Optional: true}

	// ulps is unsigned in StableHLO of 2026, and signless before.
	ulps = ir.AttrConstraint{Summary: ods.UI64Attr.Summary, Kind: ir.KindInt, Form: ir.FormBare, FormType: ods.UI64Attr.FormType, Check: func(a ir.Attr) bool {
		return ods.UI64Attr.Check(a) || ods.I64Attr.Check(a)
	}}
)

func two() []ir.Arg {
	return []ir.Arg{{Name: "lhs", Type: ods.AnyQuantized}, {Name: "rhs", Type: ods.AnyQuantized}}
}

func quantizedOperand() []ir.Arg { return []ir.Arg{{Name: "lhs", Type: ods.AnyQuantized}} }

// The assertions. They have an effect: the test can fail.
var (
	ExpectAlmostEq = &ir.Def{
		Name: "check.expect_almost_eq", Doc: "Fails if two tensors differ by more than a tolerance, 1e-4 if none is given.",
		Operands: two(),
		Attrs:    []ir.AttrSpec{tolerance},
		Format:   "$lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:` custom<SameType>(type($lhs), type($rhs))",
		Verify:   verifySame,
	}
	ExpectAlmostEqConst = &ir.Def{
		Name: "check.expect_almost_eq_const", Doc: "Fails if a tensor differs from a constant by more than a tolerance, 1e-4 if none is given.",
		Operands: quantizedOperand(),
		Attrs:    []ir.AttrSpec{{Name: "value", Type: ods.ElemsAttr}, tolerance},
		Format:   "$lhs `,` custom<Expected>($value, type($lhs)) (`,` `tolerance` `=` $tolerance^)? attr-dict",
		Verify:   verifyConst,
	}
	ExpectEq = &ir.Def{
		Name: "check.expect_eq", Doc: "Fails if two tensors differ; NaN differs from everything.",
		Operands: two(),
		Format:   "$lhs `,` $rhs attr-dict `:` custom<SameType>(type($lhs), type($rhs))",
		Verify:   verifySame,
	}
	ExpectEqConst = &ir.Def{
		Name: "check.expect_eq_const", Doc: "Fails if a tensor differs from a constant; NaN differs from everything.",
		Operands: quantizedOperand(),
		Attrs:    []ir.AttrSpec{{Name: "value", Type: ods.ElemsAttr}},
		Format:   "$lhs `,` custom<Expected>($value, type($lhs)) attr-dict",
		Verify:   verifyConst,
	}
	ExpectClose = &ir.Def{
		Name: "check.expect_close", Doc: "Fails if two floating-point tensors differ by a number of ULPs outside a range, 0 to 1 if none is given.",
		Operands: []ir.Arg{{Name: "actual", Type: ods.AnyQuantized}, {Name: "expected", Type: ods.AnyQuantized}},
		Attrs: []ir.AttrSpec{
			{Name: "max_ulp_difference", Type: ulps, Optional: true}, {Name: "min_ulp_difference", Type: ulps, Optional: true},
		},
		Format: "$actual `,` $expected (`,` `max_ulp_difference` `=` $max_ulp_difference^)? (`,` `min_ulp_difference` `=` $min_ulp_difference^)? attr-dict `:` type($actual) `,` type($expected)",
	}
	ExpectSerializedEq = &ir.Def{
		Name: "check.expect_serialized_eq", Doc: "Fails if a tensor differs from the tensor that a probe wrote in run iter.",
		Operands: []ir.Arg{{Name: "expected", Type: ods.AnyQuantized}},
		Attrs: []ir.AttrSpec{
			{Name: "probe_id", Type: ods.StrAttr}, {Name: "iter", Type: ods.I32NonNeg, Optional: true},
		},
		Format: "$expected `,` `probe_id` `=` $probe_id (`,` `iter` `=` $iter^)? attr-dict `:` type($expected)",
	}
)

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name: "check",
		Ops:  []*ir.Def{ExpectAlmostEq, ExpectAlmostEqConst, ExpectEq, ExpectEqConst, ExpectClose, ExpectSerializedEq},
		Directives: map[string]*ir.Directive{
			"SameType": view.SameType,
			"Expected": {Parse: parseExpected, Print: printExpected},
		},
	}
}

// parseExpected reads a literal whose type is the type of the operand.
func parseExpected(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	pos := p.Pos()
	a := p.ParseAttr(nil)
	t := ods.ElementsType(a)
	if t == nil {
		p.ErrorfAt(pos, "expected elements attribute")
	}
	args[0].Attr, args[1].Types = a, []ir.Type{t}
}

func printExpected(p ir.AsmPrinter, op *ir.Op, args []ir.DirectiveArg) { p.PrintAttr(args[0].Attr) }

func verifySame(op *ir.Op, r *ir.Reporter) {
	if !hlo.Compatible(op.Operand(0).Type(), op.Operand(1).Type()) {
		r.Errorf(op, "requires all operands to have the same type")
	}
}

func verifyConst(op *ir.Op, r *ir.Reporter) {
	if t := ods.ElementsType(op.Attr("value")); t != nil && !hlo.Compatible(t, op.Operand(0).Type()) {
		r.Errorf(op, "failed to verify that all of {lhs, value} have same type")
	}
}
