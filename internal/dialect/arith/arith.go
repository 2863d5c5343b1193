// Package arith holds the operations of MLIR's arith dialect that occur in StableHLO programs: constants and index
// arithmetic of dynamic shapes. Its other operations are kept as unknown operations.
package arith

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Constraints on operands and results: numbers, or vectors and tensors of numbers.
var (
	intLike   = like("signless-non-zero-bitwidth-integer-like", isInt)
	floatLike = like("floating-point-like", func(t ir.Type) bool { _, ok := t.(*ir.FloatType); return ok })
	boolLike  = like("bool-like", func(t ir.Type) bool { return t == ir.Type(ir.Int(1)) })
	castable  = ir.Constraint{Summary: "signless-non-zero-bitwidth-integer-like or memref of signless-integer", Check: func(t ir.Type) bool {
		m, ok := t.(*ir.ShapedType)
		return intLike.Check(t) || ok && m.Kind() == ir.MemRef && isInt(m.Elem())
	}}
)

func isInt(t ir.Type) bool {
	if i, ok := t.(*ir.IntegerType); ok {
		return i.Signedness() == ir.Signless && i.Width() > 0
	}
	_, ok := t.(*ir.IndexType)
	return ok
}

func like(summary string, is func(ir.Type) bool) ir.Constraint {
	return ir.Constraint{Summary: summary, Check: func(t ir.Type) bool { _, elem := parts(t); return is(elem) }}
}

// parts returns the shape and the element type of t. A number has no shape and is its own element type.
func parts(t ir.Type) (shape []int64, elem ir.Type) {
	switch t := t.(type) {
	case *ir.TensorType:
		if !t.Ranked() {
			return nil, t.Elem()
		}
		return append([]int64{}, t.Shape()...), t.Elem()
	case *ir.ShapedType:
		return append([]int64{}, t.Shape()...), t.Elem()
	}
	return nil, t
}

// sameShape reports whether two types have the same shape, or both have none.
func sameShape(a, b ir.Type) bool {
	x, _ := parts(a)
	y, _ := parts(b)
	return (x == nil) == (y == nil) && slices.Equal(x, y)
}

func verifyCompare(op *ir.Op, r *ir.Reporter) {
	a, b, t := op.Operand(0).Type(), op.Operand(1).Type(), op.Result(0).Type()
	switch {
	case a != b:
		r.Errorf(op, "requires all operands to have the same type")
	case !sameShape(a, t):
		r.Errorf(op, "failed to verify that result type has i1 element type and same shape as operands")
	}
}

func verifySelect(op *ir.Op, r *ir.Reporter) {
	c, a, b, t := op.Operand(0).Type(), op.Operand(1).Type(), op.Operand(2).Type(), op.Result(0).Type()
	switch {
	case a != b || a != t:
		r.Errorf(op, "failed to verify that all of {true_value, false_value, result} have same type")
	case c != ir.Type(ir.Int(1)) && !sameShape(c, t):
		r.Errorf(op, "failed to verify that condition is signless i1 or has matching shape")
	}
}

func verifyCast(op *ir.Op, r *ir.Reporter) {
	a, b := op.Operand(0).Type(), op.Result(0).Type()
	if !sameShape(a, b) {
		r.Errorf(op, "failed to verify that input and output have the same tensor dimensions")
		return
	}
	_, x := parts(a)
	_, y := parts(b)
	_, ix := x.(*ir.IndexType)
	_, iy := y.(*ir.IndexType)
	if ix == iy {
		r.Errorf(op, "operand type '%s' and result type '%s' are cast incompatible", a, b)
	}
}

const sameTypeFormat = " attr-dict `:` custom<SameType>(type($lhs), type($rhs), type($result))"

func binary(name, doc string, t ir.Constraint, more ir.Traits) *ir.Def {
	return &ir.Def{
		Name: "arith." + name, Doc: doc,
		Operands: []ir.Arg{{Name: "lhs", Type: t}, {Name: "rhs", Type: t}},
		Results:  []ir.Arg{{Name: "result", Type: t}},
		Traits:   ir.Pure | ir.SameType | more,
		Format:   "$lhs `,` $rhs" + sameTypeFormat,
		Infer:    view.InferFirst, Verify: view.VerifySame,
	}
}

// FlagSet is the data of an attribute that is a set of flags, one bit per flag.
type FlagSet struct{ Set int }

