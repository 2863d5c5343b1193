package hlocb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/internal/entry"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// exports writes exports of polymorphic functions and of a function for several platforms, or those that are named,
// with arguments and JAX's results. bad.npz holds arguments that JAX refuses, and bad.txt its message.
const exports = `
import os, sys
import jax, jax.numpy as jnp, numpy as np
from jax import export, lax
out, only = sys.argv[1], sys.argv[2:]
def write(name, f, args, shapes, symbols="b", constraints=(), bad=None, **options):
    if only and name not in only: return
    d = f"{out}/{name}"; os.makedirs(d)
    scope = export.SymbolicScope(constraints)
    specs = export.symbolic_args_specs(args, shapes, scope=scope) if shapes else args
    e = export.export(jax.jit(f), **options)(*specs)
    open(d + "/f.jaxexport", "wb").write(e.serialize()); open(d + "/f.mlir", "w").write(e.mlir_module())
    np.savez(d + "/args.npz", *args); np.savez(d + "/results.npz", *[np.asarray(x) for x in jax.tree.leaves(jax.jit(f)(*args))])
    if bad is not None:
        np.savez(d + "/bad.npz", *bad)
        try: e.call(*bad)
        except Exception as x: open(d + "/bad.txt", "w").write(str(x))
x = np.arange(12, dtype=np.float32).reshape(3, 4)
write("shapes", lambda x: (jnp.sin(x).sum(0), x.reshape(-1), jnp.concatenate([x, x], 1), x @ x.T), [x], ["b, c"])
write("loop", lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], jnp.zeros(x.shape[1])), [x], ["b, c"])
write("top_k", lambda x: lax.top_k(x, x.shape[1] - 1), [x], ["3, b"])
write("approx", lambda x: lax.approx_max_k(x, 3), [np.arange(100, dtype=np.float32)[None]], ["1, b"], constraints=["b >= 3"])
write("approx_k", lambda x: lax.approx_max_k(x, x.shape[0] - 4), [np.arange(24, dtype=np.float32)], ["b"], constraints=["b >= 5"])
write("window", lambda x: lax.reduce_window(x, np.float32(0), lax.add, (2, x.shape[0]), (1, 1), "VALID"), [x], ["b, 4"])
write("pad", lambda x: (jnp.pad(x, ((1, 1), (0, 2))), x[::2], x[:, :2], lax.rev(x, (0,)), jnp.tile(x, (2, 1)), jnp.stack([x, x]), jnp.argmax(x, 1), jnp.cumsum(x, 0)), [x], ["b, c"], constraints=["c >= 2"])
write("composite", lambda x: lax.top_k(x, 2), [x], ["b, c"], constraints=["c >= 2"])
write("cholesky", lambda x: jnp.linalg.cholesky(x @ x.T + 10 * jnp.eye(x.shape[0])), [x], ["b, c"])
write("convolution", lambda x: lax.conv_general_dilated(x[None, None], jnp.ones((1, 1, 2, 2)), (1, 1), "SAME"), [x], ["b, c"])
write("gathers", lambda x: (x[jnp.array([0, 1, 0])], jnp.take(x, jnp.arange(x.shape[1]) % 2, axis=0), jnp.diagonal(x), jnp.triu(x), x.at[0].set(1.0), jnp.sort(x, 0)), [x], ["b, c"], constraints=["b >= 2", "c >= b"])
write("sizes", lambda x: (jnp.mean(x, 0, keepdims=True), jnp.arange(x.shape[1] * 2), jnp.full(x.shape, 3), x.reshape(2, -1), jnp.broadcast_to(x[:, :1], x.shape)), [x], ["b, 4*c"])
write("limited", lambda x: x[:4], [np.arange(6, dtype=np.float32)], ["b"], constraints=["b >= 4"], bad=[np.arange(3, dtype=np.float32)])
write("platforms", lambda x: lax.platform_dependent(x, cpu=lambda x: x + 1, tpu=lambda x: x + 2, cuda=lambda x: x + 3), [x], None, platforms=("tpu", "cuda", "cpu"))
`

