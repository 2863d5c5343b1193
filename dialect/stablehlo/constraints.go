package stablehlo

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// ElemSet is a set of element types with the name that MLIR's messages give it.
type ElemSet struct {
	Summary string
	Has     func(ir.Type) bool
}

// Element types of StableHLO (spec, "Types").
var (
	FP   = ElemSet{"4/6/8/16/32/64-bit float", isFloat}
	FP32 = ElemSet{"32/64-bit float", func(t ir.Type) bool {
		f, ok := t.(*ir.FloatType)
		return ok && (f.DType() == tensor.F32 || f.DType() == tensor.F64)
	}}
	Pred    = ElemSet{"bool", isPred}
	Int     = ElemSet{"2/4/8/16/32/64-bit integer", isInt}
	SInt    = ElemSet{"2/4/8/16/32/64-bit signless integer", isSInt}
	UI32    = ElemSet{"32-bit unsigned integer", func(t ir.Type) bool { return t == ir.Type(ui32) }}
	I32     = ElemSet{"32-bit signless integer", func(t ir.Type) bool { return t == ir.Type(i32) }}
	Complex = ElemSet{"complex type with 32/64-bit float elements", isComplex}
	QTensor = ElemSet{"per-tensor integer quantized", func(t ir.Type) bool { return quantOf(t).PerTensor() }}
	QAxis   = ElemSet{"per-axis integer quantized", func(t ir.Type) bool { return quantOf(t).PerAxis() }}
	Index   = ElemSet{"index", func(t ir.Type) bool { _, ok := t.(*ir.IndexType); return ok }}
	AnyInt  = ElemSet{"integer", func(t ir.Type) bool { _, ok := t.(*ir.IntegerType); return ok }}
)

var (
	i1   = ir.Int(1)
	i32  = ir.Int(32)
	i64  = ir.Int(64)
	ui32 = ir.ElementOf(tensor.UI32)
)

func isFloat(t ir.Type) bool { _, ok := t.(*ir.FloatType); return ok }

func isPred(t ir.Type) bool { return t == ir.Type(i1) }

func isSInt(t ir.Type) bool {
	i, ok := t.(*ir.IntegerType)
	return ok && i.Signedness() == ir.Signless && intWidth(i.Width())
}

func isInt(t ir.Type) bool {
	i, ok := t.(*ir.IntegerType)
	return ok && i.Signedness() != ir.Signed && intWidth(i.Width())
}

func intWidth(w int) bool {
	switch w {
	case 2, 4, 8, 16, 32, 64:
		return true
	}
	return false
}

func isComplex(t ir.Type) bool {
	c, ok := t.(*ir.ComplexType)
	return ok && FP32.Has(c.Elem())
}

// quantOf returns the parameters of a quantized element type that StableHLO knows (integer storage, float
// expressed type, parameters within range), nil for every other type.
func quantOf(t ir.Type) *quant.Uniform {
	u := quant.Of(t)
	if u == nil {
		return nil
	}
	if u.Foreign || !isSInt(u.Storage) || !isFloat(u.Expressed) {
		return nil
	}
	for _, z := range u.ZeroPoints { // (quantized element types C8)
		if z < u.Min || z > u.Max {
			return nil
		}
	}
	return u
}

// fitsAxis reports whether a per-axis quantization has a scale for each index of its dimension (quantized element
// types C12, C13).
func fitsAxis(t *ir.TensorType) bool {
	u := quant.Of(t.Elem())
	if !u.PerAxis() {
		return true
	}
	if !t.Ranked() || u.Axis >= t.Rank() {
		return false
	}
	d := t.Shape()[u.Axis]
	return d == ir.Dynamic || d == int64(len(u.Scales))
}

// isQuantized reports whether t is a quantized element type.
func isQuantized(t ir.Type) bool { return quant.Of(t) != nil }

func sets(s []ElemSet) (summary string, has func(ir.Type) bool) {
	names := make([]string, len(s))
	for i := range s {
		names[i] = s[i].Summary
	}
	return strings.Join(names, " or "), func(t ir.Type) bool {
		for i := range s {
			if s[i].Has(t) {
				return true
			}
		}
		return false
	}
}

// tensors returns the constraint "<what> of <sets> values" on tensors that ok accepts.
func tensors(what string, s []ElemSet, ok func(*ir.TensorType) bool) ir.Constraint {
	summary, has := sets(s)
	return ir.Constraint{Summary: what + " of " + summary + " values", Check: func(t ir.Type) bool {
		tt, isTensor := t.(*ir.TensorType)
		return isTensor && ok(tt) && has(tt.Elem()) && fitsAxis(tt)
	}}
}

func ranked(t *ir.TensorType) bool { return t.Ranked() }

// Tensor accepts ranked tensors, AnyTensor unranked ones too.
func Tensor(s ...ElemSet) ir.Constraint { return tensors("ranked tensor", s, ranked) }

// AnyTensor accepts ranked and unranked tensors.
func AnyTensor(s ...ElemSet) ir.Constraint {
	return tensors("tensor", s, func(*ir.TensorType) bool { return true })
}

