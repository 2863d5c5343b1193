package hlo_test

import (
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hlo"
	"github.com/hlocb/hlocb/internal/testkit"
)

// TestDynamicReshape: a reshape to sizes up to a bound has an operand for each size, of type s32. Without a bound, or
// with bounds for another number of elements, it has no equivalent.
func TestDynamicReshape(t *testing.T) {
	const text = `func.func public @main(%x: tensor<12xf32>, %sizes: tensor<2xi64>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>> {
  %0 = stablehlo.dynamic_reshape %x, %sizes : (tensor<12xf32>, tensor<2xi64>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  return %0 : tensor<?x3xf32, #stablehlo.bounds<4, ?>>
}`
	h, err := hlo.Export(testkit.Parse(t, "m.mlir", text))
	if err != nil {
		t.Fatal(err)
	}
	got := string(h.AppendText(nil, hlo.TextOptions{}))
	for _, want := range []string{"slice={[1:2]}", "s32[] convert(", "f32[<=4,3]{1,0} dynamic-reshape(%"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, bounds := range []string{"", ", #stablehlo.bounds<5, ?>"} {
		_, err = hlo.Export(testkit.Parse(t, "m.mlir", strings.ReplaceAll(text, ", #stablehlo.bounds<4, ?>", bounds)))
		if err == nil || !strings.Contains(err.Error(), "'stablehlo.dynamic_reshape' has no equivalent in HLO") {
			t.Errorf("with bounds %q: %v", bounds, err)
		}
	}
}
