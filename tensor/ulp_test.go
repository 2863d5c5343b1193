package tensor

import (
	"math"
	"testing"
)

func TestDistance(t *testing.T) {
	negZero := math.Copysign(0, -1)
	tests := []struct {
		d    DType
		a, b float64
		want uint64
	}{
		{F32, 1, 1, 0},
		{F32, 0, negZero, 0},
		{F32, 1, float64(math.Nextafter32(1, 2)), 1},
		{F32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 2},
		{F32, math.MaxFloat32, math.Inf(1), 1},
		{F32, math.NaN(), math.NaN(), 0},
		{F32, math.NaN(), 1, NoDistance},
		{F64, 1, 1 + 0x1p-52, 1},
		{BF16, 1, 1.0078125, 1},
		{F16, 1, 2, 1024},
		{F8E4M3FN, 1, 1.125, 1},
		{F8E8M0FNU, 1, 4, 2},
		{I8, -128, 127, 255},
		{UI8, 255, 0, 255},
		{I4, -8, 7, 15},
	}
	for _, tt := range tests {
		a, b := New(tt.d, Shape{1}), New(tt.d, Shape{1})
		a.SetFloat(0, tt.a)
		b.SetFloat(0, tt.b)
		if got := Distance(a, b, 0); got != tt.want {
			t.Errorf("%s: distance of %v and %v is %d, expected %d", tt.d, tt.a, tt.b, got, tt.want)
		}
		if got := Distance(b, a, 0); got != tt.want {
			t.Errorf("%s: distance of %v and %v is %d, expected %d", tt.d, tt.b, tt.a, got, tt.want)
		}
	}
}