// StaticTensor accepts tensors whose sizes are all known.
func StaticTensor(s ...ElemSet) ir.Constraint {
	return tensors("statically shaped tensor", s, func(t *ir.TensorType) bool { return t.Static() })
}

// Scalar accepts tensors of rank 0, Tensor1D those of rank 1.
func Scalar(s ...ElemSet) ir.Constraint {
	return tensors("0D tensor", s, func(t *ir.TensorType) bool { return t.Ranked() && t.Rank() == 0 })
}

// Tensor1D accepts tensors of rank 1.
func Tensor1D(s ...ElemSet) ir.Constraint {
	return tensors("1D tensor", s, func(t *ir.TensorType) bool { return t.Ranked() && t.Rank() == 1 })
}

func static1D(s ...ElemSet) ir.Constraint {
	return tensors("statically shaped 1-dimensional tensor", s, func(t *ir.TensorType) bool { return t.Static() && t.Rank() == 1 })
}

func staticInts1D() ir.Constraint {
	return tensors("statically shaped 1-dimensional integer tensor", []ElemSet{Int}, func(t *ir.TensorType) bool { return t.Static() && t.Rank() == 1 })
}

func staticInts2D() ir.Constraint {
	return tensors("statically shaped 2-dimensional integer tensor", []ElemSet{Int}, func(t *ir.TensorType) bool { return t.Static() && t.Rank() == 2 })
}

// boundedTensor accepts static tensors and those with one dimension that is bounded instead.
func boundedTensor(s ...ElemSet) ir.Constraint {
	return tensors("statically shaped or single bounded dimension tensor", s, func(t *ir.TensorType) bool {
		if t.Static() {
			return true
		}
		bounds := boundsOf(t)
		dynamic, bounded := 0, 0
		for i, d := range t.Shape() {
			if d == ir.Dynamic {
				dynamic++
				if i < len(bounds) && bounds[i] != ir.Dynamic {
					bounded++
				}
			}
		}
		return t.Ranked() && dynamic == 1 && bounded == 1
	})
}

// Token accepts !stablehlo.token.
var Token = ir.Constraint{Summary: "token", Check: IsToken}

var future = ir.Constraint{Summary: "future", Check: func(t ir.Type) bool {
	d, ok := t.(*ir.DialectType)
	return ok && d.Name() == "future"
}}

func memref(s ...ElemSet) ir.Constraint {
	summary, has := sets(s)
	return ir.Constraint{Summary: "memref of " + summary + " values", Check: func(t ir.Type) bool {
		m, ok := t.(*ir.ShapedType)
		return ok && m.Kind() == ir.MemRef && has(m.Elem())
	}}
}

// anyOf accepts what any of the constraints accepts.
func anyOf(cs ...ir.Constraint) ir.Constraint {
	names := make([]string, len(cs))
	for i := range cs {
		names[i] = cs[i].Summary
	}
	return ir.Constraint{Summary: strings.Join(names, " or "), Check: func(t ir.Type) bool {
		for i := range cs {
			if cs[i].Check(t) {
				return true
			}
		}
		return false
	}}
}

// tuples accepts tuples whose leaves elem accepts.
func tuples(elem ir.Constraint) ir.Constraint {
	var check func(ir.Type) bool
	check = func(t ir.Type) bool {
		tt, ok := t.(*ir.TupleType)
		if !ok {
			return false
		}
		for _, e := range tt.Elems() {
			if !elem.Check(e) && !check(e) {
				return false
			}
		}
		return true
	}
	return ir.Constraint{Summary: "nested tuple with any combination of " + elem.Summary + " values", Check: check}
}

// What most operations take: any tensor, and the same with per-axis quantized elements.
var (
	anyTensor    = Tensor(FP, Pred, Int, Complex, QTensor)
	anyTensorQ   = Tensor(FP, Pred, Int, Complex, QTensor, QAxis)
	unrankedAny  = AnyTensor(FP, Pred, Int, Complex, QTensor, QAxis)
	fpOrComplex  = Tensor(FP, Complex, QTensor)
	numeric      = Tensor(Int, FP, Complex, QTensor)
	predOrInt    = Tensor(Pred, Int)
	predTensor   = Tensor(Pred)
	shapeTensor  = static1D(Index, Int)
	anyMemref    = memref(FP, Pred, Int, Complex, QTensor)
	qAxisTensor  = Tensor(QAxis)
	tupleOf      = tuples(anyOf(anyTensor, anyMemref, qAxisTensor, Token))
	tupleElem    = anyOf(anyTensor, qAxisTensor, Token, tupleOf)
	callOperand  = anyOf(unrankedAny, anyMemref, Token, tuples(anyOf(unrankedAny, anyMemref, Token)), future)
	transferable = anyOf(StaticTensor(FP, Pred, Int, Complex, QTensor), StaticTensor(FP, Pred, Int, Complex, QTensor, QAxis), Token)
)
