package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBisectCountedLoop: XLA does not execute the condition of a loop whose trips it has counted, so a probe there
// fires on one side only. This is not a difference: the first difference is in the function that the body calls.
func TestBisectCountedLoop(t *testing.T) {
	if why := missingPlugin(); why != "" {
		t.Skip("skip: " + why)
	}
	f := filepath.Join(t.TempDir(), "loop.mlir")
	err := os.WriteFile(f, []byte(`func.func @main(%x: tensor<500xf32>) -> tensor<500xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %out:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<500xf32>
   cond {
    %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = func.call @act(%v) : (tensor<500xf32>) -> tensor<500xf32>
    stablehlo.return %j, %w : tensor<i32>, tensor<500xf32>
  }
  return %out#1 : tensor<500xf32>
}
func.func private @act(%x: tensor<500xf32>) -> tensor<500xf32> {
  %0 = stablehlo.cbrt %x : tensor<500xf32>
  return %0 : tensor<500xf32>
}
`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	code, out, errs := runCLI(t, time.Minute, "verify", f, f, "--backend-b", "cpu", "--bisect", "--no-edges")
	if code != 5 || !strings.Contains(errs, "result 0 of 'stablehlo.cbrt' is the first value that differs, in execution 1: ") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}
