package hlocb_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/passes"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/runtime/backends"
	"github.com/hlocb/hlocb/runtime/plugins"
)

// addOne taps its operand and adds one.
const addOne = `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.custom_call @seen(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}`

// cpuDevices opens the CPU plugin with 8 devices.
func cpuDevices(t *testing.T, p *hlocb.Program) runtime.Backend {
	t.Helper()
	if !haveCgo {
		t.Skip("skip: no cgo")
	}
	if _, err := plugins.System().Find("cpu"); err != nil {
		t.Skipf("skip: no CPU plugin: %v", err)
	}
	b, err := p.OpenBackend(context.Background(), "cpu", backends.Options{Plugins: plugins.System(), Devices: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestDevices: one program runs on each of 8 devices, and a value moves from device to device.
func TestDevices(t *testing.T) {
	ctx := context.Background()
	p, err := hlocb.Parse(ctx, "m.mlir", []byte(addOne), hlocb.HookTargets("seen"))
	if err != nil {
		t.Fatal(err)
	}
	b := cpuDevices(t, p)
	var mu sync.Mutex
	var seen []int // ordinals
	exes := make([]*hlocb.Executable, 8)
	for n := range exes {
		exes[n], err = p.Compile(ctx, hlocb.Device(n), hlocb.OnBackend(b), hlocb.Observe("*", hlocb.HandlerFunc(func(_ context.Context, c *hlocb.Call) error {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, int(c.Ordinal))
			return nil
		})))
		if err != nil {
			t.Fatal(err)
		}
		defer exes[n].Close()
	}
	value, err := exes[0].Put(ctx, 0, hlocb.ArrayOf([]float32{0, 1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exes[3].Execute(ctx, []*hlocb.Buffer{value}, hlocb.ExecuteOptions{}); err == nil || !strings.Contains(err.Error(), "the buffer lies on device [0], the program expects it on [3]") {
		t.Errorf("a buffer on another device: %v", err)
	}
	for n, e := range exes {
		there, err := value.CopyTo(ctx, runtime.Placement{Devices: []int{n}})
		if err != nil {
			t.Fatal(err)
		}
		value.Close()
		out, err := e.Execute(ctx, []*hlocb.Buffer{there}, hlocb.ExecuteOptions{})
		there.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got := out[0].Placement().Devices; !slices.Equal(got, []int{n}) {
			t.Errorf("the result lies on %v, expected device %d", got, n)
		}
		value = out[0]
	}
	last, err := value.Get(ctx)
	value.Close()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := hlocb.As[float32](last); !slices.Equal(got.Data, []float32{8, 9, 10, 11}) {
		t.Errorf("after 8 devices the value is %v", got.Data)
	}
	if !slices.Equal(seen, []int{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("the hooks fired on devices %v", seen)
	}
	for _, c := range []struct {
		devices []int
		want    string
	}{
		{[]int{8}, "cpu has no device 8: it has 8"},
		{[]int{-1}, "device -1 is negative or named twice"},
		{[]int{1, 2}, "2 devices are assigned, the program runs on 1"},
	} {
		_, err := p.Compile(ctx, hlocb.DeviceAssignment(c.devices...), hlocb.OnBackend(b), hlocb.Observe("*", hlocb.HandlerFunc(func(context.Context, *hlocb.Call) error { return nil })))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("devices %v: error is %v, expected %q", c.devices, err, c.want)
		}
	}
}

// TestDeviceAssignment: a partitioned program runs on the devices in the order of its assignment.
func TestDeviceAssignment(t *testing.T) {
	ctx := context.Background()
	p, err := hlocb.Parse(ctx, "m.mlir", []byte(`module attributes {mhlo.num_partitions = 2 : i32} {
func.func @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> (tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}`))
	if err != nil {
		t.Fatal(err)
	}
	b := cpuDevices(t, p)
	for _, devices := range [][]int{{0, 1}, {6, 2}, {1, 0}} {
		e, err := p.Compile(ctx, hlocb.OnBackend(b), hlocb.DeviceAssignment(devices...))
		if err != nil {
			t.Fatal(err)
		}
		x, err := e.Put(ctx, 0, hlocb.ArrayOf([]float32{0, 1, 2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.Execute(ctx, []*hlocb.Buffer{x}, hlocb.ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := out[0].Placement().Devices; !slices.Equal(got, devices) {
			t.Errorf("the result lies on %v, expected %v", got, devices)
		}
		whole, err := out[0].CopyTo(ctx, runtime.Placement{Devices: []int{5}})
		if err != nil {
			t.Fatal(err)
		}
		v, err := whole.Get(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := hlocb.As[float32](v); !slices.Equal(got.Data, []float32{0, 2, 4, 6}) {
			t.Errorf("on %v the result is %v", devices, got.Data)
		}
		for _, b := range []*hlocb.Buffer{x, out[0], whole} {
			b.Close()
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOptionsByName: options of the client and the compiler reach the plugin, which refuses unknown ones.
func TestOptionsByName(t *testing.T) {
	ctx := context.Background()
	p, err := hlocb.Parse(ctx, "m.mlir", []byte("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	cpuDevices(t, p)
	for _, c := range []struct {
		option hlocb.CompileOption
		want   string
	}{
		{hlocb.CompilerOption("xla_cpu_enable_fast_math", false), ""},
		{hlocb.CompilerOption("xla_no_such_option", int64(3)), "xla_no_such_option"},
		{hlocb.CompilerOption("xla_backend_optimization_level", 3), "is a int, expected string, bool, int64 or float64"},
		{hlocb.ClientOption("cpu_device_count", int64(3)), ""},
		{hlocb.ClientOption("cpu_device_count", struct{}{}), "is a struct {}, expected string, bool, int64, []int64 or float32"},
	} {
		e, err := p.Compile(ctx, hlocb.On("cpu"), c.option)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, expected %q", err, c.want)
		}
		if err == nil {
			if _, err := e.Run(ctx, hlocb.ArrayOf(make([]float32, 4))); err != nil {
				t.Error(err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, option := range []hlocb.CompileOption{hlocb.Device(1), hlocb.CompilerOption("a", "b")} {
		if _, err := p.Compile(ctx, hlocb.On("engine"), option); err == nil || !strings.Contains(err.Error(), "the embedded engine has no") {
			t.Errorf("the engine: %v", err)
		}
	}
}

// TestOptionsAddUp: options of one kind add up in any order.
func TestOptionsAddUp(t *testing.T) {
	ctx := context.Background()
	count := 0
	counter := hlocb.HandlerFunc(func(context.Context, *hlocb.Call) error { count++; return nil })
	var b runtime.Bindings
	b.Observe("*", counter)
	targets := []hlocb.LoadOption{hlocb.HookTargets("seen"), hlocb.Rewrite(passes.RewriteHooks{}), hlocb.HookTargets("other")}
	bindings := []hlocb.CompileOption{hlocb.Observe("*", counter), hlocb.Bind(&b), hlocb.On("engine")}
	for range 2 {
		p, err := hlocb.Parse(ctx, "m.mlir", []byte(addOne), targets...)
		if err != nil {
			t.Fatal(err)
		}
		count = 0
		e, err := p.Compile(ctx, bindings...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(ctx, hlocb.ArrayOf(make([]float32, 4))); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(e.Close()); err != nil || count != 2 {
			t.Errorf("%d handlers saw the event, expected 2; %v", count, err)
		}
		slices.Reverse(targets)
		slices.Reverse(bindings)
	}
}
