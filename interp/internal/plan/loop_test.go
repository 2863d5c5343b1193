package plan_test

import (
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

const countLoop = `
func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %zero) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.add %s, %i : tensor<i32>
      stablehlo.return %j, %t : tensor<i32>, tensor<i32>
    }
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}`

func scalarI32(v int32) *tensor.Tensor {
	t := tensor.New(tensor.I32, nil)
	tensor.View[int32](t)[0] = v
	return t
}

func TestWhile(t *testing.T) {
	out := run(t, countLoop, scalarI32(1000))
	if a, b := tensor.View[int32](out[0])[0], tensor.View[int32](out[1])[0]; a != 1000 || b != 499500 {
		t.Errorf("got %d, %d", a, b)
	}
}

// TestWhileDoesNotAllocate: a loop allocates nothing per iteration.
func TestWhileDoesNotAllocate(t *testing.T) {
	exe, err := compileText(t, countLoop)
	if err != nil {
		t.Fatal(err)
	}
	allocs := func(n int32) float64 {
		arg := []*tensor.Tensor{scalarI32(n)}
		return testing.AllocsPerRun(5, func() {
			if _, err := exe.Run(t.Context(), arg); err != nil {
				t.Fatal(err)
			}
		})
	}
	if a, b := allocs(10), allocs(10000); b > a+2 {
		t.Errorf("%v allocations for 10 iterations, %v for 10000", a, b)
	}
}

func BenchmarkWhile(b *testing.B) {
	exe, err := compileText(b, countLoop)
	if err != nil {
		b.Fatal(err)
	}
	arg := []*tensor.Tensor{scalarI32(20000)}
	for b.Loop() {
		if _, err := exe.Run(b.Context(), arg); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20000, "ns/iteration")
}

// TestWhileUsesItsInitialValue: a loop does not overwrite an initial value that its body also uses from outside.
func TestWhileUsesItsInitialValue(t *testing.T) {
	out := run(t, `
func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %six = stablehlo.add %n, %n : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %six) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.add %s, %six : tensor<i32>
      stablehlo.return %j, %t : tensor<i32>, tensor<i32>
    }
  return %r#1 : tensor<i32>
}`, scalarI32(3))
	if a := tensor.View[int32](out[0])[0]; a != 24 {
		t.Errorf("got %d, expected 24", a)
	}
}
