package interp

import "testing"

// TestExp2 computes MHLO's functions to the base of two, at both ends of their ranges.
func TestExp2(t *testing.T) {
	for _, tt := range []struct{ op, typ, x, want string }{
		{"exp2", "8xf32", "[0.0, 1.0, -1.0, 0.5, 127.0, -149.0, 128.0, 0xFF800000]", "[1.0, 2.0, 0.5, 1.41421354, 0x7F000000, 0x00000001, 0x7F800000, 0.0]"},
		{"log2", "7xf32", "[1.0, 2.0, 0.5, 3.0, 0x00000001, 0.0, 0x7F800000]", "[0.0, 1.0, -1.0, 1.58496249, -149.0, 0xFF800000, 0x7F800000]"},
		{"exp2", "6xf16", "[0.0, 1.0, 0.5, 15.0, -24.0, 16.0]", "[1.0, 2.0, 1.41406, 32768.0, 0x0001, 0x7C00]"},
		{"exp2", "6xf64", "[3.0, -1074.0, 1023.0, 5000.0, -5000.0, 0.5]", "[8.0, 4.9406564584124654E-324, 8.9884656743115795E+307, 0x7FF0000000000000, 0.0, 1.4142135623730951]"},
		{"log2", "5xf64", "[8.0, 4.9406564584124654E-324, 1.0000000000000002, 3.0, 0xFFF0000000000000]", "[3.0, -1074.0, 3.2034265038149176E-16, 1.5849625007211561, 0x7FF8000000000000]"},
		{"exp2", "2xcomplex<f64>", "[(3.0, 0.0), (0.0, 0.0)]", "[(8.0, 0.0), (1.0, 0.0)]"},
		{"log2", "2xcomplex<f64>", "[(8.0, 0.0), (1.0, 0.0)]", "[(3.0, 0.0), (0.0, 0.0)]"},
	} {
		out := run(t, `func.func @main() -> (tensor<`+tt.typ+`>, tensor<`+tt.typ+`>) {
  %x = stablehlo.constant dense<`+tt.x+`> : tensor<`+tt.typ+`>
  %want = stablehlo.constant dense<`+tt.want+`> : tensor<`+tt.typ+`>
  %0 = mhlo.`+tt.op+` %x : tensor<`+tt.typ+`>
  return %0, %want : tensor<`+tt.typ+`>, tensor<`+tt.typ+`>
}`)
		for i := range out[0].NumElements() {
			if got, want := out[0].ElementText(i), out[1].ElementText(i); got != want {
				t.Errorf("%s of %s: element %d is %s, want %s", tt.op, tt.x, i, got, want)
			}
		}
	}
}
