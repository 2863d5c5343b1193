package tensors

import (
	"github.com/hlocb/hlocb/internal/dialect/arith"
	"github.com/hlocb/hlocb/ir"
)

// foldCast folds a cast to the operand's own type.
func foldCast(op *ir.Op) []ir.Folded {
	if op.Operand(0).Type() == op.Result(0).Type() {
		return []ir.Folded{{Value: op.Operand(0)}}
	}
	return nil
}

// foldDim folds the size of a static dimension.
func foldDim(op *ir.Op) []ir.Folded {
	t := op.Operand(0).Type().(*ir.TensorType)
	i, ok := arith.Ints(op.Operand(1))
	if !ok || !t.Ranked() || i[0] < 0 || i[0] >= int64(t.Rank()) || t.Shape()[i[0]] == ir.Dynamic {
		return nil
	}
	return arith.Folded(op.Result(0).Type(), []int64{t.Shape()[i[0]]})
}

// foldExtract folds the extraction of an element that from_elements or a constant gives.
func foldExtract(op *ir.Op) []ir.Folded {
	t, at := op.Operand(0).Type().(*ir.TensorType), int64(0)
	if !t.Static() {
		return nil
	}
	for d, v := range op.OperandList()[1:] {
		i, ok := arith.Ints(v)
		if !ok || i[0] < 0 || i[0] >= t.Shape()[d] {
			return nil
		}
		at = at*t.Shape()[d] + i[0]
	}
	if from := op.Operand(0).DefiningOp(); from != nil && from.Is(FromElements) {
		return []ir.Folded{{Value: from.Operand(int(at))}}
	}
	if list, ok := arith.Ints(op.Operand(0)); ok {
		return arith.Folded(op.Result(0).Type(), list[at:at+1])
	}
	return nil
}

// foldFromElements folds a tensor of constants.
func foldFromElements(op *ir.Op) []ir.Folded {
	var list []int64
	for _, v := range op.Operands() {
		i, ok := arith.Ints(v)
		if !ok || len(list) > 100 {
			return nil
		}
		list = append(list, i[0])
	}
	return arith.Folded(op.Result(0).Type(), list)
}
