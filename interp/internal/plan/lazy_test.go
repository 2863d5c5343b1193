package plan_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb/tensor"
)

// reducers returns a program with a case of n branches. Each branch is a reduction of dynamic shape that calls a
// function of its own.
func reducers(n int, op string) string {
	var fs, branches strings.Builder
	for i := range n {
		fmt.Fprintf(&fs, `func.func private @f%d(%%a: tensor<f32>, %%b: tensor<f32>) -> tensor<f32> {
  %%s = "%s"(%%a, %%b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %%r = stablehlo.reshape %%s : (tensor<f32>) -> tensor<f32>
  return %%r : tensor<f32>
}
`, i, op)
		if i > 0 {
			branches.WriteString(", ")
		}
		fmt.Fprintf(&branches, `{
  %%r = "stablehlo.reduce"(%%x, %%z) ({
  ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):
    %%s = func.call @f%d(%%a, %%b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %%s : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  stablehlo.return %%r : tensor<f32>
}`, i)
	}
	return `func.func @main(%x: tensor<?xf32>, %i: tensor<i32>) -> tensor<f32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %q = "stablehlo.case"(%i) (` + branches.String() + `) : (tensor<i32>) -> tensor<f32>
  return %q : tensor<f32>
}
` + fs.String()
}

// TestRunsShareTheProgram: several runs at the same time compile ops of one program for the shapes of their arguments.
func TestRunsShareTheProgram(t *testing.T) {
	const n = 16
	exe, err := compileText(t, reducers(n, "stablehlo.add"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	start := make(chan bool)
	for g := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			<-start
			x := tensor.New(tensor.F32, tensor.Shape{5})
			copy(tensor.View[float32](x), []float32{1, 2, 3, 4, 5})
			i := tensor.New(tensor.I32, nil)
			tensor.View[int32](i)[0] = int32(g)
			out, err := exe.Run(t.Context(), []*tensor.Tensor{x, i})
			if err != nil {
				t.Error(err)
			} else if got := tensor.View[float32](out[0])[0]; got != 15 {
				t.Errorf("branch %d: the sum is %v", g, got)
			}
		}()
	}
	close(start)
	wg.Wait()
}

// TestUnsupportedInLazyCallee: compilation finds an unsupported op in a function that only an op of dynamic shape
// calls.
func TestUnsupportedInLazyCallee(t *testing.T) {
	_, err := compileText(t, reducers(1, "unknown.op"))
	if err == nil || !strings.Contains(err.Error(), "not supported by the embedded engine") {
		t.Errorf("compiling gives %v", err)
	}
}
