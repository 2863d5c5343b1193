package interp

import (
	"context"
	"os"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// transformer compiles one training step of a real module and returns arguments for it.
func transformer(tb testing.TB) (runtime.Executable, []*tensor.Tensor) {
	text, err := os.ReadFile(testkit.Testdata("transformer_grad.mlir"))
	if err != nil {
		tb.Fatal(err)
	}
	m := testkit.Parse(tb, "transformer_grad.mlir", text)
	exe, err := New(Options{}).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return exe, seededArgs(tb, m, "main")
}

// seededArgs returns arguments with values in [-0.1, 0.1) from a simple generator.
func seededArgs(tb testing.TB, m *ir.Module, name string) []*tensor.Tensor {
	f, ok := fn.Lookup(m, name)
	if !ok {
		tb.Fatalf("no function %s", name)
	}
	state := uint64(1)
	var args []*tensor.Tensor
	for _, t := range f.Type().Inputs() {
		v, err := plan.TypeOf(t)
		if err != nil {
			tb.Fatal(err)
		}
		x := tensor.New(v.DType, v.Shape)
		vals := make([]float64, v.N)
		for i := range vals {
			state = state*6364136223846793005 + 1442695040888963407
			vals[i] = (float64(state>>40)/float64(1<<24) - 0.5) / 5
		}
		kernel.Encode64(v.DType, x, 0, vals)
		args = append(args, x)
	}
	return args
}

func BenchmarkTransformer(b *testing.B) {
	exe, args := transformer(b)
	for b.Loop() {
		if _, err := exe.Run(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}
