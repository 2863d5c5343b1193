package handlers_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// TestNPZ: numpy reads the archive.
func TestNPZ(t *testing.T) {
	peer.Each(t, label.Part, checkNPZ)
}

func checkNPZ(t *testing.T, p *peer.Interpreter) {
	python := p
	path := filepath.Join(t.TempDir(), "events.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	n := handlers.NewNPZ(f)
	handle(t, n, call(site("../loss", hook.Tap), []*tensor.Tensor{f32s(tensor.Shape{2, 2}, 1, 2, 3, 4), i32s(tensor.Shape{}, 7)}, nil))
	handle(t, n, call(site(strings.Repeat("x", 70_000), hook.Tap), []*tensor.Tensor{i32s(tensor.Shape{}, 8)}, nil))
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	out := python.Run(t, `
import sys, numpy as np
z = np.load(sys.argv[1])
for k in sorted(z.files): print(k, z[k].dtype, z[k].tolist())
`, nil, path)
	want := "___loss.1.0.0.0 float32 [[1.0, 2.0], [3.0, 4.0]]\n___loss.1.0.0.1 int32 7\n" +
		strings.Repeat("x", 128) + "~4d65822107fcfd52.1.0.0.0 int32 8\n"
	if string(out) != want {
		t.Errorf("numpy reads\n%s\nwant\n%s", out, want)
	}
}

// TestNPZTypes: numpy reads every type that an operand can have, as that type, bit by bit.
func TestNPZTypes(t *testing.T) {
	peer.Each(t, label.Part, checkNPZTypes)
}

func checkNPZTypes(t *testing.T, p *peer.Interpreter) {
	python := p
	path := filepath.Join(t.TempDir(), "events.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	n := handlers.NewNPZ(f)
	var operands []*tensor.Tensor
	var want strings.Builder
	names := map[tensor.DType]string{tensor.I1: "bool", tensor.I4: "int4", tensor.UI4: "uint4", tensor.I16: "int16", tensor.UI64: "uint64", tensor.F16: "float16",
		tensor.BF16: "bfloat16", tensor.F32: "float32", tensor.F64: "float64", tensor.Complex64: "complex64", tensor.Complex128: "complex128",
		tensor.F8E4M3FN: "float8_e4m3fn", tensor.F8E5M2: "float8_e5m2", tensor.F4E2M1FN: "float4_e2m1fn", tensor.F8E8M0FNU: "float8_e8m0fnu"}
	for d := range tensor.Index {
		name, ok := names[d]
		if !ok {
			continue
		}
		v := tensor.New(d, tensor.Shape{2, 2})
		for i := range 4 {
			v.SetFloat(i, []float64{1, 0, 0.5, 1}[i])
		}
		fmt.Fprintf(&want, "%s (2, 2) %x\n", name, v.Bytes())
		operands = append(operands, v)
	}
	handle(t, n, call(site("x", hook.Tap), operands, nil))
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	out := python.Run(t, `
import sys, numpy as np, ml_dtypes
z = np.load(sys.argv[1])
for k in z.files: print(z[k].dtype, z[k].shape, z[k].tobytes().hex())
`, nil, path)
	if string(out) != want.String() {
		t.Errorf("numpy reads\n%s\nwant\n%s", out, want.String())
	}
}

// BenchmarkRecord and BenchmarkNPZ measure the speed of writing events of 1 MiB.
func BenchmarkRecord(b *testing.B) {
	benchHandler(b, handlers.NewRecord(io.Discard))
}

func BenchmarkNPZ(b *testing.B) {
	benchHandler(b, handlers.NewNPZ(io.Discard))
}

func benchHandler(b *testing.B, h runtime.Handler) {
	v := tensor.New(tensor.F32, tensor.Shape{1 << 18})
	for i := range v.NumElements() {
		v.SetFloat(i, float64(i)*0.001)
	}
	c := call(site("loss", hook.Tap), []*tensor.Tensor{v}, nil)
	b.SetBytes(1 << 20)
	for b.Loop() {
		if err := h.Handle(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
}