// TestExports runs the exports on both backends and compares the results and refusals with JAX's.
func TestExports(t *testing.T) {
	label.Once(t)
	peer.Each(t, label.Part, checkExports)
}

func checkExports(t *testing.T, python *peer.Interpreter) {
	dir := t.TempDir()
	python.Run(t, exports, nil, dir)
	cases, err := os.ReadDir(dir)
	if err != nil || len(cases) < 8 {
		t.Fatalf("%d programs, %v", len(cases), err)
	}
	env := plugins.System()
	for _, name := range []string{"engine", "cpu"} {
		b, err := backends.Open(ctx, name, backends.Options{Plugins: env})
		if err != nil {
			t.Logf("skip: %v", err)
			continue
		}
		for _, c := range cases {
			t.Run(name+"/"+c.Name(), func(t *testing.T) { runExport(t, b, filepath.Join(dir, c.Name())) })
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func runExport(t *testing.T, b runtime.Backend, dir string) {
	read := func(name string) []*tensor.Tensor {
		list, err := readAll(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	run := func(args []*tensor.Tensor) ([]*tensor.Tensor, error) {
		p, err := hlocb.Load(ctx, filepath.Join(dir, "f.jaxexport"), hlocb.Platform("cpu"))
		if err != nil {
			return nil, err
		}
		var types []hlocb.Type
		for _, a := range args {
			types = append(types, hlocb.Type{DType: a.DType(), Shape: a.Shape()})
		}
		if b.Name() != backends.Engine || entry.NeedsShapes(p.Module()) {
			if err := p.Refine(ctx, types); err != nil {
				return nil, err
			}
		}
		exe, err := p.Compile(ctx, hlocb.OnBackend(b))
		if err != nil {
			return nil, err
		}
		defer exe.Close()
		return exe.RunTensors(ctx, args)
	}
	got, err := run(read("args.npz"))
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range read("results.npz") {
		if err := near(got[i], w); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
	if want, err := os.ReadFile(filepath.Join(dir, "bad.txt")); err == nil {
		_, err := run(read("bad.npz"))
		if text, _, _ := strings.Cut(string(want), "Using"); err == nil || text == "" || !strings.Contains(err.Error(), strings.TrimSpace(text)) {
			t.Errorf("error is %v, JAX says %s", err, want)
		}
	}
}

// TestPlatform: a bare module takes the platform's index, and only a container takes names.
func TestPlatform(t *testing.T) {
	peer.Each(t, label.Part, checkPlatform)
}

func checkPlatform(t *testing.T, python *peer.Interpreter) {
	dir := t.TempDir()
	python.Run(t, exports, nil, dir, "platforms")
	for index, want := range map[int]float64{0: 2, 1: 3, 2: 1} {
		p, err := hlocb.Load(ctx, filepath.Join(dir, "platforms", "f.mlir"), hlocb.PlatformIndex(index))
		if err != nil {
			t.Fatal(err)
		}
		if n := entry.Of(p.Module(), p.Manifest()).Platform(); n >= 0 {
			t.Errorf("argument %d still chooses the platform", n)
		}
		exe, err := p.Compile(ctx, hlocb.On(backends.Engine))
		if err != nil {
			t.Fatal(err)
		}
		got, err := exe.RunTensors(ctx, []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{3, 4})})
		if err != nil || got[0].FloatAt(0) != want {
			t.Errorf("platform %d: %v, %v; want %v", index, got, err, want)
		}
		exe.Close()
	}
	if _, err := hlocb.Load(ctx, filepath.Join(dir, "platforms", "f.jaxexport"), hlocb.Platform("rocm")); err == nil || !strings.Contains(err.Error(), "tpu, cuda, cpu") {
		t.Errorf("error is %v", err)
	}
	if _, err := hlocb.Load(ctx, filepath.Join(dir, "platforms", "f.mlir"), hlocb.Platform("cpu")); err == nil || !strings.Contains(err.Error(), "index") {
		t.Errorf("error is %v", err)
	}
}
