//go:build cgo

package endtoend

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/dlpack"
	"github.com/hlocb/hlocb/tensor"
)

// TestDLPackInAHook exports an operand in a handler: the consumer sees the program's own memory, and its answer is
// the result.
func TestDLPackInAHook(t *testing.T) {
	p := hostProgram(t, `func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = stablehlo.add %x, %x : tensor<64xf32>
  %z = stablehlo.custom_call @host(%y) {api_version = 4 : i32, has_side_effect = true, backend_config = {name = "f"}} : (tensor<64xf32>) -> tensor<64xf32>
  return %z : tensor<64xf32>
}
`)
	for _, backend := range backendNames() {
		var h runtime.Bindings
		h.Answer("f", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
			m, err := dlpack.Export(c.Operands[0], dlpack.Options{Versioned: true})
			if err != nil {
				return err
			}
			in, err := dlpack.Import(m.Pointer(), true)
			if err != nil {
				return err
			}
			if &in.Tensor.Peek()[0] != &c.Operands[0].Peek()[0] {
				err = fmt.Errorf("the consumer sees other memory")
			}
			err = errors.Join(err, c.SetResult(0, in.Tensor))
			in.Close()
			return errors.Join(err, m.Close())
		}))
		e, err := open(t, backend).Compile(context.Background(), p, runtime.CompileOptions{Handlers: &h})
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Run(context.Background(), []*tensor.Tensor{count(tensor.Shape{64}, 1)})
		if err != nil || tensor.View[float32](r[0])[63] != 128 {
			t.Errorf("%s: %v", backend, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
