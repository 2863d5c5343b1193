//go:build cgo

package interpose

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// callbacks is a program of JAX with an ordered and an unordered callback, for a GPU.
const callbacks = `module @jit_f {
  func.func public @main(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token {jax.token = true}, tensor<4xf32>) {
    %y = stablehlo.tanh %x : tensor<4xf32>
    %0:2 = stablehlo.custom_call @xla_ffi_python_gpu_callback(%t, %y) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
    %1 = stablehlo.custom_call @xla_ffi_python_gpu_callback(%0#1) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 1 : ui64}} : (tensor<4xf32>) -> tensor<4xf32>
    return %0#0, %1 : !stablehlo.token, tensor<4xf32>
  }
}
`

// TestServedByJAX: on a GPU, JAX's callbacks stay as they are beside taps. They become hooks if the user wants their
// events, and on a CPU, where the plugin has no handler of JAX.
func TestServedByJAX(t *testing.T) {
	for _, c := range []struct {
		name, text string
		config     Config
		stay       int // callbacks
		hooks      int
	}{
		{"tapped", callbacks, Config{Taps: []string{"tanh=stats"}}, 2, 1},
		{"recorded", callbacks, Config{Taps: []string{"tanh=stats"}, Events: []string{"-"}}, 0, 3},
		{"on a CPU", strings.ReplaceAll(callbacks, "_gpu_", "_cpu_"), Config{Taps: []string{"tanh=stats"}}, 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, err := New(c.config, Host{Out: io.Discard, Err: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			out, err := i.Compile([]byte(c.text), "mlir", nil)
			if err != nil {
				t.Fatal(err)
			}
			if stay := bytes.Count(out.Code, []byte("@xla_ffi_python_")); stay != c.stay || len(out.Manifest.Sites) != c.hooks {
				t.Errorf("%d callbacks stay beside %d hooks, expected %d and %d\n%s", stay, len(out.Manifest.Sites), c.stay, c.hooks, out.Code)
			}
		})
	}
}
