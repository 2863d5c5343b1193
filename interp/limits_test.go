package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/ops"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

const endless = `func.func @main() -> tensor<i32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.while(%i = %z) : tensor<i32>
    cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      stablehlo.return %i : tensor<i32>
    }
  return %r : tensor<i32>
}`

func TestEndlessLoopIsCancelled(t *testing.T) {
	exe, err := compileText(t, endless)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = exe.Run(ctx, nil)
	var located *exec.OpError
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &located) || located.Op != "stablehlo.while" {
		t.Errorf("error is %v", err)
	}
}

func TestMemoryLimit(t *testing.T) {
	m := testkit.Parse(t, "big.mlir", []byte(`func.func @main(%a: tensor<f32>) -> tensor<1000000x1000000xf32> {
  %b = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<1000000x1000000xf32>
  return %b : tensor<1000000x1000000xf32>
}`))
	_, err := New(Options{MemoryLimit: 1 << 30}).Compile(t.Context(), &runtime.Program{Module: m}, runtime.CompileOptions{})
	if err == nil || !strings.Contains(err.Error(), "big.mlir:2:8: error: 'stablehlo.broadcast_in_dim' op needs 4000000000000 bytes") {
		t.Errorf("error is %v", err)
	}
}

func TestErrorsAreLocated(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}`, `test.mlir:2:8: error: 'stablehlo.custom_call' op custom call target "lapack_sgetrf_ffi" is not implemented by the embedded engine`},
		{`func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = "other.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}`, `test.mlir:2:8: error: 'other.op' op other.op is not supported by the embedded engine`},
		{`func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @elsewhere(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>`, `test.mlir:2:8: error: 'func.call' op calls 'elsewhere', which has no body`},
		{`func.func @main() -> tensor<2xi32> {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %a, dense<[1, 3]> : tensor<2xi32>
  return %a : tensor<2xi32>
}`, `test.mlir:3:3: error: 'check.expect_eq_const' op expected element 1 to be 3 (exactly), but got 2`},
	} {
		_, err := tryRun(t, c.text, tensor.New(tensor.F32, tensor.Shape{4}))
		if strings.Contains(c.text, "@main()") {
			_, err = tryRun(t, c.text)
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error is %v, want %s", err, c.want)
		}
	}
}

// TestTargetsThatNeedAPlugin: the engine refuses custom calls that JAX writes for other devices, because only libraries
// of these devices implement them. The error has a position and the target, and names a plugin only if one has the
// target.
func TestTargetsThatNeedAPlugin(t *testing.T) {
	targets := strings.Fields("LuDecomposition Cholesky TopK ApproxTopK PartialReduce " +
		"lapack_sgetrf_ffi lapack_dgetrf_ffi lapack_cgetrf_ffi lapack_zgetrf_ffi lapack_sgeqrf_ffi lapack_sgeqp3_ffi lapack_sorgqr_ffi lapack_cungqr_ffi lapack_sormqr_ffi " +
		"lapack_spotrf_ffi lapack_dpotrf_ffi lapack_strsm_ffi lapack_ssyevd_ffi lapack_cheevd_ffi lapack_sgeev_ffi lapack_zgeev_ffi lapack_sgesdd_ffi lapack_sgesvd_ffi lapack_sgees_ffi " +
		"lapack_sgehrd_ffi lapack_ssytrd_ffi lapack_sgtsv_ffi blas_strsm lapack_sgetrf " +
		"cu_threefry2x32 cu_threefry2x32_ffi hip_threefry2x32_ffi cu_lu_pivots_to_permutation cusolver_getrf_ffi cusolver_geqrf_ffi cusolver_orgqr_ffi cusolver_syevd_ffi cusolver_gesvd_ffi cusolver_gesvdj_ffi cusolver_potrf_batched_ffi " +
		"cublas_getrf_batched_ffi cusparse_gtsv2_ffi hipsolver_getrf_ffi magma_geev_ffi tpu_custom_call __gpu$xla.gpu.triton mosaic_gpu_v2 cudnn_rnn annotate_bounds_of_nobody")
	for _, target := range targets {
		text := fmt.Sprintf(`func.func @main(%%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>) {
  %%r:3 = stablehlo.custom_call @"%s"(%%a) {api_version = 4 : i32, backend_config = {}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  return %%r#0, %%r#1, %%r#2 : tensor<4x4xf32>, tensor<4xi32>, tensor<i32>
}`, target)
		_, err := tryRun(t, text, tensor.New(tensor.F32, tensor.Shape{4, 4}))
		var plugin *ops.PluginError
		if !errors.As(err, &plugin) || plugin.Target != target {
			t.Errorf("%s: error is %v", target, err)
			continue
		}
		if want := fmt.Sprintf("test.mlir:2:10: error: 'stablehlo.custom_call' op custom call target %q ", target); !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %v", err)
		}
	}
	for target, want := range map[string]string{"lapack_sgetrf_ffi": "", "nobody": "", "LuDecomposition": "tpu", "hipsolver_getrf_ffi": "rocm", "cu_threefry2x32_ffi": "cuda", "cusolver_getrf_ffi": "cuda", "cublas_getrf_batched_ffi": "cuda", "__gpu$xla.gpu.triton": "cuda"} {
		if got := (&ops.PluginError{Target: target}).Backend(); got != want {
			t.Errorf("%s: needs %s, not %s", target, got, want)
		}
	}
}

func TestRecursionEnds(t *testing.T) {
	_, err := tryRun(t, `func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %r = call @main(%a) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}`, tensor.New(tensor.F32, nil))
	if err == nil || !strings.Contains(err.Error(), "calls nest deeper than 10000") {
		t.Errorf("error is %v", err)
	}
}

