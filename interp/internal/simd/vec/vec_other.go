//go:build !amd64

package vec

func pick(_ string, scalar func(float64) float64) *Function { return &Function{scalar: scalar} }

func arith(_ string, single func(o, x, y []float32), double func(o, x, y []float64)) (*Loop[float32], *Loop[float64]) {
	return &Loop[float32]{scalar: single}, &Loop[float64]{scalar: double}
}
