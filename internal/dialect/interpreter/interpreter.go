// Package interpreter is the dialect of StableHLO's reference interpreter. Its operations run programs in parallel and
// observe values while programs run.
package interpreter

import (
	"github.com/hlocb/hlocb/dialect/fn"
	hlo "github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// The operations.
var (
	RunParallel = &ir.Def{
		Name: "interpreter.run_parallel", Doc: "Runs a grid of functions (replicas by partitions) in parallel, one process per function.",
		Operands: []ir.Arg{{Name: "inputs", Type: ods.FlowValue, Mult: ir.Variadic}},
		Results:  []ir.Arg{{Name: "results", Type: ods.FlowValue, Mult: ir.Variadic}},
		Attrs:    []ir.AttrSpec{{Name: "infeed", Type: ods.ArrayAttr, Optional: true}, {Name: "programs", Type: ods.ArrayAttr}},
		Verify:   verifyRunParallel,
	}
	Print = &ir.Def{
		Name: "interpreter.print", Doc: "Prints a value while the program runs.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.AnyQuantized}},
		Format:   "$operand attr-dict `:` type($operand)",
	}
	Probe = &ir.Def{
		Name: "interpreter.probe", Doc: "Writes a value to a file while the program runs, and forwards it.",
		Operands: []ir.Arg{{Name: "operand", Type: ods.AnyQuantized}},
		Results:  []ir.Arg{{Name: "result", Type: ods.AnyQuantized}},
		Attrs:    []ir.AttrSpec{{Name: "probe_id", Type: ods.StrAttr}},
		Format:   "$operand `,` `probe_id` `=` $probe_id attr-dict `:` custom<SameType>(type($operand), type($result))",
		Infer:    view.InferFirst,
		Verify: func(op *ir.Op, r *ir.Reporter) {
			if !hlo.Compatible(op.Operand(0).Type(), op.Result(0).Type()) {
				r.Errorf(op, "requires the same type for operand and result")
			}
		},
	}
)

// Dialect returns the dialect.
func Dialect() *ir.Dialect {
	return &ir.Dialect{
		Name: "interpreter", Ops: []*ir.Def{RunParallel, Print, Probe},
		Directives: map[string]*ir.Directive{"SameType": view.SameType},
	}
}

// verifyRunParallel checks that programs is a non-empty grid of functions, that the operands and results are the
// functions' operands and results joined, and that each function that feeds the infeed returns the types that the
// programs expect.
func verifyRunParallel(op *ir.Op, r *ir.Reporter) {
	programs, _ := op.Attr("programs").(*ir.ArrayAttr)
	if programs == nil || len(programs.Elems()) == 0 {
		r.Errorf(op, "`programs` attribute cannot be empty")
		return
	}
	table := op.Parent()
	for table != nil && !table.Has(ir.SymbolTable) {
		table = table.Parent()
	}
	lookup := func(a ir.Attr) (fn.FuncOp, bool) {
		name := ""
		switch s := a.(type) {
		case *ir.SymbolRefAttr:
			name = s.Root()
		case *ir.StringAttr:
			name = s.Value()
		}
		f, ok := fn.FuncOp{}, false
		if table != nil {
			f, ok = fn.AsFunc(r.Symbols(table)[name])
		}
		if !ok || f.Type() == nil {
			r.Errorf(op, "Function \"%s\" not found", name)
			return f, false
		}
		return f, true
	}
	width, inputs, results := -1, 0, 0
	for _, row := range programs.Elems() {
		a, ok := row.(*ir.ArrayAttr)
		if !ok {
			r.Errorf(op, "`programs` attribute must be an array of arrays")
			return
		}
		if width < 0 {
			width = len(a.Elems())
		}
		if len(a.Elems()) != width {
			r.Errorf(op, "Sizes of second dimension of `programs` should all match %d but got %d", width, len(a.Elems()))
			return
		}
		for _, e := range a.Elems() {
			f, ok := lookup(e)
			if !ok {
				return
			}
			inputs += len(f.Type().Inputs())
			results += len(f.Type().Results())
		}
	}
	if op.NumOperands() != inputs {
		r.Errorf(op, "Number of inputs (%d) should match the sum of the number of inputs of all programs (%d)", op.NumOperands(), inputs)
		return
	}
	if op.NumResults() != results {
		r.Errorf(op, "Number of results (%d) should match the sum of the number of results of all programs (%d)", op.NumResults(), results)
		return
	}
	infeed, ok := op.Attr("infeed").(*ir.ArrayAttr)
	if !ok {
		return
	}
	if len(infeed.Elems()) == 0 {
		r.Errorf(op, "infeed attribute is optional or should not be empty")
		return
	}
	for _, e := range infeed.Elems() {
		f, ok := lookup(e)
		if !ok {
			return
		}
		out := f.Type().Results()
		if len(out) != 1 {
			r.Errorf(op, "Function \"%s\" should return 1 tensor but returns %d", f.Symbol(), len(out))
			return
		}
		if _, ok := out[0].(*ir.TensorType); !ok {
			r.Errorf(op, "Function \"%s\" should return a tensor type, but instead returns '%s'", f.Symbol(), out[0])
			return
		}
	}
}
