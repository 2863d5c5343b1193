package view

import "github.com/hlocb/hlocb/ir"

// Parts of rows that several dialects share.

// SameType is a directive for the one type of all its arguments.
var SameType = &ir.Directive{
	Parse: func(p ir.AsmParser, _ *ir.OpState, args []ir.DirectiveArg) {
		t := p.ParseType()
		for i := range args {
			args[i].Types = []ir.Type{t}
		}
	},
	Print: func(p ir.AsmPrinter, _ *ir.Op, args []ir.DirectiveArg) { p.PrintTypes(args[0].Types) },
}

// InferFirst infers the type of the first operand.
func InferFirst(_ *ir.Context, st *ir.OpState) ([]ir.Type, error) {
	return []ir.Type{st.Operands[0].Type()}, nil
}

// VerifySame checks that the operands have the type of the result.
func VerifySame(op *ir.Op, r *ir.Reporter) { SameTypes(op, r) }

// SameTypes is like VerifySame and reports whether there is no error.
func SameTypes(op *ir.Op, r *ir.Reporter) bool {
	for _, v := range op.Operands() {
		if v.Type() != op.Result(0).Type() {
			r.Errorf(op, "requires the same type for all operands and results")
			return false
		}
	}
	return true
}

// Types returns the types of values.
func Types(values []*ir.Value) []ir.Type {
	var out []ir.Type
	for _, v := range values {
		out = append(out, v.Type())
	}
	return out
}

// ComputationFlow returns the flow of a computation that runs its body once.
func ComputationFlow(remap func(m *ir.Module, op *ir.Op, operands, results []int) error) *ir.Flow {
	return &ir.Flow{
		Runs: []ir.Runs{ir.RunsOnce},
		Edges: []ir.FlowEdge{
			{From: ir.Port{At: ir.AtOperands}, To: ir.Port{At: ir.AtArgs}}, {From: ir.Port{At: ir.AtYields}, To: ir.Port{At: ir.AtResults}},
		},
		Remap: remap,
	}
}