// flags returns the row of an attribute that is a set of words. class is its name in MLIR, all is the word for the full
// set ("" if there is none), and comma separates two words in print.
func flags(mnemonic, class, doc, all, comma string, words ...string) *ir.AttrDef {
	names := append([]string{"none"}, words...)
	if all != "" {
		names = append(names, all)
	}
	full := 1<<len(words) - 1
	return ir.NewAttrDef[FlagSet](ir.AttrDef{
		Dialect: "arith", Name: mnemonic, Doc: doc,
		Summary: "flags: " + strings.Join(names, ", "),
		Syntax:  "<word, ...>, of " + strings.Join(names, ", "),
		Parse: func(p ir.AsmParser, _ *ir.AttrDef) any {
			f := &FlagSet{}
			p.Expect("<")
			p.ParseList("", "", func() {
				pos := p.Pos()
				switch i := slices.Index(names, p.ParseKeywordOrString()); {
				case i < 0:
					p.ErrorfAt(pos, "expected ::mlir::arith::%s to be one of: %s", class, strings.Join(names, ", "))
				case i > len(words):
					f.Set = full
				case i > 0:
					f.Set |= 1 << (i - 1)
				}
			})
			p.Expect(">")
			return f
		},
		Print: func(_ *ir.AttrDef, data any) string {
			var set []string
			for i, w := range words {
				if data.(*FlagSet).Set>>i&1 != 0 {
					set = append(set, w)
				}
			}
			switch {
			case len(set) == 0:
				set = []string{"none"}
			case len(set) == len(words) && all != "":
				set = []string{all}
			}
			return "<" + strings.Join(set, comma) + ">"
		},
	})
}

// Attributes of the dialect.
var (
	OverflowAttr = flags("overflow", "IntegerOverflowFlags", "The overflows that do not happen.", "", ", ", "nsw", "nuw")
	FastMathAttr = flags("fastmath", "FastMathFlags", "The liberties that a compiler may take with floating-point numbers.", "fast", ",",
		"reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")
)

// flagged adds an attribute of flags. If an op omits it, no flag is set.
func flagged(d *ir.Def, name string, row *ir.AttrDef) *ir.Def {
	d.Attrs = []ir.AttrSpec{{Name: name, Default: row.New(&FlagSet{}), Type: row.Constraint()}}
	d.Format = "$lhs `,` $rhs (`" + row.Name + "` `` $" + name + "^)?" + sameTypeFormat
	return d
}

// withOptional adds an attribute that ops may omit.
func withOptional(d *ir.Def, name string) *ir.Def {
	d.Attrs = append(d.Attrs, ir.AttrSpec{Name: name, Optional: true})
	return d
}

func folded(d *ir.Def, fold func(*ir.Op) []ir.Folded) *ir.Def {
	d.Fold = fold
	return d
}

