// Package arith holds the operations of MLIR's arith dialect that stand in StableHLO programs: constants and index
// arithmetic of dynamic shapes. Others of its operations are carried as unknown ones.
package arith

import (
	"strconv"

	"github.com/hlocb/hlocb/ir"
)

const same = " attr-dict `:` custom<SameType>(type($lhs), type($rhs), type($result))"

func binary(name, doc string, more ir.Traits) *ir.Def {
	return &ir.Def{
		Name: "arith." + name, Doc: doc,
		Operands: []ir.Arg{{Name: "lhs"}, {Name: "rhs"}},
		Results:  []ir.Arg{{Name: "result"}},
		Traits:   ir.Pure | ir.SameType | more,
		Format:   "$lhs `,` $rhs" + same,
		Infer:    inferFirst,
	}
}

// flagged adds an attribute of flags, none of which are set where it is not written.
func flagged(d *ir.Def, name, mnemonic string) *ir.Def {
	d.Attrs = []ir.AttrSpec{{Name: name, Default: ir.NewDialectAttr("arith", mnemonic, "<none>", nil)}}
	return d
}

func inferFirst(_ *ir.Context, st *ir.OpState) ([]ir.Type, error) {
	return []ir.Type{st.Operands[0].Type()}, nil
}

// The operations.
var (
	Constant = &ir.Def{
		Name: "arith.constant", Doc: "Gives a constant number or tensor.",
		Results: []ir.Arg{{Name: "result"}},
		Attrs:   []ir.AttrSpec{{Name: "value"}},
		Traits:  ir.Pure,
		Syntax:  "attr-dict $value, which names the type of the result",
		Parse:   parseConstant, Print: printConstant,
		Verify: verifyConstant, ResultNames: constantNames,
	}
	AddF      = flagged(binary("addf", "Adds floating-point numbers.", ir.Commutative), "fastmath", "fastmath")
	AddI      = flagged(binary("addi", "Adds integers.", ir.Commutative), "overflowFlags", "overflow")
	SubI      = flagged(binary("subi", "Subtracts integers.", 0), "overflowFlags", "overflow")
	MulI      = flagged(binary("muli", "Multiplies integers.", ir.Commutative), "overflowFlags", "overflow")
	DivSI     = binary("divsi", "Divides signed integers, towards zero.", 0)
	IndexCast = &ir.Def{
		Name: "arith.index_cast", Doc: "Converts between index and integers.",
		Operands: []ir.Arg{{Name: "in"}}, Results: []ir.Arg{{Name: "out"}},
		Traits: ir.Pure,
		Format: "$in attr-dict `:` type($in) `to` type($out)",
	}
	CmpI = &ir.Def{
		Name: "arith.cmpi", Doc: "Compares integers.",
		Operands: []ir.Arg{{Name: "lhs"}, {Name: "rhs"}}, Results: []ir.Arg{{Name: "result"}},
		Attrs:  []ir.AttrSpec{{Name: "predicate"}},
		Traits: ir.Pure,
		Format: "custom<Predicate>($predicate) `,` $lhs `,` $rhs attr-dict `:` custom<CompareType>(type($lhs), type($rhs), type($result))",
	}
	Select = &ir.Def{
		Name: "arith.select", Doc: "Takes one of two values.",
		Operands: []ir.Arg{{Name: "condition"}, {Name: "true_value"}, {Name: "false_value"}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure,
		Format: "$condition `,` $true_value `,` $false_value attr-dict `:` custom<SelectType>(type($condition), type($true_value), type($false_value), type($result))",
	}
)

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name: "arith",
		Ops:  []*ir.Def{Constant, AddF, AddI, SubI, MulI, DivSI, IndexCast, CmpI, Select},
		Directives: map[string]*ir.Directive{
			"SameType":    {Parse: parseSameType, Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) { p.PrintType(args[0].Types[0]) }},
			"CompareType": {Parse: parseCompareType, Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) { p.PrintType(args[0].Types[0]) }},
			"SelectType":  {Parse: parseSelectType, Print: printSelectType},
			"Predicate":   {Parse: parsePredicate, Print: printPredicate},
		},
	}
}

