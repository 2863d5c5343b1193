package fn

import "github.com/hlocb/hlocb/ir"

// FuncOp is func.func.
var FuncOp = &ir.Def{
	Name: "func.func",
	Doc:  "Defines or declares a function (StableHLO spec, Functions).",
	Attrs: []ir.AttrSpec{
		{Name: attrArgAttrs, Optional: true},
		{Name: attrType},
		{Name: "no_inline", Optional: true},
		{Name: attrResAttrs, Optional: true},
		{Name: ir.SymbolName, Type: ir.AttrConstraint{Summary: "string attribute", Check: func(a ir.Attr) bool { _, ok := a.(*ir.StringAttr); return ok }}},
		{Name: attrVisibility, Optional: true},
	},
	Regions:        []ir.RegionSpec{{Name: "body"}},
	Traits:         ir.IsolatedFromAbove | ir.Symbol,
	Syntax:         "visibility? $sym_name `(` argument, ... `)` (`->` results)? (`attributes` attr-dict)? $body?",
	Parse:          parseFunc,
	Print:          printFunc,
	Verify:         verifyFunc,
	VerifyEntry:    verifyValueAttrs,
	DefaultDialect: "func",
}

// Call is func.call.
var Call = &ir.Def{
	Name:     "func.call",
	Doc:      "Calls a function of the module by name (StableHLO spec, call).",
	Operands: []ir.Arg{{Name: "operands", Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Attrs: []ir.AttrSpec{
		{Name: attrArgAttrs, Optional: true},
		{Name: attrCallee},
		{Name: "no_inline", Optional: true},
		{Name: attrResAttrs, Optional: true},
	},
	Format: "$callee `(` $operands `)` attr-dict `:` functional-type(operands, results)",
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
	return &ir.Dialect{Name: "func", Ops: []*ir.Def{FuncOp, Call, CallIndirect, Constant, Return}, Directives: directives()}
}

// verifyFunc checks that the body takes what the type says.
func verifyFunc(op *ir.Op, r *ir.Reporter) {
	f := Func{op}
	t := f.Type()
	if t == nil {
		r.Errorf(op, "requires attribute 'function_type' that is a function type")
		return
	}
	if f.External() {
		return
	}
	args := f.Body().Args()
	if len(args) != len(t.Inputs()) {
		r.Errorf(op, "entry block must have %d arguments to match function signature", len(t.Inputs()))
		return
	}
	for i, a := range args {
		if a.Type() != t.Inputs()[i] {
			r.Errorf(op, "type of entry block argument #%d(%s) must match the type of the corresponding argument in function signature(%s)",
				i, a.Type(), t.Inputs()[i])
			return
		}
	}
}

// verifyValueAttrs has the dialects check the attributes of arguments and results.
func verifyValueAttrs(op *ir.Op, r *ir.Reporter) {
	if t := (Func{op}).Type(); t != nil && checkValueAttrs(op, r, false, t.Inputs()) {
		checkValueAttrs(op, r, true, t.Results())
	}
}

// checkValueAttrs has the dialects check the attributes of arguments or results, and reports whether they are right.
func checkValueAttrs(op *ir.Op, r *ir.Reporter, result bool, types []ir.Type) bool {
	name := attrArgAttrs
	if result {
		name = attrResAttrs
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

// verifyReturn checks that the operands are what the function gives.
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
