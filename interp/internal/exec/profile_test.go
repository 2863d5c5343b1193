package exec_test

import (
	"testing"

	"github.com/hlocb/hlocb/interp"
)

// TestProfile: a profile counts every execution of an op, and the time of a loop does not include its body's.
func TestProfile(t *testing.T) {
	p := &interp.Profile{}
	exe := compile(t, `func.func @main() -> tensor<i32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %w = stablehlo.while(%i = %z) : tensor<i32>
    cond {
      %n = stablehlo.constant dense<5> : tensor<i32>
      %lt = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next : tensor<i32>
    }
  return %w : tensor<i32>
}`, interp.Options{Profile: p})
	if _, err := exe.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"stablehlo.while": 1, "stablehlo.compare": 6, "stablehlo.add": 5}
	for _, o := range p.Ops() {
		if n, ok := want[o.Op]; ok && n != o.Count {
			t.Errorf("%s ran %d times, not %d", o.Op, o.Count, n)
		}
		if o.Time < 0 {
			t.Errorf("%s took %s", o.Op, o.Time)
		}
		delete(want, o.Op)
	}
	if len(want) > 0 {
		t.Errorf("the profile lacks %v", want)
	}
}
