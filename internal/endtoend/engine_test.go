// The race detector does not see the programs that these tests start.
//go:build linux && cgo && !race

package endtoend

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hlocb/hlocb/internal/peer"
)

// onEngine runs JAX programs with the engine as JAX's CPU client. Their output is that of JAX's own client.
func onEngine(t *testing.T, s *startedProgram) {
	env := s.engine(t)
	plain := []string{"PJRT_NAMES_AND_LIBRARY_PATHS=", "JAX_PLATFORMS=cpu"}
	for _, test := range []struct{ program, devices string }{{"one.py", "1"}, {"eight.py", "8"}, {"robust.py", "1"}} {
		t.Run(test.program, func(t *testing.T) {
			program := filepath.Join("testdata", "engine", test.program)
			devices := "JAX_NUM_CPU_DEVICES=" + test.devices
			want, stderr, code := finish(t, peer.Command(s.python, program), append(plain, devices)...)
			if code != 0 {
				t.Fatalf("plain JAX: exit code %d\n%s", code, stderr)
			}
			got, stderr, code := finish(t, peer.Command(s.python, program), append(env, devices)...)
			if code != 0 || got != want {
				t.Errorf("exit code %d, output\n%s\nwant\n%s\n%s", code, got, want, stderr)
			}
		})
	}
	// The engine calls handlers that the program registers with jax.ffi. Those of one stage only, and functions that the
	// engine's FFI lacks are an error.
	t.Run("handlers", func(t *testing.T) {
		const program = "testdata/ffi/ffi.py"
		library, want := s.handlers(t, program)
		got, stderr, code := finish(t, peer.Command(s.python, program), append(env, library, "NEWEST=cpu")...)
		if want += "newest UNIMPLEMENTED\nstaged UNIMPLEMENTED\n"; got != want || code != 0 {
			t.Errorf("exit code %d, output\n%s\nexpected\n%s\n%s", code, got, want, stderr)
		}
	})
	// A client of the C API, whose hooks are handlers that it registers with the plugin.
	t.Run("plugin test", func(t *testing.T) {
		out, stderr, code := finish(t, peer.Command(filepath.Join(s.dir, "hlocb"), "plugin", "test", filepath.Join(s.dir, "libhlocb_engine.so")), "JAX_NUM_CPU_DEVICES=2")
		if code != 0 || strings.Contains(out+stderr, "skip") {
			t.Errorf("exit code %d\n%s\n%s", code, out, stderr)
		}
	})
	t.Run("memory limit", func(t *testing.T) {
		const program = `import jax, jax.numpy as jnp
x = jnp.ones((1 << 20,))
try:
    jax.block_until_ready([x + i for i in range(40)])
    print("no limit")
except jax.errors.JaxRuntimeError as e:
    print(str(e).split(":")[0])
print((x + 1)[0])`
		c := peer.Command(filepath.Join(s.dir, "hlocb"), "exec", "--backend", "engine", "--memory-limit", "64MiB", "--", s.python, "-c", program)
		if out, stderr, code := finish(t, c); code != 0 || out != "RESOURCE_EXHAUSTED\n2.0\n" {
			t.Errorf("exit code %d, output %q\n%s", code, out, stderr)
		}
	})
	t.Run("taps", func(t *testing.T) {
		const program = `import jax, jax.numpy as jnp
@jax.jit
def step(x):
    y = jnp.tanh(x)
    return y / (y - y)
print(step(jnp.zeros(3)))`
		command := func(flags ...string) *exec.Cmd {
			args := append(append([]string{"exec", "--backend", "engine"}, flags...), "--", s.python, "-c", program)
			return peer.Command(filepath.Join(s.dir, "hlocb"), args...)
		}
		out, stderr, code := finish(t, command("--tap", "tanh", "--bisect-nan"))
		for _, want := range []string{"tanh (tap)", "tensor<3xf32>: [0. 0. 0.]", "divide", "holds nan, its operands hold none"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("stderr lacks %q:\n%s", want, stderr)
			}
		}
		if code != 0 || out != "[nan nan nan]\n" {
			t.Errorf("exit code %d, output %q", code, out)
		}
		out, stderr, code = finish(t, command("--bisect-nan", "--strict"))
		if code != 3 || out != "" || !strings.Contains(stderr, "JaxRuntimeError") || !strings.Contains(stderr, "holds nan") {
			t.Errorf("strict: exit code %d, output %q\n%s", code, out, stderr)
		}
	})
}
