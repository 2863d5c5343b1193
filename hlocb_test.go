package hlocb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

var ctx = context.Background()

func parse(t *testing.T, text string, opts ...hlocb.LoadOption) *hlocb.Program {
	t.Helper()
	p, err := hlocb.Parse(ctx, "in.mlir", []byte(text), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// answerOne answers any hook of one f32 operand and one f32 scalar result with 1.
var answerOne = hlocb.Func(func(context.Context, hlocb.Array[float32]) (hlocb.Array[float32], error) {
	return hlocb.Scalar[float32](1), nil
})

func TestLoadReportsPositions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.mlir")
	if err := os.WriteFile(path, []byte("func.func @main() {\n  %0 = stablehlo.ad\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := hlocb.Load(ctx, path)
	if err == nil || !strings.Contains(err.Error(), "bad.mlir:2:") {
		t.Errorf("error is %v, want a position in bad.mlir", err)
	}
	if _, err := hlocb.Load(ctx, path+"x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error for a missing file is %v", err)
	}
}

func TestCompileNeedsAnswers(t *testing.T) {
	var unbound *runtime.UnboundError
	_, err := parse(t, scaled, hlocb.HookTargets("ask")).Compile(ctx, hlocb.On("engine"))
	if !errors.As(err, &unbound) || unbound.Site.Name != "scale" {
		t.Fatalf("error is %v, want the hook without an answer", err)
	}
	if strings.Contains(err.Error(), "--") {
		t.Errorf("a library error names a flag: %v", err)
	}
}

func TestRunChecksArguments(t *testing.T) {
	exe, err := parse(t, scaled, hlocb.HookTargets("ask")).Compile(ctx, hlocb.On("engine"), hlocb.Answer("scale", answerOne))
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	for _, c := range []struct {
		args []any
		want string
	}{
		{nil, "main has 1 arguments, 0 were given"},
		{[]any{float32(1)}, "argument 0 of main: value is a float32, expected an Array or a *Tensor"},
		{[]any{hlocb.ArrayOf([]float64{1, 2, 3})}, "elements are float64"},
		{[]any{hlocb.ArrayOf([]float32{1, 2})}, "shape is [2], expected [3]"},
	} {
		if _, err := exe.Run(ctx, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want %q", err, c.want)
		}
	}
	out, err := exe.Run(ctx, hlocb.ArrayOf([]float32{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hlocb.As[float64](out[0]); err == nil {
		t.Error("a tensor of f32 is read as float64")
	}
}

// TestCloseAfterTimeout: Close ends the executable and does not wait for a handler that never returns.
func TestCloseAfterTimeout(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, watched, hlocb.Timeout(10*time.Millisecond),
			hlocb.Answer("ask", hlocb.HandlerFunc(func(context.Context, *hlocb.Call) error { <-release; return nil })))
		var late *hlocb.TimeoutError
		if _, err := exe.Run(ctx, four); !errors.As(err, &late) {
			t.Fatalf("error is %v, want a *TimeoutError", err)
		}
		closed := make(chan error, 1)
		go func() { closed <- exe.Close() }()
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("Close waits for the handler")
		}
		if _, err := exe.Run(ctx, four); err == nil || !strings.Contains(err.Error(), "the executable is closed") {
			t.Errorf("a closed executable gives %v", err)
		}
	})
}

var four = hlocb.ArrayOf([]float32{1, 2, 3, 4})

// TestWrongArguments: both backends refuse wrong arguments in the same words.
func TestWrongArguments(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, step)
		ended, cancel := context.WithCancelCause(ctx)
		cancel(errors.New("not needed"))
		run := func(args ...any) error { _, err := exe.Run(ctx, args...); return err }
		runTensors := func(args ...*tensor.Tensor) error { _, err := exe.RunTensors(ctx, args); return err }
		put := func(v any) error { _, err := exe.Put(ctx, 1, v); return err }
		_, late := exe.Run(ended, four, four)
		_, uncompiled := parse(t, step).Compile(ended, hlocb.OnBackend(b))
		_, nowhere := runtime.Put(ctx, b, nil, runtime.Placement{})
		for _, c := range []struct {
			err  error
			want string
		}{
			{run(four), "main has 2 arguments, 1 were given"},
			{run(four, nil), "argument 1 of main: value is a <nil>, expected an Array or a *Tensor"},
			{run(four, (*tensor.Tensor)(nil)), "argument 1 of main: no value given"},
			{run(four, tensor.New(tensor.F64, tensor.Shape{4})), "argument 1 of main: value is a tensor<4xf64>, expected tensor<4xf32>"},
			{runTensors(tensor.New(tensor.F32, tensor.Shape{4})), "main has 2 arguments, 1 were given"},
			{runTensors(nil, nil), "argument 0 of main: no value given"},
			{runTensors(tensor.New(tensor.F32, tensor.Shape{5}), nil), "argument 0 of main: value is a tensor<5xf32>, expected tensor<4xf32>"},
			{put(nil), "argument 1 of main: value is a <nil>"},
			{put((*tensor.Tensor)(nil)), "argument 1 of main: no value given"},
			{nowhere, "no value given"},
			{late, "not needed"},
			{uncompiled, "not needed"},
		} {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("error is %v, want %s", c.err, c.want)
			}
		}
		closeAll(t, exe)
		if _, err := exe.Put(ctx, 0, four); err == nil || err.Error() != "the executable is closed" {
			t.Errorf("Put to a closed executable gives %v", err)
		}
	})
}

