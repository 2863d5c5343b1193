package exec_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/offheap"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestAllocator: a run on an engine with an allocator computes what a run without it computes, and all of its memory is
// freed when the caller has freed the results, whether the run succeeds or fails.
func TestAllocator(t *testing.T) {
	const large = "tensor<64x64xf32>"
	for _, c := range []struct {
		name, args, body, results string
		donated                   bool
	}{
		{"elementwise", "%a: " + large, "%r = stablehlo.add %a, %a : " + large, large, false},
		{"argument", "%a: " + large, "%r = stablehlo.optimization_barrier %a : " + large, large, false},
		{"constant", "%a: " + large, "%r = stablehlo.constant dense<1.0> : " + large, large, false},
		{"donated", "%a: " + large + " {tf.aliasing_output = 0 : i32}", "%r = stablehlo.add %a, %a : " + large, large, true},
		{"donated and unused", "%a: " + large + " {jax.buffer_donor = true}", "%r = stablehlo.constant dense<1.0> : " + large, large, true},
		{"loop", "%a: " + large, `%z = stablehlo.constant dense<0> : tensor<i32>
      %n = stablehlo.constant dense<5> : tensor<i32>
      %o = stablehlo.constant dense<1> : tensor<i32>
      %i, %r = stablehlo.while(%x = %z, %y = %a) : tensor<i32>, ` + large + `
      cond { %l = stablehlo.compare LT, %x, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %l : tensor<i1>
      } do { %m = stablehlo.add %x, %o : tensor<i32>
        %s = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0] : (` + large + ", " + large + ") -> " + large + `
        %t = stablehlo.sine %s : ` + large + `
        stablehlo.return %m, %t : tensor<i32>, ` + large + "\n}", large, false},
		{"empty", "%a: tensor<0xf32>", "%r = stablehlo.add %a, %a : tensor<0xf32>", "tensor<0xf32>", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, fails := range []bool{false, true} {
				text := fmt.Sprintf(`func.func @main(%s) -> %s {
      %s
      stablehlo.custom_call @hlocb_hook(%%r) {api_version = 4 : i32, has_side_effect = true, backend_config = {abi = 1 : i64, chained = false, id = 1 : i64, kind = "tap", name = "r"}} : (%[2]s) -> ()
      return %%r : %[2]s
    }`, c.args, c.results, c.body)
				m := testkit.Parse(t, "test.mlir", []byte(text))
				typ := hook.TensorType{DType: tensor.F32, Shape: tensor.Shape{64, 64}}
				if c.name == "empty" {
					typ.Shape = tensor.Shape{0}
				}
				site := hook.Site{ID: 1, Name: "r", Kind: hook.Tap, SideEffect: true, Operands: []hook.TensorType{typ}}
				p := &runtime.Program{Module: m, Manifest: &hook.Manifest{Sites: []hook.Site{site}}}
				var h runtime.Bindings
				h.Observe("*", runtime.HandlerFunc(func(context.Context, *runtime.Call) error {
					if fails {
						return errors.New("no")
					}
					return nil
				}))
				pool := offheap.New(0)
				arg := tensor.New(typ.DType, typ.Shape)
				for i := range tensor.View[float32](arg) {
					tensor.View[float32](arg)[i] = float32(i%7) / 8
				}
				plain, err := interp.New(interp.Options{}).Compile(t.Context(), p, runtime.CompileOptions{Handlers: &h})
				if err != nil {
					t.Fatal(err)
				}
				want, wantErr := plain.Run(t.Context(), []*tensor.Tensor{arg})
				exe, err := interp.New(interp.Options{Memory: pool}).Compile(t.Context(), p, runtime.CompileOptions{Handlers: &h})
				if err != nil {
					t.Fatal(err)
				}
				for range 3 {
					in := arg
					if c.donated {
						data, err := pool.Alloc(len(arg.Bytes()))
						if err != nil {
							t.Fatal(err)
						}
						copy(data, arg.Bytes())
						if in, err = tensor.FromBytes(typ.DType, typ.Shape, data); err != nil {
							t.Fatal(err)
						}
					}
					got, err := exe.(*interp.Executable).RunOwned(t.Context(), []*tensor.Tensor{in}, []bool{c.donated})
					if (err == nil) != (wantErr == nil) {
						t.Fatalf("error %v, want %v", err, wantErr)
					}
					for i, g := range got {
						if string(g.Bytes()) != string(want[i].Bytes()) {
							t.Errorf("result %d differs", i)
						}
						if len(g.Bytes()) > 0 {
							pool.Free(g.Bytes())
						}
					}
				}
				if err := exe.Close(); err != nil {
					t.Error(err)
				}
				if n := pool.Stats().InUse; n != 0 {
					t.Errorf("%d bytes are in use", n)
				}
				if pool.Stats().Allocs == 0 && !fails && c.name != "empty" {
					t.Error("the allocator was not asked")
				}
			}
		})
	}
}
