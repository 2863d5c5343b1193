package tensor_test

import (
	"math"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

func TestULPs(t *testing.T) {
	nan, inf, negZero := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	tests := []struct {
		d    tensor.DType
		a, b float64
		want uint64
	}{
		{tensor.F32, 1, 1, 0},
		{tensor.F32, 1, 1 + 1.0/(1<<23), 1},
		{tensor.F32, 1 + 1.0/(1<<23), 1, 1},
		{tensor.F32, 0, negZero, 0},
		{tensor.F32, -math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32, 2},
		{tensor.F32, nan, nan, 0},
		{tensor.F32, nan, 1, math.MaxUint64},
		{tensor.F32, math.MaxFloat32, inf, 1},
		{tensor.F64, 1, math.Nextafter(1, 2), 1},
		{tensor.BF16, 1, 1 + 1.0/128, 1},
		{tensor.F8E4M3FN, 1, 1.125, 1},
		{tensor.F8E8M0FNU, 1, 4, 2},
		{tensor.I8, -128, 127, 255},
		{tensor.UI8, 255, 0, 255},
		{tensor.I1, 0, 1, 1},
	}
	for _, tt := range tests {
		a, b := tensor.New(tt.d, tensor.Shape{}), tensor.New(tt.d, tensor.Shape{})
		a.SetFloat(0, tt.a)
		b.SetFloat(0, tt.b)
		if got := a.ULPs(b, 0); got != tt.want {
			t.Errorf("%s: %v against %v is %d ULPs, want %d", tt.d, tt.a, tt.b, got, tt.want)
		}
	}
}
