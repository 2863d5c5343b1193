package shape

import (
	"slices"

	"github.com/hlocb/hlocb/internal/dialect/arith"
	"github.com/hlocb/hlocb/ir"
)

// constants returns the sizes of all operands if they are constant.
func constants(op *ir.Op) ([][]int64, bool) {
	var out [][]int64
	for _, v := range op.Operands() {
		s, ok := arith.Ints(v)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// broadcast returns the shape to which shapes broadcast.
func broadcast(list [][]int64) (out []int64, ok bool) {
	for _, s := range list {
		if len(s) > len(out) {
			out = slices.Insert(slices.Clone(out), 0, slices.Repeat([]int64{1}, len(s)-len(out))...)
		}
		for i, d := range s {
			switch at := len(out) - len(s) + i; {
			case out[at] == 1:
				out[at] = d
			case d != 1 && d != out[at]:
				return nil, false
			}
		}
	}
	return out, true
}

func folded(op *ir.Op, sizes []int64) []ir.Folded {
	return []ir.Folded{{Attr: Elements(op.Module().Context(), sizes), Constant: ConstShape}}
}

// foldBroadcast folds the broadcast of one shape, and of constants.
func foldBroadcast(op *ir.Op) []ir.Folded {
	if op.NumOperands() == 1 && op.Operand(0).Type() == op.Result(0).Type() {
		return []ir.Folded{{Value: op.Operand(0)}}
	}
	list, ok := constants(op)
	if !ok || len(list) == 0 {
		return nil
	}
	if s, ok := broadcast(list); ok {
		return folded(op, s)
	}
	return nil
}

// foldNumElements folds the number of elements of a constant shape.
func foldNumElements(op *ir.Op) []ir.Folded {
	s, ok := arith.Ints(op.Operand(0))
	if _, index := op.Result(0).Type().(*ir.IndexType); !ok || !index {
		return nil
	}
	n := int64(1)
	for _, d := range s {
		n *= d
	}
	return arith.Folded(op.Result(0).Type(), []int64{n})
}

// foldBroadcastable folds the witness of constant shapes that broadcast.
func foldBroadcastable(op *ir.Op) []ir.Folded {
	list, ok := constants(op)
	if ok {
		_, ok = broadcast(list)
	}
	if !ok {
		return nil
	}
	return []ir.Folded{{Attr: ir.NewInteger(1, ir.Int(1)), Constant: ConstWitness}}
}
