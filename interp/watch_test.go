package interp

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

func compileWith(t *testing.T, text string, opts Options, copts runtime.CompileOptions) (runtime.Executable, error) {
	t.Helper()
	return New(opts).Compile(t.Context(), &runtime.Program{Module: testkit.Parse(t, "test.mlir", []byte(text))}, copts)
}

// waitForGoroutines waits until at most n goroutines are left.
func waitForGoroutines(t *testing.T, n int) {
	t.Helper()
	for range 200 {
		if goruntime.NumGoroutine() <= n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines are left of %d:\n%s", goruntime.NumGoroutine(), n, buf[:goruntime.Stack(buf, true)])
}

func TestTimeoutEndsLoops(t *testing.T) {
	before := goruntime.NumGoroutine()
	for _, replicas := range []int{1, 3} {
		exe, err := compileWith(t, endless, Options{}, runtime.CompileOptions{Timeout: time.Second, Replicas: replicas})
		if err != nil {
			t.Fatal(err)
		}
		_, err = exe.Run(t.Context(), nil)
		var late *runtime.TimeoutError
		var located *exec.OpError
		if !errors.As(err, &late) || !late.Program || !errors.As(err, &located) ||
			located.Error() != "test.mlir:3:8: error: 'stablehlo.while' op takes longer than 1s without a callback" {
			t.Errorf("%d replicas: error is %v", replicas, err)
		}
		if err := exe.Close(); err != nil {
			t.Error(err)
		}
	}
	waitForGoroutines(t, before)
}

// TestTimeoutIsPerCallback: a loop of callbacks may take any time if each callback comes in time.
func TestTimeoutIsPerCallback(t *testing.T) {
	const text = `func.func @main(%n: tensor<i32>) -> tensor<i32> {
  %r = stablehlo.while(%i = %n) : tensor<i32>
    cond {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %c = stablehlo.compare GT, %i, %z, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %seen = "interpreter.probe"(%i) {probe_id = "x"} : (tensor<i32>) -> tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %k = stablehlo.subtract %seen, %one : tensor<i32>
      stablehlo.return %k : tensor<i32>
    }
  return %r : tensor<i32>
}`
	var bind runtime.Bindings
	n := 0
	bind.Observe("x", runtime.HandlerFunc(func(context.Context, *runtime.Call) error {
		n++
		time.Sleep(20 * time.Millisecond)
		return nil
	}))
	exe, err := compileWith(t, text, Options{}, runtime.CompileOptions{Timeout: 150 * time.Millisecond, Handlers: &bind})
	if err != nil {
		t.Fatal(err)
	}
	count := tensor.New(tensor.I32, nil)
	tensor.View[int32](count)[0] = 20
	if _, err := exe.Run(t.Context(), []*tensor.Tensor{count}); err != nil || n != 20 {
		t.Errorf("%d events, error %v", n, err)
	}
}

// TestTimeoutAbandonsKernels: after the timeout, a run abandons an op that does not check the time, reports its
// position, and starts no later op.
func TestTimeoutAbandonsKernels(t *testing.T) {
	before := goruntime.NumGoroutine()
	exe, err := compileWith(t, `func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = stablehlo.add %a, %a : tensor<4xf32>
  %c = stablehlo.multiply %b, %a : tensor<4xf32>
  return %c : tensor<4xf32>
}`, Options{}, runtime.CompileOptions{Timeout: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	later := atomic.Bool{}
	instrs := exe.(*Executable).entry.Body.Instrs
	instrs[0].Kernel, instrs[1].Kernel = nil, nil
	instrs[0].Run = func(*exec.Machine, *exec.Frame, *exec.Instr) { <-release }
	instrs[1].Run = func(*exec.Machine, *exec.Frame, *exec.Instr) { later.Store(true) }
	_, err = exe.Run(t.Context(), []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{4})})
	var late *runtime.TimeoutError
	if !errors.As(err, &late) || err.Error() != "test.mlir:2:8: error: 'stablehlo.add' op takes longer than 10ms without a callback" {
		t.Errorf("error is %v", err)
	}
	close(release)
	waitForGoroutines(t, before)
	if later.Load() {
		t.Error("the next op was executed")
	}
}

func TestMemoryLimitIsShared(t *testing.T) {
	// Each device holds 4 MiB; 6 MiB are not enough for two. At the collective both devices hold their memory.
	const text = `func.func @main() -> tensor<f32> {
  %0 = stablehlo.iota dim = 0 : tensor<1048576xf32>
  %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<1048576xf32>) -> tensor<2097152xf32>
  %2 = stablehlo.slice %1 [0:1] : (tensor<2097152xf32>) -> tensor<1xf32>
  %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}`
	for limit, want := range map[int64]string{1 << 30: "", 6 << 20: "the memory limit is 6291456"} {
		exe, err := compileWith(t, text, Options{MemoryLimit: limit}, runtime.CompileOptions{Replicas: 2})
		if err != nil {
			t.Fatal(err)
		}
		_, err = exe.Run(t.Context(), nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "test.mlir:")) {
			t.Errorf("limit %d: error is %v", limit, err)
		}
	}
}

