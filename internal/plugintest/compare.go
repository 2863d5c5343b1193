package plugintest

import (
	"fmt"
	"math"

	"github.com/hlocb/hlocb/tensor"
)

// compareTensors compares integers exactly, and floats with a relative tolerance that depends on their type. It
// multiplies the tolerance by loose if loose is more than 1.
func compareTensors(got, want *tensor.Tensor, loose float64) error {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Errorf("it is %s %v, expected %s %v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	d, part := want.DType(), want.DType().Part()
	if !part.IsFloat() {
		for i := range want.Bytes() {
			if got.Bytes()[i] != want.Bytes()[i] {
				at := i / d.Size()
				return fmt.Errorf("element %d is %s, expected %s", at, tensor.AppendElement(nil, got, at), tensor.AppendElement(nil, want, at))
			}
		}
		return nil
	}
	allowed := tolerance(part) * max(loose, 1)
	parts, expected := got.Parts(), want.Parts()
	for i := range expected.NumElements() {
		x, y := parts.FloatAt(i), expected.FloatAt(i)
		if x == y || x != x && y != y || math.Abs(x-y) <= allowed*max(1, math.Abs(x), math.Abs(y)) {
			continue
		}
		at := i * part.Size() / d.Size()
		return fmt.Errorf("element %d is %s, expected %s", at, tensor.AppendElement(nil, got, at), tensor.AppendElement(nil, want, at))
	}
	return nil
}

// tolerance returns a few units in the last place of a type near 1.
func tolerance(d tensor.DType) float64 {
	switch d {
	case tensor.F64:
		return 1e-13
	case tensor.F32:
		return 2e-6
	case tensor.F16:
		return 4e-3
	case tensor.BF16:
		return 3e-2
	}
	return 0.26 // 8 bits or fewer
}
