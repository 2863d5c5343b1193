package fn

import "github.com/hlocb/hlocb/ir"

// CallIndirect is func.call_indirect.
var CallIndirect = &ir.Def{
	Name:     "func.call_indirect",
	Doc:      "Calls a function that is a value.",
	Operands: []ir.Arg{{Name: "callee", Type: functionType}, {Name: "callee_operands", Mult: ir.Variadic}},
	Results:  []ir.Arg{{Name: "results", Mult: ir.Variadic}},
	Attrs:    []ir.AttrSpec{{Name: AttrArgAttrs, Optional: true}, {Name: AttrResAttrs, Optional: true}},
	Format:   "$callee `(` $callee_operands `)` attr-dict `:` custom<CalleeType>(type($callee), type($callee_operands), type($results))",
	Verify:   verifyCallIndirect,
}

// Constant is func.constant.
var Constant = &ir.Def{
	Name:    "func.constant",
	Doc:     "Returns a function of the module as a value.",
	Results: []ir.Arg{{Name: "result", Type: functionType}},
	Attrs: []ir.AttrSpec{{Name: "value", Type: ir.AttrConstraint{
		Summary: "flat symbol reference attribute", Kind: ir.KindSymbol, Form: ir.FormBare,
		Check: func(a ir.Attr) bool { s, ok := a.(*ir.SymbolRefAttr); return ok && len(s.Nested()) == 0 },
	}}},
	Traits: ir.Pure,
	Format: "attr-dict $value `:` type(results)",
	Verify: verifyConstant,
	ResultNames: func(op *ir.Op, set func(*ir.Value, string)) {
		set(op.Result(0), "f")
	},
}

var functionType = ir.Constraint{Summary: "function type", Check: func(t ir.Type) bool { _, ok := t.(*ir.FunctionType); return ok }}

// directives returns the custom directives of the formats.
func directives() map[string]*ir.Directive {
	return map[string]*ir.Directive{"CalleeType": { // the types of operands and results follow from the callee's type
		Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
			t := p.ParseFunctionType()
			args[0].Types, args[1].Types, args[2].Types = []ir.Type{t}, t.Inputs(), t.Results()
		},
		Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) { p.PrintType(args[0].Types[0]) },
	}}
}

func verifyCallIndirect(op *ir.Op, r *ir.Reporter) {
	checkCall(op, r, op.Operand(0).Type().(*ir.FunctionType), op.OperandList()[1:])
}

// lookup returns the function with the given name in the nearest symbol table around op.
func lookup(op *ir.Op, r *ir.Reporter, name string) (FuncOp, bool) {
	if t := ir.SymbolTableOf(op); t != nil {
		return AsFunc(r.Symbols(t)[name])
	}
	return FuncOp{}, false
}

// verifyCall checks a call against the function that it calls (call C1, C2).
func verifyCall(op *ir.Op, r *ir.Reporter) {
	a, ok := op.Attr(AttrCallee).(*ir.SymbolRefAttr)
	if !ok || len(a.Nested()) > 0 {
		r.Errorf(op, "requires a 'callee' symbol reference attribute")
		return
	}
	f, ok := lookup(op, r, a.Root())
	if !ok {
		r.Errorf(op, "'%s' does not reference a valid function", a.Root())
		return
	}
	if f.Type() != nil {
		checkCall(op, r, f.Type(), op.OperandList())
	}
}

func checkCall(op *ir.Op, r *ir.Reporter, t *ir.FunctionType, operands []*ir.Value) {
	if len(operands) != len(t.Inputs()) {
		r.Errorf(op, "incorrect number of operands for callee")
		return
	}
	for i, v := range operands {
		if v.Type() != t.Inputs()[i] {
			r.Errorf(op, "operand type mismatch: expected operand type '%s', but provided '%s' for operand number %d", t.Inputs()[i], v.Type(), i)
			return
		}
	}
	if op.NumResults() != len(t.Results()) {
		r.Errorf(op, "incorrect number of results for callee")
		return
	}
	for i, v := range op.Results() {
		if v.Type() != t.Results()[i] {
			r.Errorf(op, "result type mismatch at index %d", i)
			return
		}
	}
}

func verifyConstant(op *ir.Op, r *ir.Reporter) {
	a, _ := op.Attr("value").(*ir.SymbolRefAttr)
	f, ok := lookup(op, r, a.Root())
	if !ok {
		r.Errorf(op, "reference to undefined function '%s'", a.Root())
		return
	}
	if f.Type() != op.Result(0).Type() {
		r.Errorf(op, "reference to function with mismatched type")
	}
}
