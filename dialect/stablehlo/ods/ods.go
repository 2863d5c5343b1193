// Package ods holds the constraints in StableHLO's operation definitions: sets of element types, tensor types of
// operands and results, and attributes of operations. The summaries match MLIR's messages. The dialects that build on
// StableHLO use the same constraints.
package ods

import (
	"strings"

	"github.com/hlocb/hlocb/dialect/quant"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

// ElemSet is a set of element types, with its name in MLIR's messages.
type ElemSet struct {
	Summary string
	Has     func(ir.Type) bool
}

// Element types of StableHLO (spec, "Types").
var (
	FP   = ElemSet{"4/6/8/16/32/64-bit float", IsFloat}
	FP32 = ElemSet{"32/64-bit float", func(t ir.Type) bool {
		f, ok := t.(*ir.FloatType)
		return ok && (f.DType() == tensor.F32 || f.DType() == tensor.F64)
	}}
	Pred    = ElemSet{"bool", func(t ir.Type) bool { return t == ir.Type(i1) }}
	Int     = ElemSet{"2/4/8/16/32/64-bit integer", isInt}
	SInt    = ElemSet{"2/4/8/16/32/64-bit signless integer", isSInt}
	UInt    = ElemSet{"2/4/8/16/32/64-bit unsigned integer", isUInt}
	UI32    = ElemSet{"32-bit unsigned integer", func(t ir.Type) bool { return t == ir.Type(ui32) }}
	I32     = ElemSet{"32-bit signless integer", func(t ir.Type) bool { return t == ir.Type(i32) }}
	Complex = ElemSet{"complex type with 32/64-bit float elements", isComplex}
	QTensor = ElemSet{"per-tensor integer quantized", func(t ir.Type) bool { return quantOf(t).PerTensor() }}
	QAxis   = ElemSet{"per-axis integer quantized", func(t ir.Type) bool { return quantOf(t).PerAxis() }}
	Index   = ElemSet{"index", func(t ir.Type) bool { _, ok := t.(*ir.IndexType); return ok }}
)

var (
	i1   = ir.Int(1)
	i32  = ir.Int(32)
	i64  = ir.Int(64)
	ui32 = ir.ElementOf(tensor.UI32)
)

// IsFloat reports whether t is a floating-point type.
func IsFloat(t ir.Type) bool { _, ok := t.(*ir.FloatType); return ok }

func isSInt(t ir.Type) bool {
	i, ok := t.(*ir.IntegerType)
	return ok && i.Signedness() == ir.Signless && isWidth(i.Width())
}

func isUInt(t ir.Type) bool {
	i, ok := t.(*ir.IntegerType)
	return ok && i.Signedness() == ir.Unsigned
}

func isInt(t ir.Type) bool {
	i, ok := t.(*ir.IntegerType)
	return ok && i.Signedness() != ir.Signed && isWidth(i.Width())
}

func isWidth(w int) bool {
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

// quantOf returns the parameters of a quantized element type that StableHLO accepts: integer storage, float expressed
// type, parameters in range. It returns nil for any other type.
func quantOf(t ir.Type) *quant.Uniform {
	u := quant.Of(t)
	if u == nil {
		return nil
	}
	if !isInt(u.Storage) || !IsFloat(u.Expressed) {
		return nil
	}
	for _, z := range u.ZeroPoints { // (quantized element types C8)
		if z < u.Min || z > u.Max {
			return nil
		}
	}
	return u
}

// fitsAxis reports whether a per-axis quantization has one scale per index of its dimension (quantized element types
// C12, C13).
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

// TensorOf accepts the tensors for which accept returns true and whose element type is in one of the sets. Its summary
// is "<what> of <sets> values".
func TensorOf(prefix string, s []ElemSet, accept func(*ir.TensorType) bool) ir.Constraint {
	summary, has := sets(s)
	return ir.Constraint{Summary: prefix + " of " + summary + " values", Check: func(t ir.Type) bool {
		tt, ok := t.(*ir.TensorType)
		return ok && accept(tt) && has(tt.Elem()) && fitsAxis(tt)
	}}
}

func ofRank(n int, static bool) func(*ir.TensorType) bool {
	return func(t *ir.TensorType) bool { return t.Ranked() && t.Rank() == n && (!static || t.Static()) }
}

// Tensor accepts ranked tensors.
func Tensor(s ...ElemSet) ir.Constraint {
	return TensorOf("ranked tensor", s, (*ir.TensorType).Ranked)
}

// AnyTensor accepts ranked and unranked tensors.
func AnyTensor(s ...ElemSet) ir.Constraint {
	return TensorOf("tensor", s, func(*ir.TensorType) bool { return true })
}

// StaticTensor accepts tensors whose sizes are all known.
func StaticTensor(s ...ElemSet) ir.Constraint {
	return TensorOf("statically shaped tensor", s, (*ir.TensorType).Static)
}

// Scalar accepts tensors of rank 0.
func Scalar(s ...ElemSet) ir.Constraint { return TensorOf("0D tensor", s, ofRank(0, false)) }

// Tensor1D accepts tensors of rank 1.
func Tensor1D(s ...ElemSet) ir.Constraint { return TensorOf("1D tensor", s, ofRank(1, false)) }

// Static1D accepts tensors of rank 1 and known size.
func Static1D(s ...ElemSet) ir.Constraint {
	return TensorOf("statically shaped 1-dimensional tensor", s, ofRank(1, true))
}

// StaticInts accepts integer tensors of the given rank, 1 or 2, whose sizes are all known.
func StaticInts(rank int) ir.Constraint {
	prefix := "statically shaped 1-dimensional integer tensor"
	if rank == 2 {
		prefix = "statically shaped 2-dimensional integer tensor"
	}
	return TensorOf(prefix, []ElemSet{Int}, ofRank(rank, true))
}

// IsToken reports whether t is a token of StableHLO or of MHLO.
func IsToken(t ir.Type) bool {
	d, ok := t.(*ir.DialectType)
	return ok && d.Name() == "token" && (d.Dialect() == "stablehlo" || d.Dialect() == "mhlo")
}

// Token accepts tokens.
var Token = ir.Constraint{Summary: "token", Check: IsToken}

// Memref accepts memrefs.
func Memref(s ...ElemSet) ir.Constraint {
	summary, has := sets(s)
	return ir.Constraint{Summary: "memref of " + summary + " values", Check: func(t ir.Type) bool {
		m, ok := t.(*ir.ShapedType)
		return ok && m.Kind() == ir.MemRef && has(m.Elem())
	}}
}

// AnyOf accepts the types that any of the constraints accepts.
func AnyOf(cs ...ir.Constraint) ir.Constraint {
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

// Tuples accepts tuples whose leaves elem accepts.
func Tuples(elem ir.Constraint) ir.Constraint {
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

// Operands and results that several operations share.
var (
	AnyRanked     = Tensor(FP, Pred, Int, Complex, QTensor)
	AnyQuantized  = Tensor(FP, Pred, Int, Complex, QTensor, QAxis)
	AnyUnranked   = AnyTensor(FP, Pred, Int, Complex, QTensor, QAxis)
	FPOrComplex   = Tensor(FP, Complex, QTensor)
	Numeric       = Tensor(Int, FP, Complex, QTensor)
	Signed        = Tensor(SInt, FP, Complex, QTensor)
	Floats        = Tensor(FP, QTensor)
	RankedInt     = Tensor(Int)
	PredOrInt     = Tensor(Pred, Int)
	PredTensor    = Tensor(Pred)
	ShapeTensor   = Static1D(Index, Int)
	AnyMemref     = Memref(FP, Pred, Int, Complex, QTensor)
	QAxisTensor   = Tensor(QAxis)
	TupleOf       = Tuples(AnyOf(AnyRanked, AnyMemref, QAxisTensor, Token))
	TupleElem     = AnyOf(AnyRanked, QAxisTensor, Token, TupleOf)
	TupleOrMemref = AnyOf(TupleElem, AnyMemref)
	FlowValue     = AnyOf(AnyRanked, QAxisTensor, Token, TupleOf, AnyMemref)
)

// QuoteTypes returns the types as messages show them.
func QuoteTypes(types []ir.Type) string {
	s := ""
	for i, t := range types {
		if i > 0 {
			s += ", "
		}
		s += "'" + t.String() + "'"
	}
	return s
}
