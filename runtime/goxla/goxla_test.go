//go:build cgo

package goxla

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/go-xla/pjrt"
	"github.com/gomlx/go-xla/stablehlo"
	"github.com/gomlx/go-xla/types/shapes"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/testkit"
	"github.com/hlocb/hlocb/runtime"
	hpjrt "github.com/hlocb/hlocb/runtime/pjrt"
	"github.com/hlocb/hlocb/runtime/plugins"
	"github.com/hlocb/hlocb/tensor"
)

// cpuPluginPath returns the file of the installed CPU plugin, or skips the test.
func cpuPluginPath(t *testing.T) string {
	t.Helper()
	return cpuPlugins(t)[0].Path
}

func cpuPlugins(t *testing.T) []plugins.Plugin {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("skip: no cache directory: %v", err)
	}
	found, err := plugins.Environment{Getenv: os.Getenv, CacheDir: filepath.Join(cache, "hlocb", "plugins")}.Find("cpu")
	if err != nil {
		t.Skipf("skip: no CPU plugin: %v", err)
	}
	return found
}

func client(t *testing.T) *pjrt.Client {
	t.Helper()
	p, err := Plugin("hlocb-cpu", cpuPluginPath(t))
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Destroy(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// square builds main(x) = host(x*x) with go-xla's builder, where host is a custom call of no platform.
func square(t *testing.T) []byte {
	t.Helper()
	b := stablehlo.New("square")
	main := b.Main()
	shape := shapes.Make(dtypes.F32, 3)
	x, err := main.Input(shape)
	if err != nil {
		t.Fatal(err)
	}
	y, err := stablehlo.Multiply(x, x)
	if err != nil {
		t.Fatal(err)
	}
	out, err := stablehlo.CustomCallV2("host", "", []*stablehlo.Value{y}, nil, []shapes.Shape{shape}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := main.Return(out...); err != nil {
		t.Fatal(err)
	}
	text, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var vector = hook.TensorType{DType: tensor.F32, Shape: tensor.Shape{3}}

func manifest() *hook.Manifest {
	return &hook.Manifest{Sites: []hook.Site{{ID: 0x77, Name: "host", Kind: hook.Call, SideEffect: true,
		Operands: []hook.TensorType{vector}, Results: []hook.TensorType{vector}}}}
}

var hostCall = regexp.MustCompile(`"stablehlo.custom_call"\((%[0-9]+)\) \{[^}]*\}`)

// asHook converts the builder's custom call to hlocb's own.
func asHook(t *testing.T, text []byte) []byte {
	t.Helper()
	out := hostCall.ReplaceAll(text, []byte(`"stablehlo.custom_call"($1) {call_target_name = "hlocb_hook", api_version = 4 : i32, has_side_effect = true,`+
		` backend_config = {abi = 1 : i64, id = 119 : i64, name = "host", kind = "call", chained = false}}`))
	if string(out) == string(text) {
		t.Fatalf("no custom call in\n%s", text)
	}
	return out
}

func execute(t *testing.T, c *pjrt.Client, e *pjrt.LoadedExecutable, device int, x ...float32) ([]float32, error) {
	t.Helper()
	in, err := c.BufferFromHost().FromFlatDataWithDimensions(x, []int{len(x)}).ToDeviceNum(device).Done()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Destroy()
	out, err := e.Execute(in).OnDeviceByNum(device).Done()
	if err != nil {
		return nil, err
	}
	defer out[0].Destroy()
	y, _, err := pjrt.BufferToArray[float32](out[0])
	return y, err
}

func TestHooksOfGoXLAsProgram(t *testing.T) {
	c := client(t)
	boom := errors.New("boom")
	fail := false
	var seen []string
	var b runtime.Bindings
	b.Answer("host", runtime.HandlerFunc(func(_ context.Context, call *runtime.Call) error {
		x := tensor.View[float32](call.Operands[0])
		seen = append(seen, fmt.Sprint(x, call.Run, call.Seq, call.Device))
		if fail {
			return boom
		}
		for i, v := range x {
			tensor.View[float32](call.Results[0])[i] = v + 1
		}
		return nil
	}))
	a, err := Attach(context.Background(), c, manifest(), hpjrt.AttachOptions{Handlers: &b})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Detach()
	e, err := c.Compile().WithStableHLO(asHook(t, square(t))).Done()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Destroy()

	y, err := execute(t, c, e, 0, 1, 2, 3)
	if err != nil || fmt.Sprint(y) != "[2 5 10]" {
		t.Errorf("result is %v, %v, expected [2 5 10]", y, err)
	}
	fail = true
	if _, err := execute(t, c, e, 0, 1, 1, 1); err == nil {
		t.Error("go-xla's execution did not fail")
	}
	var he *runtime.HookError
	if err := a.Err(); !errors.As(err, &he) || !errors.Is(err, boom) || he.Hook != "host" {
		t.Errorf("Err is %v, expected the handler's error", err)
	}
	if err := a.Err(); err != nil {
		t.Errorf("second Err is %v", err)
	}
	fail = false
	if y, err := execute(t, c, e, 1, 0, 0, 5); err != nil || fmt.Sprint(y) != "[1 1 26]" {
		t.Errorf("after a failure: %v, %v", y, err)
	}
	if got := fmt.Sprint(seen); got != "[[1 4 9] 0 0 0 [1 1 1] 0 1 0 [0 0 25] 0 0 1]" {
		t.Errorf("handler saw %s", got)
	}
}

func TestAttachOncePerHook(t *testing.T) {
	c := client(t)
	var b runtime.Bindings
	b.Answer("*", runtime.HandlerFunc(func(context.Context, *runtime.Call) error { return nil }))
	opts := hpjrt.AttachOptions{Handlers: &b}
	a, err := Attach(context.Background(), c, manifest(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Attach(context.Background(), c, manifest(), opts); err == nil {
		t.Error("the same hook was attached twice")
	}
	a.Detach()
	a.Detach()
	a, err = Attach(context.Background(), c, manifest(), opts)
	if err != nil {
		t.Fatalf("attaching after Detach: %v", err)
	}
	a.Detach()
}

// TestGoXLAAgrees runs one program through go-xla and through runtime/pjrt.
func TestGoXLAAgrees(t *testing.T) {
	c := client(t)
	text := asHook(t, square(t))
	var b runtime.Bindings
	b.Answer("*", runtime.HandlerFunc(func(_ context.Context, call *runtime.Call) error {
		copy(call.Results[0].Bytes(), call.Operands[0].Bytes())
		return nil
	}))
	p, err := pluginOf(c)
	if err != nil {
		t.Fatal(err)
	}
	backend, err := hpjrt.Open(p.Path(), hpjrt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := backend.Compile(context.Background(), &runtime.Program{Module: testkit.Parse(t, "square.mlir", string(text)), Manifest: manifest()}, runtime.CompileOptions{Handlers: &b})
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New(tensor.F32, tensor.Shape{3})
	copy(tensor.View[float32](x), []float32{0.1, -7, 3e20})
	want, err := ours.Run(context.Background(), []*tensor.Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(ours.Close(), backend.Close()); err != nil {
		t.Error(err)
	}

	a, err := Attach(context.Background(), c, manifest(), hpjrt.AttachOptions{Handlers: &b})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Detach()
	e, err := c.Compile().WithStableHLO(text).Done()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Destroy()
	got, err := execute(t, c, e, 0, tensor.View[float32](x)...)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(tensor.View[float32](want[0])) {
		t.Errorf("go-xla gives %v (%v), hlocb %v", got, err, tensor.View[float32](want[0]))
	}
}
