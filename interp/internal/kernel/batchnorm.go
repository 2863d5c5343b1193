package kernel

import (
	"github.com/hlocb/hlocb/tensor"
)

func Floats(t *tensor.Tensor) []float64 {
	out := make([]float64, t.NumElements())
	Decode64(t.DType(), out, t, 0)
	return out
}