// TestRunEndsWithItsContext: Run returns although its handler does not.
func TestRunEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, watched, hlocb.Answer("ask", hlocb.HandlerFunc(func(context.Context, *hlocb.Call) error { <-release; return nil })))
		short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		ran := make(chan error, 1)
		go func() { _, err := exe.Run(short, four); ran <- err }()
		select {
		case err := <-ran:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error is %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("Run waits for the handler")
		}
		closeAll(t, exe)
	})
}

// TestGoexit: a handler that ends its goroutine, as testing.T.FailNow does, ends the run. The hook is named if the
// handler runs on a goroutine that hlocb started for it.
func TestGoexit(t *testing.T) {
	leave := hlocb.Answer("ask", hlocb.HandlerFunc(func(_ context.Context, c *hlocb.Call) error {
		if c.Device == 0 {
			goruntime.Goexit()
		}
		return c.SetResult(0, c.Operands[0])
	}))
	replicas := "module attributes {mhlo.num_replicas = 2 : i32} {\n" + watched + "}"
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		check := func(err error) {
			t.Helper()
			var hook *hlocb.HookError
			if !errors.Is(err, runtime.ErrGoexit) || !errors.As(err, &hook) || hook.Hook != "ask" {
				t.Errorf("error is %v", err)
			}
		}
		for _, text := range []string{watched, replicas} {
			exe := compile(t, b, text, leave, hlocb.Timeout(time.Minute))
			_, err := exe.Run(ctx, four)
			check(err)
			closeAll(t, exe)
		}
		if b.Name() != backends.Engine {
			return // on a plugin's thread Goexit ends the process
		}
		exe := compile(t, b, replicas, leave)
		_, err := exe.Run(ctx, four)
		check(err)
		closeAll(t, exe)
		exe = compile(t, b, watched, leave)
		cancellable, cancel := context.WithCancel(ctx)
		defer cancel()
		_, err = exe.Run(cancellable, four)
		check(err)
		x := put(t, exe, 0, 1, 2, 3, 4)
		p, err := exe.Start(ctx, []*hlocb.Buffer{x}, hlocb.ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Wait(ctx); !errors.Is(err, runtime.ErrGoexit) {
			t.Errorf("error is %v", err)
		}
		closeAll(t, exe, x)
	})
}

// TestWrongBindings: mistakes in the bindings of handlers are found before the program runs.
func TestWrongBindings(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		for want, o := range map[string]hlocb.CompileOption{
			`hook "ask" (call, id 423ee98abdc178be) does not fit its handler: the handler is nil`: hlocb.Observe("*", nil),
			`hook "ask" (call, id 423ee98abdc178be) needs a handler`:                              hlocb.Answer("ask", nil),
			`pattern "a[sk" of a handler: syntax error in pattern`:                                hlocb.Answer("a[sk", answerOne),
		} {
			if _, err := parse(t, watched, hlocb.HookTargets("ask")).Compile(ctx, hlocb.OnBackend(b), o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want %s", err, want)
			}
		}
	})
}

// TestAutoChoosesTheEngine: a program that plugins cannot run goes to the engine.
func TestAutoChoosesTheEngine(t *testing.T) {
	for name, p := range map[string]*hlocb.Program{
		"dynamic": parse(t, "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"),
		"as written": parse(t, `func.func @main(%x: tensor<f32>) {
			%t = stablehlo.create_token : !stablehlo.token
			%u = "stablehlo.outfeed"(%x, %t) {outfeed_config = "x"} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
			return
		}`, hlocb.AsWritten()),
	} {
		b, err := p.OpenBackend(ctx, "auto", hlocb.DefaultBackends())
		if err != nil {
			t.Fatal(err)
		}
		if b.Name() != backends.Engine {
			t.Errorf("%s: backend is %s", name, b.Name())
		}
	}
}

