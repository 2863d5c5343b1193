package interp

import "testing"

// TestMulhi multiplies integers narrower than a byte: the high half has the width of the type.
func TestMulhi(t *testing.T) {
	for _, tt := range []struct {
		typ  string
		x, y string
		want uint64
	}{
		{"i4", "7", "7", 3},    // 49 is 0011 0001
		{"i4", "-8", "7", 0xc}, // -56 is 1100 1000
		{"ui4", "15", "15", 14},
		{"i2", "-2", "-2", 1}, // 4 is 01 00
		{"i8", "100", "100", 39},
		{"ui64", "18446744073709551615", "18446744073709551615", 1<<64 - 2},
	} {
		out := run(t, `func.func @main() -> tensor<`+tt.typ+`> {
  %x = stablehlo.constant dense<`+tt.x+`> : tensor<`+tt.typ+`>
  %y = stablehlo.constant dense<`+tt.y+`> : tensor<`+tt.typ+`>
  %0 = chlo.mulhi %x, %y : tensor<`+tt.typ+`>, tensor<`+tt.typ+`> -> tensor<`+tt.typ+`>
  return %0 : tensor<`+tt.typ+`>
}`)
		if got := out[0].Bits(0); got&(1<<out[0].DType().Bits()-1) != tt.want {
			t.Errorf("mulhi of %s and %s : %s is %#x, want %#x", tt.x, tt.y, tt.typ, got, tt.want)
		}
	}
}
