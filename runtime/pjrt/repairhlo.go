//go:build cgo

package pjrt

import (
	"slices"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/dialect/mhlo"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/rewrite"
	"github.com/hlocb/hlocb/tensor"
)

// The repairs of this file replace ops that XLA's importer writes for optimized HLO, and whose translation back into
// HLO crashes XLA or is refused.

// resource returns the constant's value if a resource of the file holds it, or nil. XLA's plugins read no resources.
func resource(op *ir.Op) *ir.ResourceAttr {
	if !op.IsOrMirrors(stablehlo.Constant) {
		return nil
	}
	r, _ := op.Attr(stablehlo.AttrValue).(*ir.ResourceAttr)
	return r
}

func isResource(op *ir.Op) bool {
	r := resource(op)
	if r == nil {
		return false
	}
	_, err := op.Module().ResourceElements(r)
	return err == nil
}

func elementsInline(_ *rewrite.Rewriter, op *ir.Op) {
	r := resource(op)
	if t, err := op.Module().ResourceElements(r); err == nil {
		op.SetAttr(stablehlo.AttrValue, ir.NewDense(r.Type(), t, false))
	}
}

// dropsImaginary reports whether op converts complex numbers to others. XLA crashes if it folds such a constant.
func dropsImaginary(op *ir.Op) bool {
	if !op.IsOrMirrors(stablehlo.Convert) || op.NumOperands() != 1 {
		return false
	}
	from, ok := op.Operand(0).Type().(*ir.TensorType)
	to, also := op.Result(0).Type().(*ir.TensorType)
	return ok && also && from.DType().Kind() == tensor.KindComplex && to.DType().Kind() != tensor.KindComplex && to.DType() != tensor.Invalid
}

// convertRealPart converts the real part, as XLA does.
func convertRealPart(r *rewrite.Rewriter, op *ir.Op) {
	b := r.Before(op)
	if part, err := stablehlo.BuildReal(b, op.Operand(0)); err == nil {
		r.Replace(op, ir.Must(stablehlo.BuildConvert(b, part.Result(0), op.Result(0).Type())).Result(0))
	}
}

func isFusion(op *ir.Op) bool {
	if !op.Is(mhlo.Fusion) || len(op.Regions()) != 1 || len(op.Region(0).Blocks()) != 1 {
		return false
	}
	b := op.Region(0).Entry()
	end := b.Terminator()
	same := func(v *ir.Value, w *ir.Value) bool { return v.Type() == w.Type() }
	return end != nil && slices.EqualFunc(b.Args(), op.OperandList(), same) && slices.EqualFunc(end.OperandList(), op.ResultList(), same)
}

func inlineFusion(r *rewrite.Rewriter, op *ir.Op) {
	b := op.Region(0).Entry()
	end := b.Terminator()
	r.InlineBefore(b, op, op.OperandList()...)
	r.Replace(op, end.OperandList()...)
	r.Erase(end)
}

// orderOnly reports whether op forwards its first operand.
func orderOnly(op *ir.Op) bool {
	return (op.Is(mhlo.AddDependency) || op.Is(mhlo.Domain)) && op.NumOperands() > 0 && op.NumResults() == 1 && op.Operand(0).Type() == op.Result(0).Type()
}

func forwardFirst(r *rewrite.Rewriter, op *ir.Op) { r.Replace(op, op.Operand(0)) }

// asyncStart returns the start of an asynchronous call, or nil.
func asyncStart(done *ir.Op) *ir.Op {
	op := done
	for op != nil && (op.Is(mhlo.AsyncDone) || op.Is(mhlo.AsyncUpdate)) && op.NumOperands() == 1 {
		op = op.Operand(0).DefiningOp()
	}
	if op != nil && op.Is(mhlo.AsyncStart) && op.Attr(mhlo.AttrCalledComputation) != nil {
		return op
	}
	return nil
}

func isAsyncDone(op *ir.Op) bool { return op.Is(mhlo.AsyncDone) && asyncStart(op) != nil }

// callNow calls the function where the asynchronous call starts.
func callNow(r *rewrite.Rewriter, op *ir.Op) {
	start := asyncStart(op)
	call := r.Before(start).Create(fn.Call, start.OperandList(), op.ResultTypes(), ir.NamedAttr{Name: fn.AttrCallee, Attr: start.Attr(mhlo.AttrCalledComputation)})
	chain := op.Operand(0).DefiningOp()
	r.Replace(op, call.ResultList()...)
	for chain != nil && !chain.Result(0).HasUses() {
		next := chain
		chain = nil
		if next != start {
			chain = next.Operand(0).DefiningOp()
		}
		r.Erase(next)
	}
}
