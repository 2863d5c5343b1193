package fn

import (
	"slices"
	"strings"

	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Constraints on attributes of functions.
var (
	isText = ir.AttrConstraint{Summary: "string attribute", Kind: ir.KindString, Check: func(a ir.Attr) bool { _, ok := a.(*ir.StringAttr); return ok }}
	isUnit = ir.AttrConstraint{Summary: "unit attribute", Kind: ir.KindUnit, Check: func(a ir.Attr) bool { _, ok := a.(*ir.UnitAttr); return ok }}
	isDict = ir.AttrConstraint{Summary: "Array of dictionary attributes", Kind: ir.KindArray, Check: func(a ir.Attr) bool {
		list, ok := a.(*ir.ArrayAttr)
		return ok && !slices.ContainsFunc(list.Elems(), func(e ir.Attr) bool { _, ok := e.(*ir.DictAttr); return !ok })
	}}
	isFunctionType = ir.AttrConstraint{Summary: "type attribute of function type", Check: func(a ir.Attr) bool {
		t, ok := a.(*ir.TypeAttr)
		return ok && functionType.Check(t.Type())
	}}
)

// Func is func.func.
var Func = &ir.Def{
	Name: "func.func",
	Doc:  "Defines or declares a function (StableHLO spec, Functions).",
	Attrs: []ir.AttrSpec{
		{Name: AttrArgAttrs, Type: isDict, Optional: true},
		{Name: AttrFunctionType, Type: isFunctionType},
		{Name: AttrNoInline, Type: isUnit, Optional: true},
		{Name: AttrResAttrs, Type: isDict, Optional: true},
		{Name: ir.SymbolName, Type: isText},
		{Name: AttrSymVisibility, Type: isText, Optional: true},
	},
	Regions:        []ir.RegionSpec{{Name: "body"}},
	Traits:         ir.IsolatedFromAbove | ir.Symbol,
	Syntax:         "visibility? $sym_name `(` argument, ... `)` (`->` results)? (`attributes` attr-dict)? $body?",
	Parse:          parseFunc,
	Print:          printFunc,
	Verify:         verifyFunc,
	VerifyEntry:    verifyValueAttrs,
	Flow:           &ir.Flow{Runs: []ir.Runs{ir.RunsOnce}, Function: true, Remap: remapSignature},
	DefaultDialect: "func",
}

// Call is func.call.
var Call = &ir.Def{
	Name:     "func.call",
	Doc:      "Calls a function of the module by name (StableHLO spec, call).",
	Operands: []ir.Arg{{Name: "operands", Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		{Name: AttrArgAttrs, Optional: true},
		{Name: AttrCallee},
		{Name: AttrNoInline, Optional: true},
		{Name: AttrResAttrs, Optional: true},
	},
	Format: "$callee `(` $operands `)` attr-dict `:` functional-type(operands, results)",
	Flow:   &ir.Flow{Callee: AttrCallee, Inline: true, Remap: RemapAttrs},
	Verify: verifyCall,
}

// Return is func.return.
var Return = &ir.Def{
	Name:     "func.return",
	Doc:      "Ends a function with its results (StableHLO spec, Functions).",
	Operands: []ir.Arg{{Name: "operands", Mult: ir.Variadic}},
	Traits:   ir.Pure | ir.Terminator | ir.ReturnLike,
	Format:   "attr-dict ($operands^ `:` type($operands))?",
	Verify:   verifyReturn,
}

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name: "func", Ops: []*ir.Def{Func, Call, CallIndirect, Constant, Return}, Directives: directives(),
		VerifyAttr: verifyLayouts, RemapAttr: view.RemapLayouts,
	}
}

// verifyLayouts checks result_layouts of a call, or of a function for the values that it returns.
func verifyLayouts(op *ir.Op, name string, a ir.Attr, r *ir.Reporter) {
	if t, ok := op.Attr(AttrFunctionType).(*ir.TypeAttr); ok && op.Is(Func) {
		if f, ok := t.Type().(*ir.FunctionType); ok {
			view.VerifyLayoutsOf(op, name, a, f.Results(), r)
		}
		return
	}
	view.VerifyLayouts(op, name, a, r)
}

