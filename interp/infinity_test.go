package interp

import (
	"fmt"
	"math"
	"testing"
)

// TestComplexInfinities has the values of XLA (JAX 0.10.2 and 0.12.0.1): expm1 of a number whose imaginary part is
// infinite is NaN in both parts, and sign divides both parts by the modulus.
func TestComplexInfinities(t *testing.T) {
	for _, tt := range []struct{ op, in, want string }{
		{"exponential_minus_one", "(0xFF800000, 0x7F800000)", "NaN NaN"},
		{"exponential_minus_one", "(0xFF800000, 0xFF800000)", "NaN NaN"},
		{"exponential_minus_one", "(0xFF800000, 0x7FC00000)", "NaN NaN"},
		{"exponential_minus_one", "(0xFF800000, 2.0)", "-1 0"},
		{"exponential_minus_one", "(0xFF800000, -3.0)", "-1 -0"},
		{"exponential_minus_one", "(0x7F800000, 2.0)", "-Inf +Inf"},
		{"sign", "(0xFF800000, 2.0)", "NaN 0"},
		{"sign", "(0x7F800000, -3.0)", "NaN -0"},
		{"sign", "(1.0, 0xFF800000)", "0 NaN"},
		{"sign", "(-3.0, 0x7F800000)", "-0 NaN"},
		{"sign", "(0x7F800000, 0x7F800000)", "NaN NaN"},
		{"sign", "(0x7F800000, 0.0)", "NaN 0"},
	} {
		out := run(t, `func.func @main() -> (tensor<f32>, tensor<f32>) {
  %z = stablehlo.constant dense<`+tt.in+`> : tensor<complex<f32>>
  %0 = stablehlo.`+tt.op+` %z : tensor<complex<f32>>
  %1 = stablehlo.real %0 : (tensor<complex<f32>>) -> tensor<f32>
  %2 = stablehlo.imag %0 : (tensor<complex<f32>>) -> tensor<f32>
  return %1, %2 : tensor<f32>, tensor<f32>
}`)
		part := func(i int) float32 { return math.Float32frombits(uint32(out[i].Bits(0))) }
		if got := fmt.Sprint(part(0), part(1)); got != tt.want {
			t.Errorf("%s of %s is %s, want %s", tt.op, tt.in, got, tt.want)
		}
	}
}
