package stablehlo

import (
	"github.com/hlocb/hlocb/dialect/stablehlo/ods"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/tensor"
)

var (
	i1   = ir.Int(1)
	i32  = ir.Int(32)
	i64  = ir.Int(64)
	ui32 = ir.ElementOf(tensor.UI32)

	attrFalse = ir.NewInteger(0, i1)
)

// bounded accepts static tensors, and tensors with one dimension that has a bound instead of a size.
var bounded = ods.TensorOf("statically shaped or single bounded dimension tensor",
	[]ods.ElemSet{ods.FP, ods.Pred, ods.Int, ods.Complex, ods.QTensor, ods.QAxis}, func(t *ir.TensorType) bool {
		if t.Static() {
			return true
		}
		bounds := BoundsOf(t)
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

var future = ir.Constraint{Summary: "future", Check: func(t ir.Type) bool {
	d, ok := t.(*ir.DialectType)
	return ok && d.Name() == "future"
}}

// Operands and results that the operations of one file share.
var (
	branchResult = ods.AnyOf(ods.AnyRanked, ods.QAxisTensor, ods.Token)
	loopValue    = ods.AnyOf(ods.AnyRanked, ods.QAxisTensor, ods.Token, ods.AnyMemref)
	callOperand  = ods.AnyOf(ods.AnyUnranked, ods.AnyMemref, ods.Token, ods.Tuples(ods.AnyOf(ods.AnyUnranked, ods.AnyMemref, ods.Token)), future)
	transferable = ods.AnyOf(ods.StaticTensor(ods.FP, ods.Pred, ods.Int, ods.Complex, ods.QTensor), ods.StaticTensor(ods.FP, ods.Pred, ods.Int, ods.Complex, ods.QTensor, ods.QAxis), ods.Token)
	anyInt       = ods.ElemSet{Summary: "integer", Has: func(t ir.Type) bool { _, ok := t.(*ir.IntegerType); return ok }}
)
