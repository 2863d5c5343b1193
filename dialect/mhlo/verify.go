package mhlo

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/dialect/view"
	"github.com/hlocb/hlocb/ir"
)

// Constraints on operands and results.
var (
	bundle = ir.Constraint{Summary: "async_bundle with any combination of values", Check: func(t ir.Type) bool { return bundleOf(t) != nil }}
	sizes  = ir.Constraint{Summary: "1D tensor of index values", Check: func(t ir.Type) bool {
		tt, ok := t.(*ir.TensorType)
		if !ok || !tt.Ranked() || tt.Rank() != 1 {
			return false
		}
		_, ok = tt.Elem().(*ir.IndexType)
		return ok
	}}
	words = ir.Constraint{Summary: "statically shaped tensor of 64-bit unsigned integer values", Check: func(t ir.Type) bool {
		tt, ok := t.(*ir.TensorType)
		if !ok || !tt.Ranked() || slices.Contains(tt.Shape(), ir.Dynamic) {
			return false
		}
		i, ok := tt.Elem().(*ir.IntegerType)
		return ok && i.Width() == 64 && i.Signedness() == ir.Unsigned
	}}
)

func bundleOf(t ir.Type) *AsyncBundle {
	if d, ok := t.(*ir.DialectType); ok && d.Dialect() == "mhlo" {
		b, _ := d.Data().(*AsyncBundle)
		return b
	}
	return nil
}

// callee returns the function that an async_start calls.
func callee(op *ir.Op, r *ir.Reporter) (fn.FuncOp, bool) {
	name, ok := op.Attr("called_computation").(*ir.SymbolRefAttr)
	if !ok {
		return fn.FuncOp{}, false
	}
	if t := ir.SymbolTableOf(op); t != nil {
		return fn.AsFunc(r.Symbols(t)[name.Root()])
	}
	return fn.FuncOp{}, false
}

func verifyAsyncStart(op *ir.Op, r *ir.Reporter) {
	name := op.Attr("called_computation").(*ir.SymbolRefAttr).Root()
	f, ok := callee(op, r)
	if !ok || f.Type() == nil {
		r.Errorf(op, "can't find function: %s", name)
		return
	}
	thread, ok := f.Attr("execution_thread").(*ir.StringAttr)
	if !ok {
		r.Errorf(op, "callee must have execution_thread attribute.")
		return
	}
	if got := op.Attr("execution_thread").(*ir.StringAttr); got.Value() != thread.Value() {
		r.Errorf(op, "execution_thread does not match the execution_thread of %s. Got: %q, but expected %q.", name, got.Value(), thread.Value())
		return
	}
	got, want := view.Types(op.OperandList()), f.Type().Inputs()
	if len(got) != len(want) {
		r.Errorf(op, "number of operands doesn't match operands for %s. Got: %d, but expected: %d.", name, len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			r.Errorf(op, "type mismatch on argument #%d of %s. Got: '%s', but expected: '%s'.", i, name, got[i], want[i])
			return
		}
	}
	verifyBundle(op, r, op.Result(0).Type(), f.Type())
}

// verifyBundle checks that a bundle starts with the operand types and the result types of a function.
func verifyBundle(op *ir.Op, r *ir.Reporter, t ir.Type, f *ir.FunctionType) bool {
	types := bundleOf(t).Types
	switch {
	case len(types) < 2:
		r.Errorf(op, "bundle is expected to have at least 2 components, but got %d", len(types))
	case !slices.Equal(flat(types[0]), f.Inputs()):
		r.Errorf(op, "component #0 of async bundle doesn't match callee input types")
	case len(f.Results()) == 1 && types[1] != f.Results()[0], len(f.Results()) != 1 && !slices.Equal(flat(types[1]), f.Results()):
		r.Errorf(op, "component #1 of async bundle doesn't match callee result types")
	default:
		return true
	}
	return false
}

// flat returns the elements of a tuple type, or a list of the type itself.
func flat(t ir.Type) []ir.Type {
	if tuple, ok := t.(*ir.TupleType); ok {
		return tuple.Elems()
	}
	return []ir.Type{t}
}

// startedFunction returns the type of the function that the async_start of an async_update or async_done calls.
func startedFunction(op *ir.Op, r *ir.Reporter) *ir.FunctionType {
	for op != nil {
		switch op.Name() {
		case "mhlo.async_start":
			if f, ok := callee(op, r); ok {
				return f.Type()
			}
			return nil
		case "mhlo.async_update", "mhlo.async_done":
			if op.NumOperands() != 1 {
				return nil
			}
			op = op.Operand(0).DefiningOp()
		default:
			return nil
		}
	}
	return nil
}

func verifyAsyncUpdate(op *ir.Op, r *ir.Reporter) {
	f := startedFunction(op, r)
	switch {
	case f == nil:
		r.Errorf(op, "the bundle is not that of an async_start")
	case verifyBundle(op, r, op.Result(0).Type(), f):
		agree(op, r, view.Types(op.OperandList()))
	}
}

func verifyAsyncDone(op *ir.Op, r *ir.Reporter) {
	f := startedFunction(op, r)
	switch {
	case f == nil:
		r.Errorf(op, "the bundle is not that of an async_start")
	case verifyBundle(op, r, op.Operand(0).Type(), f):
		agree(op, r, f.Results())
	}
}

func agree(op *ir.Op, r *ir.Reporter, want []ir.Type) {
	if got := op.ResultTypes(); !slices.Equal(got, want) {
		r.Errorf(op, "inferred type(s) %s are incompatible with return type(s) of operation %s", ods.QuoteTypes(want), ods.QuoteTypes(got))
		r.Errorf(op, "failed to infer returned types")
	}
}

func verifyMinimumBroadcastShapes(op *ir.Op, r *ir.Reporter) {
	if m, n := op.NumOperands(), op.NumResults(); m != n {
		r.Errorf(op, "number of operand shapes (%d) does not match number of result shapes (%d)", m, n)
	}
}

func verifyRngState(op *ir.Op, r *ir.Reporter) {
	t := op.Result(0).Type().(*ir.TensorType)
	if t.Rank() != 1 {
		r.Errorf(op, "Output is of rank %d instead of 1", t.Rank())
	} else if n := t.Shape()[0]; n != 2 {
		r.Errorf(op, "Output size is %d instead of 2", n)
	}
}

func verifyStochasticConvert(op *ir.Op, r *ir.Reporter) {
	a, b, t := shape(op.Operand(0)), shape(op.Operand(1)), shape(op.Result(0))
	if !slices.Equal(a, b) || !slices.Equal(a, t) {
		r.Errorf(op, "failed to verify that all of {operand, random, result} have same shape")
		return
	}
	m, n := width(op.Operand(1)), width(op.Operand(0))
	if m != n {
		r.Errorf(op, "requires the random's bitwidth to match the operand's, but got: %d and %d", m, n)
	}
}

func width(v *ir.Value) int {
	t, ok := v.Type().(*ir.TensorType)
	if !ok {
		return 0
	}
	return ir.ElementDType(t.Elem()).Bits()
}

func shape(v *ir.Value) []int64 {
	if t, ok := v.Type().(*ir.TensorType); ok && t.Ranked() {
		return t.Shape()
	}
	return nil
}