// TestMemoryLimitRefuses: huge constants are refused at compilation, and huge temporaries of kernels before they are
// allocated.
func TestMemoryLimitRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"constant", `func.func @main() -> tensor<1000000x1000000xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<1000000x1000000xf32>
  return %0 : tensor<1000000x1000000xf32>
}`, "test.mlir:2:8: error: 'stablehlo.constant' op needs 4000000000000 bytes"},
		{"dynamic", `func.func @main() -> tensor<?xf32> {
  %n = stablehlo.constant dense<1000000000000> : tensor<1xi64>
  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}`, "test.mlir:3:8: error: 'stablehlo.dynamic_iota' op needs 4000000000000 bytes"},
		{"padding", `func.func @main(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<2xf32> {
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 500000000000>, window_strides = array<i64: 999999999999>,
      padding = dense<[[500000000000, 1000000000000]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}`, "test.mlir:2:8: error: 'stablehlo.reduce_window' op needs "},
		{"loop", `func.func @main() -> tensor<?xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<2xi32>
  %d = stablehlo.convert %0 : (tensor<2xi32>) -> tensor<?xi32>
  %r = stablehlo.while(%v = %d) : tensor<?xi32>
    cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %w = stablehlo.concatenate %v, %v, dim = 0 : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
      stablehlo.return %w : tensor<?xi32>
    }
  return %r : tensor<?xi32>
}`, "test.mlir:9:12: error: 'stablehlo.concatenate' op needs "},
	} {
		exe, err := compileWith(t, c.text, Options{MemoryLimit: 1 << 26}, runtime.CompileOptions{})
		if err == nil {
			var args []*tensor.Tensor
			if strings.Contains(c.text, "%x: tensor<4xf32>") {
				args = []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{4}), tensor.New(tensor.F32, nil)}
			}
			_, err = exe.Run(t.Context(), args)
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), "the memory limit is 67108864") {
			t.Errorf("%s: error is %v", c.name, err)
		}
	}
}

func TestProgress(t *testing.T) {
	var last atomic.Pointer[exec.Progress]
	opts := Options{ProgressEvery: time.Millisecond, Progress: func(p exec.Progress) { last.Store(&p) }}
	exe, err := compileWith(t, endless, opts, runtime.CompileOptions{Timeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = exe.Run(t.Context(), nil); err == nil {
		t.Fatal("an endless loop ends")
	}
	p := last.Load()
	if p == nil || p.Loops == 0 || p.Op == "" || p.Source == nil || !p.Pos.IsValid() || p.Elapsed <= 0 {
		t.Errorf("progress is %+v", p)
	}
}

// TestMemoryIsGivenBack: the memory of consecutive runs of one executable does not add up.
func TestMemoryIsGivenBack(t *testing.T) {
	exe, err := compileWith(t, `func.func @main(%a: tensor<1000xf32>) -> tensor<1000xf32> {
  %b = stablehlo.add %a, %a : tensor<1000xf32>
  %c = stablehlo.multiply %b, %a : tensor<1000xf32>
  %d = stablehlo.add %b, %c : tensor<1000xf32>
  return %d : tensor<1000xf32>
}`, Options{MemoryLimit: 9000}, runtime.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := tensor.New(tensor.F32, tensor.Shape{1000})
	for i := range 50 {
		if _, err := exe.Run(t.Context(), []*tensor.Tensor{a}); err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
	}
}

// TestHostOpNeedsAHook: the engine knows no format of hooks. A host op that stands for no hook of the manifest is an
// error.
func TestHostOpNeedsAHook(t *testing.T) {
	for name, op := range map[string]string{
		"outfeed": `%u = "stablehlo.outfeed"(%x, %t) : (tensor<i32>, !stablehlo.token) -> !stablehlo.token`,
		"infeed":  `%v, %u = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)`,
		"send":    `%u = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<i32>, !stablehlo.token) -> !stablehlo.token`,
		"recv":    `%v, %u = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)`,
	} {
		text := "func.func @main(%x: tensor<i32>) -> tensor<i32> {\n%t = stablehlo.create_token : !stablehlo.token\n" + op + "\nreturn %x : tensor<i32>\n}"
		exe, err := compileWith(t, text, Options{}, runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = exe.Run(t.Context(), []*tensor.Tensor{tensor.New(tensor.I32, nil)})
		if want := "test.mlir:3:"; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "'stablehlo."+name+"' op talks to the host, but no hook") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