func typeOf(a ir.Attr) ir.Type {
	switch a := a.(type) {
	case *ir.IntegerAttr:
		return a.Type()
	case *ir.FloatAttr:
		return a.Type()
	case *ir.DenseAttr:
		return a.Type()
	case *ir.ResourceAttr:
		return a.Type()
	}
	return nil
}

func parseConstant(p ir.AsmParser, st *ir.OpState) {
	p.ParseOptionalAttrDict(st)
	pos := p.Pos()
	a := p.ParseAttr(nil)
	t := typeOf(a)
	if t == nil {
		p.ErrorfAt(pos, "expected a typed attribute")
	}
	st.SetAttr("value", a)
	st.Types = append(st.Types, t)
}

func printConstant(p ir.AsmPrinter, op *ir.Op) {
	p.PrintAttrDict(op.Attrs(), "value")
	p.Print(" ")
	p.PrintAttr(op.Attr("value"))
}

func verifyConstant(op *ir.Op, r *ir.Reporter) {
	if t := typeOf(op.Attr("value")); t != op.Result(0).Type() {
		r.Errorf(op, "failed to verify that all of {value, result} have same type")
	}
}

// constantNames proposes %c8 for an index, %c8_i32 for an integer, %true and %false, %cst for the rest.
func constantNames(op *ir.Op, set func(*ir.Value, string)) {
	name := "cst"
	if i, ok := op.Attr("value").(*ir.IntegerAttr); ok {
		switch t := i.Type().(type) {
		case *ir.IndexType:
			name = "c" + strconv.FormatInt(i.Value(), 10)
		case *ir.IntegerType:
			name = "c" + strconv.FormatInt(i.Value(), 10) + "_" + t.String()
			if i.IsBool() {
				name = strconv.FormatBool(i.Value() != 0)
			}
		}
	}
	set(op.Result(0), name)
}

func parseSameType(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	t := p.ParseType()
	for i := range args {
		args[i].Types = []ir.Type{t}
	}
}

func parseCompareType(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	t := p.ParseType()
	args[0].Types, args[1].Types = []ir.Type{t}, []ir.Type{t}
	var out ir.Type = ir.Int(1)
	if tt, ok := t.(*ir.TensorType); ok {
		out = p.Context().Tensor(tt.Shape(), out, tt.Encoding())
		if !tt.Ranked() {
			out = p.Context().UnrankedTensor(ir.Int(1))
		}
	}
	args[2].Types = []ir.Type{out}
}

// parseSelectType reads the type of the values; before it, that of the condition where it is not i1.
func parseSelectType(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	var cond ir.Type = ir.Int(1)
	t := p.ParseType()
	if p.Accept(",") {
		cond, t = t, p.ParseType()
	}
	args[0].Types = []ir.Type{cond}
	for i := 1; i < 4; i++ {
		args[i].Types = []ir.Type{t}
	}
}

func printSelectType(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
	if cond := args[0].Types[0]; cond != ir.Type(ir.Int(1)) {
		p.PrintType(cond)
		p.Print(", ")
	}
	p.PrintType(args[3].Types[0])
}

var predicates = [...]string{"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"}

func parsePredicate(p ir.AsmParser, st *ir.OpState, args []ir.DirectiveArg) {
	pos := p.Pos()
	word := p.ParseKeyword()
	for i, s := range predicates {
		if s == word {
			args[0].Attr = ir.NewInteger(int64(i), ir.Int(64))
			return
		}
	}
	p.ErrorfAt(pos, "unknown predicate '%s'", word)
}

func printPredicate(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
	if i, ok := args[0].Attr.(*ir.IntegerAttr); ok && i.Value() >= 0 && i.Value() < int64(len(predicates)) {
		p.Print(predicates[i.Value()])
	}
}