// The operations.
var (
	Constant = &ir.Def{
		Name: "arith.constant", Doc: "Returns a constant number or tensor.",
		Results: []ir.Arg{{Name: "result"}},
		Attrs:   []ir.AttrSpec{{Name: "value"}},
		Traits:  ir.Pure | ir.ConstantLike,
		Syntax:  "attr-dict $value, which names the type of the result",
		Parse:   parseConstant, Print: printConstant,
		Verify: verifyConstant, ResultNames: constantNames,
	}
	AddF      = withOptional(flagged(binary("addf", "Adds floating-point numbers.", floatLike, ir.Commutative), "fastmath", FastMathAttr), "roundingmode")
	AddI      = folded(flagged(binary("addi", "Adds integers.", intLike, ir.Commutative), "overflowFlags", OverflowAttr), foldSum)
	SubI      = folded(flagged(binary("subi", "Subtracts integers.", intLike, 0), "overflowFlags", OverflowAttr), foldDifference)
	MulI      = folded(flagged(binary("muli", "Multiplies integers.", intLike, ir.Commutative), "overflowFlags", OverflowAttr), foldProduct)
	DivSI     = folded(withOptional(binary("divsi", "Divides signed integers, towards zero.", intLike, 0), "isExact"), foldQuotient)
	IndexCast = &ir.Def{
		Name: "arith.index_cast", Doc: "Converts between index and integers.",
		Operands: []ir.Arg{{Name: "in", Type: castable}}, Results: []ir.Arg{{Name: "out", Type: castable}},
		Traits: ir.Pure, Verify: verifyCast, Fold: foldIndexCast,
		Clauses: ir.Clauses("one of in and out has indices, the other integers, and both one shape"),
		Format:  "$in attr-dict `:` type($in) `to` type($out)",
	}
	CmpI = &ir.Def{
		Name: "arith.cmpi", Doc: "Compares integers.",
		Operands: []ir.Arg{{Name: "lhs", Type: intLike}, {Name: "rhs", Type: intLike}}, Results: []ir.Arg{{Name: "result", Type: boolLike}},
		Attrs: []ir.AttrSpec{{Name: "predicate", Type: ir.AttrConstraint{Summary: "allowed 64-bit signless integer cases: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9", Check: func(a ir.Attr) bool {
			i, ok := a.(*ir.IntegerAttr)
			return ok && i.Type() == ir.Type(ir.Int(64)) && i.Value() >= 0 && i.Value() < int64(len(predicates))
		}}}},
		Traits: ir.Pure, Verify: verifyCompare, Fold: foldCompare,
		Clauses: ir.Clauses("lhs and rhs have one type, and the result its shape"),
		Format:  "custom<Predicate>($predicate) `,` $lhs `,` $rhs attr-dict `:` custom<CompareType>(type($lhs), type($rhs), type($result))",
	}
	Select = &ir.Def{
		Name: "arith.select", Doc: "Returns one of two values.",
		Operands: []ir.Arg{{Name: "condition", Type: boolLike}, {Name: "true_value"}, {Name: "false_value"}}, Results: []ir.Arg{{Name: "result"}},
		Traits: ir.Pure, Verify: verifySelect, Fold: foldSelect,
		Clauses: ir.Clauses("true_value, false_value and the result have one type; condition is one boolean or has their shape"),
		Format:  "$condition `,` $true_value `,` $false_value attr-dict `:` custom<SelectType>(type($condition), type($true_value), type($false_value), type($result))",
	}
)

// foreign lists the other operations.
const foreign = `
addui_extended
andi
bitcast
ceildivsi
ceildivui
cmpf fastmath? predicate
convertf fastmath? roundingmode?
divf fastmath? roundingmode?
divui isExact?
extf fastmath?
extsi
extui nonNeg?
floordivsi
flush_denormals fastmath?
fptosi
fptoui
index_castui nonNeg?
maximumf fastmath?
maxnumf fastmath?
maxsi
maxui
minimumf fastmath?
minnumf fastmath?
minsi
minui
mulf fastmath? roundingmode?
mulsi_extended
mului_extended
negf fastmath?
ori
remf fastmath?
remsi
remui
scaling_extf fastmath?
scaling_truncf fastmath? roundingmode?
shli overflowFlags?
shrsi isExact?
shrui isExact?
sitofp
subf fastmath? roundingmode?
subui_extended
truncf fastmath? roundingmode?
trunci overflowFlags?
uitofp nonNeg?
xori
`

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name:    "arith",
		Attrs:   []*ir.AttrDef{FastMathAttr, OverflowAttr},
		Foreign: ir.ForeignOps("arith", foreign),
		Ops:     []*ir.Def{Constant, AddF, AddI, SubI, MulI, DivSI, IndexCast, CmpI, Select},
		Directives: map[string]*ir.Directive{
			"SameType":    view.SameType,
			"CompareType": {Parse: parseCompareType, Print: view.SameType.Print},
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
	} else if i, ok := t.(*ir.IntegerType); ok && i.Signedness() != ir.Signless {
		r.Errorf(op, "integer return type must be signless")
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
			if i.Type() == ir.Type(ir.Int(1)) {
				name = strconv.FormatBool(i.Value() != 0)
			}
		}
	}
	set(op.Result(0), name)
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

// parseSelectType reads the type of the values, preceded by the type of the condition if that is not i1.
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
	i := slices.Index(predicates[:], word)
	if i < 0 {
		p.ErrorfAt(pos, "unknown predicate '%s'", word)
	}
	args[0].Attr = ir.NewInteger(int64(i), ir.Int(64))
}

func printPredicate(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) {
	if i, ok := args[0].Attr.(*ir.IntegerAttr); ok && i.Value() >= 0 && i.Value() < int64(len(predicates)) {
		p.Print(predicates[i.Value()])
	}
}