// TestAutoFindsThePlugin: by default Compile uses the CPU plugin that is installed.
func TestAutoFindsThePlugin(t *testing.T) {
	p := parse(t, "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")
	found, err := plugins.System().Find("cpu")
	if err != nil || !haveCgo {
		t.Skip("skip: the CPU plugin is not installed")
	}
	exe, err := p.Compile(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	if !strings.Contains(exe.Backend().Describe(), found[0].Path) {
		t.Fatalf("the program runs on %s, not on %s", exe.Backend().Describe(), found[0].Path)
	}
	text, err := exe.Save()
	if err != nil {
		t.Fatal(err)
	}
	again, err := hlocb.Decode("saved", text)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := again.Compile(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	out, err := loaded.Run(ctx, hlocb.ArrayOf([]float32{1, 2}))
	if err != nil || loaded.Recompiled() != nil {
		t.Fatal(err, loaded.Recompiled())
	}
	if y, err := hlocb.As[float32](out[0]); err != nil || y.Data[1] != 2 {
		t.Errorf("result is %v, %v", y, err)
	}
}

// TestTrueBytes: any byte except 0 that a handler writes for i1 is true, so a value and its negation differ on every
// backend.
func TestTrueBytes(t *testing.T) {
	p := parse(t, `func.func @main(%x: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi32>) {
  %0 = stablehlo.custom_call @ask(%x) {api_version = 4 : i32, has_side_effect = true} : (tensor<4xi1>) -> tensor<4xi1>
  %1 = stablehlo.not %0 : tensor<4xi1>
  %2 = stablehlo.convert %0 : (tensor<4xi1>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<4xi32>
}`, hlocb.HookTargets("ask"))
	names := []string{"engine"}
	if _, err := plugins.System().Find("cpu"); err == nil && haveCgo {
		names = append(names, "cpu")
	}
	for _, name := range names {
		for timeout := range 2 { // with a limit of time, handlers write to copies
			exe, err := p.Compile(ctx, hlocb.On(name), hlocb.Timeout(time.Duration(timeout)*time.Minute),
				hlocb.Answer("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error {
					copy(c.Results[0].Bytes(), []byte{0, 1, 2, 255})
					return nil
				})))
			if err != nil {
				t.Fatal(err)
			}
			out, err := exe.RunTensors(ctx, []*tensor.Tensor{tensor.New(tensor.I1, tensor.Shape{4})})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(out[0].Bytes(), out[1].Bytes(), tensor.View[int32](out[2])); got != "[0 1 1 1] [1 0 0 0] [0 1 1 1]" {
				t.Errorf("%s: %s", name, got)
			}
			if err := exe.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNotAModule(t *testing.T) {
	for text, want := range map[string]string{
		"# A title\n\nSome words.\n":    "in.mlir:1:1: error: not a module",
		"// A comment\nimport jax\n":    "in.mlir:2:1: error: not a module",
		"HloModule m\n":                 "in.mlir:2:1: error: expected a computation",
		"ML\xefR\x01":                   "in.mlir: offset 5: error: expected a string that ends with a zero byte",
		"\x7fELF\x00\x00":               "this is a binary file",
		"func @main() { return }\n":     "in.mlir:1:1",
		"hlocb program 1\nand the rest": "a compiled program, expected a module",
		" \n":                           "found an empty file",
	} {
		_, err := hlocb.Parse(ctx, "in.mlir", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%q: error is %v, want one line with %q", text, err, want)
		}
	}
}

// TestPluginsRunMain: a module without @main runs its only function on both backends. If it has several functions, none
// is chosen.
func TestPluginsRunMain(t *testing.T) {
	if _, err := plugins.System().Find("cpu"); err != nil || !haveCgo {
		t.Skip("skip: the CPU plugin is not installed")
	}
	const step = "func.func private @step(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
	for _, backend := range []string{"engine", "cpu"} {
		exe, err := parse(t, step).Compile(ctx, hlocb.On(backend))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exe.RunTensors(ctx, []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{2})}); err != nil {
			t.Error(err)
		}
		if err := exe.Close(); err != nil {
			t.Error(err)
		}
		_, err = parse(t, step+"\nfunc.func @other() { return }").Compile(ctx, hlocb.On(backend))
		if err == nil || !strings.Contains(err.Error(), "no function @main") {
			t.Errorf("%s: error is %v", backend, err)
		}
	}
}

// No number of devices is ignored because it is large, whether an option or the module states it.
func TestTooManyDevices(t *testing.T) {
	const text = "module ATTRS {\n  func.func @main(%x: tensor<f32>) -> tensor<f32> {\n    return %x : tensor<f32>\n  }\n}\n"
	load := func(attrs string, opts ...hlocb.LoadOption) error {
		_, err := hlocb.Parse(t.Context(), "in.mlir", []byte(strings.Replace(text, "ATTRS", attrs, 1)), opts...)
		return err
	}
	for _, err := range []error{
		load("", hlocb.Devices(2_000_000_000, 0)),
		load("", hlocb.Devices(0, 3_000_000_000)),
		load("attributes {mhlo.num_replicas = 2147483647 : i32}"),
		load("attributes {stablehlo.num_partitions = 1048576 : i32}"),
	} {
		if err == nil || !strings.Contains(err.Error(), "expected at most 1048575 of each") {
			t.Errorf("error is %v", err)
		}
	}
	if err := load("attributes {mhlo.num_replicas = 1048575 : i32}"); err != nil {
		t.Error(err)
	}
}