func TestWrongArguments(t *testing.T) {
	text := `func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }`
	if _, err := tryRun(t, text); err == nil || !strings.Contains(err.Error(), "takes 1 arguments, not 0") {
		t.Errorf("error is %v", err)
	}
	if _, err := tryRun(t, text, tensor.New(tensor.F32, tensor.Shape{5})); err == nil || !strings.Contains(err.Error(), "argument 0 is tensor<5xf32>") {
		t.Errorf("error is %v", err)
	}
	arg := tensor.New(tensor.F32, tensor.Shape{4})
	out := run(t, text, arg)
	if &out[0].Bytes()[0] == &arg.Bytes()[0] {
		t.Error("the result is the argument's memory")
	}
}

// TestStuckCollective: a collective that some devices never reach is an error, not a deadlock.
func TestStuckCollective(t *testing.T) {
	_, err := tryRun(t, `func.func @gets_there(%a: tensor<2xf32>) -> tensor<4xf32> {
  %r = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @stays_away(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }
func.func @main() -> tensor<4xf32> {
  %a = stablehlo.constant dense<1.0> : tensor<2xf32>
  %r:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@gets_there], [@stays_away]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>)
  return %r#0 : tensor<4xf32>
}`)
	if err == nil || !strings.Contains(err.Error(), "'stablehlo.all_gather' op waits for devices that do not get there") {
		t.Errorf("error is %v", err)
	}
}

const inoutCall = `func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %b = stablehlo.add %a, %a : tensor<4xf32>
  %c = stablehlo.custom_call @hlocb_hook(%b) {api_version = 4 : i32, has_side_effect = true,
    backend_config = {abi = 1 : i64, id = 7 : i64, name = "scale", kind = "inout", chained = false},
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}
    : (tensor<4xf32>) -> tensor<4xf32>
  %d = stablehlo.add %b, %c : tensor<4xf32>
  return %c, %d : tensor<4xf32>, tensor<4xf32>
}`

func hookProgram(t *testing.T, h runtime.Handler) runtime.Executable {
	t.Helper()
	ty := hook.TensorType{DType: tensor.F32, Shape: tensor.Shape{4}}
	manifest := &hook.Manifest{Sites: []hook.Site{{ID: 7, Name: "scale", Kind: hook.InOut, SideEffect: true,
		Operands: []hook.TensorType{ty}, Results: []hook.TensorType{ty}, Aliases: []int{0}}}}
	var b runtime.Bindings
	b.Answer("scale", h)
	exe, err := New(Options{}).Compile(t.Context(), &runtime.Program{Module: testkit.Parse(t, "hook.mlir", []byte(inoutCall)), Manifest: manifest},
		runtime.CompileOptions{Handlers: &b, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// TestInoutHook: an inout hook writes in place; an operand that is used later keeps its value.
func TestInoutHook(t *testing.T) {
	exe := hookProgram(t, runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
		for i := range tensor.View[float32](c.Results[0]) {
			tensor.View[float32](c.Results[0])[i] *= 10
		}
		return nil
	}))
	arg := tensor.New(tensor.F32, tensor.Shape{4})
	copy(tensor.View[float32](arg), []float32{1, 2, 3, 4})
	for range 3 {
		out, err := exe.Run(t.Context(), []*tensor.Tensor{arg})
		if err != nil {
			t.Fatal(err)
		}
		c, d := tensor.View[float32](out[0]), tensor.View[float32](out[1])
		for i, a := range tensor.View[float32](arg) {
			if c[i] != 20*a || d[i] != 22*a {
				t.Fatalf("got %v and %v for %v", c, d, tensor.View[float32](arg))
			}
		}
	}
}

func TestFailingHook(t *testing.T) {
	boom := errors.New("boom")
	exe := hookProgram(t, runtime.HandlerFunc(func(context.Context, *runtime.Call) error { return boom }))
	arg := []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{4})}
	for want := int64(1); want <= 3; want++ {
		_, err := exe.Run(t.Context(), arg)
		var h *runtime.HookError
		if !errors.As(err, &h) || !errors.Is(err, boom) || h.Run != want || h.Hook != "scale" || h.Seq != 0 {
			t.Fatalf("error is %v", err)
		}
	}
	exe = hookProgram(t, runtime.HandlerFunc(func(ctx context.Context, _ *runtime.Call) error {
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond)
		return nil
	}))
	_, err := exe.Run(t.Context(), arg)
	var late *runtime.TimeoutError
	if !errors.As(err, &late) {
		t.Errorf("error is %v", err)
	}
}

// TestInternalErrorsAreLocated: a panic while an op is compiled becomes an error at that op.
func TestInternalErrorsAreLocated(t *testing.T) {
	opts := Options{Targets: func(string, *ir.Op) (Kernel, error) { panic("lost") }}
	_, err := compileWith(t, `func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %r = stablehlo.custom_call @mine(%a) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}`, opts, runtime.CompileOptions{})
	if want := "test.mlir:2:8: error: 'stablehlo.custom_call' op internal error: lost"; err == nil || err.Error() != want {
		t.Errorf("error is %v, not %s", err, want)
	}
}

// TestClosedBackend: a closed backend refuses programs and values.
func TestClosedBackend(t *testing.T) {
	b := New(Options{})
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	m := testkit.Parse(t, "test.mlir", []byte("func.func @main() {\n  return\n}"))
	if _, err := b.Compile(t.Context(), &runtime.Program{Module: m}, runtime.CompileOptions{}); !errors.Is(err, errClosed) {
		t.Errorf("error of a program is %v", err)
	}
	if _, err := b.Upload(t.Context(), tensor.New(tensor.F32, nil), runtime.Placement{}); !errors.Is(err, errClosed) {
		t.Errorf("error of a value is %v", err)
	}
}
