package interp

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/interp/internal/plan"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// transformer compiles one training step of a real module and returns arguments for it.
func transformer(tb testing.TB, opts Options) (*Executable, []*tensor.Tensor) {
	text, err := os.ReadFile(testkit.Testdata("transformer_grad.mlir"))
	if err != nil {
		tb.Fatal(err)
	}
	m := testkit.Parse(tb, "transformer_grad.mlir", text)
	exe, err := New(opts).Compile(context.Background(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return exe.(*Executable), seededArgs(tb, m, "main")
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
		if !v.DType.IsFloat() {
			args = append(args, x)
			continue
		}
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

// assignedScript prints how many bytes XLA's CPU compiler assigns to results and temporaries of a module.
const assignedScript = `
import sys, jax
from jax._src.lib import xla_client as xc
client = jax.devices('cpu')[0].client
exe = client.compile_and_load(open(sys.argv[1], 'rb').read(), xc.DeviceList(tuple(jax.devices('cpu')[:1])), xc.CompileOptions())
s = exe.get_compiled_memory_stats()
print(s.output_size_in_bytes + s.temp_size_in_bytes)
`

// TestTransformerMemory: the plan of a training step states its memory. A run needs no more, which is at most 1.1 times
// the memory that XLA assigns, and the first run allocates little besides: the blocks of chains, packed panels.
func TestTransformerMemory(t *testing.T) {
	label.Slow(t)
	label.Once(t) // the race detector allocates, too
	peer.Each(t, nil, checkTransformerMemory)
}

func checkTransformerMemory(t *testing.T, python *peer.Interpreter) {
	out := python.Run(t, assignedScript, nil, testkit.Testdata("transformer_grad.mlir"))
	assigned, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	exe, _ := transformer(t, Options{})
	planned := bound(exe)
	t.Logf("the plan states %d bytes, XLA assigns %d", planned, assigned)
	if 10*planned > 11*assigned {
		t.Errorf("the plan states %d bytes, XLA assigns %d", planned, assigned)
	}
	exe, args := transformer(t, Options{MemoryLimit: planned})
	before := allocated()
	if _, err := exe.Run(t.Context(), args); err != nil {
		t.Error(err)
	}
	if took := allocated() - before; 5*took > 7*assigned {
		t.Errorf("the first run allocates %d bytes, XLA assigns %d", took, assigned)
	}
}

// bound returns the bytes that a run needs at most, by its plan.
func bound(exe *Executable) int64 {
	m := &exe.entry.Memory
	return exe.constants + int64(m.Arena) + m.Pool
}

func BenchmarkTransformer(b *testing.B) {
	exe, args := transformer(b, Options{})
	for b.Loop() {
		if _, err := exe.Run(b.Context(), args); err != nil {
			b.Fatal(err)
		}
	}
}
