package interp

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// transformer compiles one training step of a real module and returns arguments for it.
func transformer(tb testing.TB, opts Options) (runtime.Executable, []*tensor.Tensor) {
	text, err := os.ReadFile(testkit.Testdata("transformer_grad.mlir"))
	if err != nil {
		tb.Fatal(err)
	}
	m := testkit.Parse(tb, "transformer_grad.mlir", text)
	exe, err := New(opts).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
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
		v := plan.TypeOf(t)
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

// assignedScript prints how many bytes XLA's CPU compiler assigns to arguments, results and temporaries of a module.
const assignedScript = `
import sys, jax
from jax._src.lib import xla_client as xc
client = jax.devices('cpu')[0].client
exe = client.compile_and_load(open(sys.argv[1], 'rb').read(), xc.DeviceList(tuple(jax.devices('cpu')[:1])), xc.CompileOptions())
s = exe.get_compiled_memory_stats()
print(s.argument_size_in_bytes + s.output_size_in_bytes + s.temp_size_in_bytes)
`

// TestTransformerMemory: a training step runs with a limit of the memory that XLA assigns to it. The engine's count
// includes constants and the plan's own blocks.
func TestTransformerMemory(t *testing.T) {
	out := peer.Python(t).Run(t, assignedScript, nil, testkit.Testdata("transformer_grad.mlir"))
	limit, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	exe, args := transformer(t, Options{MemoryLimit: limit})
	if _, err := exe.Run(t.Context(), args); err != nil {
		t.Error(err)
	}
	exe, args = transformer(t, Options{MemoryLimit: limit / 2})
	if _, err := exe.Run(t.Context(), args); err == nil {
		t.Error("the step runs in half of the memory: the limit counts nothing")
	}
}

func BenchmarkTransformer(b *testing.B) {
	exe, args := transformer(b, Options{})
	for b.Loop() {
		if _, err := exe.Run(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}