// verifyFunc checks the arguments of the body against the function type.
func verifyFunc(op *ir.Op, r *ir.Reporter) {
	f := FuncOp{op}
	t := f.Type()
	if t == nil {
		r.Errorf(op, "requires attribute 'function_type' that is a function type")
		return
	}
	visibility := "public"
	if v, ok := op.Attr(AttrSymVisibility).(*ir.StringAttr); ok {
		visibility = v.Value()
	}
	switch {
	case !slices.Contains([]string{"public", "private", "nested"}, visibility):
		r.Errorf(op, `visibility expected to be one of ["public", "private", "nested"], but got %q`, visibility)
		return
	case f.External() && visibility == "public":
		r.Errorf(op, "symbol declaration cannot have public visibility")
		return
	case !listsAttrs(op, r, AttrArgAttrs, "argument", len(t.Inputs())) || !listsAttrs(op, r, AttrResAttrs, "result", len(t.Results())):
		return
	case f.External():
		return
	}
	args := f.Body().Args()
	if len(args) != len(t.Inputs()) {
		r.Errorf(op, "entry block must have %d arguments to match function signature", len(t.Inputs()))
		return
	}
	for i, a := range args {
		if a.Type() != t.Inputs()[i] {
			r.Errorf(op, "type of entry block argument #%d('%s') must match the type of the corresponding argument in function signature('%s')",
				i, a.Type(), t.Inputs()[i])
			return
		}
	}
}

// listsAttrs reports whether each of n arguments or results has a list of attributes that all belong to dialects.
func listsAttrs(op *ir.Op, r *ir.Reporter, name, side string, n int) bool {
	list, ok := op.Attr(name).(*ir.ArrayAttr)
	if !ok {
		return true
	}
	if len(list.Elems()) != n {
		r.Errorf(op, "expects %s attribute array to have the same number of elements as the number of function %ss, got %d, but expected %d", side, side, len(list.Elems()), n)
		return false
	}
	for _, e := range list.Elems() {
		for _, a := range e.(*ir.DictAttr).Entries() {
			if !strings.Contains(a.Name, ".") {
				r.Errorf(op, "%ss may only have dialect attributes", side)
				return false
			}
		}
	}
	return true
}

// verifyValueAttrs lets the dialects check the attributes of arguments and results.
func verifyValueAttrs(op *ir.Op, r *ir.Reporter) {
	if t := (FuncOp{op}).Type(); t != nil && checkValueAttrs(op, r, false, t.Inputs()) {
		checkValueAttrs(op, r, true, t.Results())
	}
}

// checkValueAttrs lets the dialects check the attributes of arguments or results, and reports whether they are valid.
func checkValueAttrs(op *ir.Op, r *ir.Reporter, result bool, types []ir.Type) bool {
	name := AttrArgAttrs
	if result {
		name = AttrResAttrs
	}
	list, ok := op.Attr(name).(*ir.ArrayAttr)
	if !ok {
		return true
	}
	for i, e := range list.Elems() {
		if d, ok := e.(*ir.DictAttr); ok && i < len(types) && !r.VerifyValueAttrs(op, result, i, types[i], d.Entries()) {
			return false
		}
	}
	return true
}

// verifyReturn checks the operands against the function's result types.
func verifyReturn(op *ir.Op, r *ir.Reporter) {
	f, ok := AsFunc(op.Parent())
	if !ok {
		r.Errorf(op, "expects parent op 'func.func'")
		return
	}
	if f.Type() == nil {
		return
	}
	results := f.Type().Results()
	if op.NumOperands() != len(results) {
		r.Errorf(op, "has %d operands, but enclosing function (@%s) returns %d", op.NumOperands(), f.Symbol(), len(results))
		return
	}
	for i, v := range op.Operands() {
		if v.Type() != results[i] {
			r.PlainErrorf(op, "type of return operand %d ('%s') doesn't match function result type ('%s') in function @%s",
				i, v.Type(), results[i], f.Symbol())
			return
		}
	}
}
