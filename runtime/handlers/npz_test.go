package handlers_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/handlers"
	"github.com/hlocb/hlocb/tensor"
)

// TestNPZ has numpy read what was written.
func TestNPZ(t *testing.T) {
	python := peer.Python(t)
	path := filepath.Join(t.TempDir(), "events.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	n := handlers.NewNPZ(f)
	handle(t, n, call(site("../loss", hlocb.Tap), []*tensor.Tensor{f32s(tensor.Shape{2, 2}, 1, 2, 3, 4), i32s(tensor.Shape{}, 7)}, nil))
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	out := python.Run(t, `
import sys, numpy as np
z = np.load(sys.argv[1])
for k in sorted(z.files): print(k, z[k].dtype, z[k].tolist())
`, nil, path)
	want := "___loss.1.0.0.0 float32 [[1.0, 2.0], [3.0, 4.0]]\n___loss.1.0.0.1 int32 7\n"
	if string(out) != want {
		t.Errorf("numpy reads\n%s\nwant\n%s", out, want)
	}
}

// BenchmarkRecord and BenchmarkNPZ measure how fast events of 1 MiB are turned into bytes.
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
	c := call(site("loss", hlocb.Tap), []*tensor.Tensor{v}, nil)
	b.SetBytes(1 << 20)
	for b.Loop() {
		if err := h.Handle(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
}
