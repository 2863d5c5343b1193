//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// reduceBody taps x before and the sum over all devices after a collective.
func reduceBody(devices int) (string, []hook.Site) {
	groups := ""
	for i := range devices {
		if i > 0 {
			groups += ", "
		}
		groups += fmt.Sprint(i)
	}
	before := hookSite(1, "before", hook.Tap, []hook.TensorType{scalar}, []hook.TensorType{scalar})
	after := hookSite(2, "after", hook.Tap, []hook.TensorType{scalar}, []hook.TensorType{scalar})
	before.Aliases, after.Aliases = []int{0}, []int{0}
	body := hookCall("%a", before, "%c0", "%x") + fmt.Sprintf(`%%s = "stablehlo.all_reduce"(%%a#1) ({
^bb0(%%p: tensor<f32>, %%q: tensor<f32>):
  %%t = stablehlo.add %%p, %%q : tensor<f32>
  stablehlo.return %%t : tensor<f32>
}) {replica_groups = dense<[[%s]]> : tensor<1x%dxi64>} : (tensor<f32>) -> tensor<f32>
`, groups, devices) + hookCall("%b", after, "%a#0", "%s") + "return %b#1 : tensor<f32>\n"
	return body, []hook.Site{before, after}
}

func compileReplicas(t *testing.T, devices int, b *runtime.Bindings) *Executable {
	t.Helper()
	body, sites := reduceBody(devices)
	e, err := backend(t).Compile(context.Background(), program("(%x: tensor<f32>) -> tensor<f32>", body, sites...),
		runtime.CompileOptions{Handlers: b, Replicas: devices})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e.(*Executable)
}

func TestReplicas(t *testing.T) {
	for _, devices := range []int{1, 2, 4, 8} {
		t.Run(fmt.Sprint(devices), func(t *testing.T) {
			var mu sync.Mutex
			events := map[int][]string{}
			e := compileReplicas(t, devices, observe(func(c *runtime.Call) {
				mu.Lock()
				defer mu.Unlock()
				events[c.Device] = append(events[c.Device], fmt.Sprintf("%s/%d/%d/%d=%v", c.Site.Name, c.Seq, c.Replica, c.Partition, tensor.View[float32](c.Operands[0])[0]))
			}))
			for range 20 {
				clear(events)
				args := make([][]*tensor.Tensor, devices)
				for d := range args {
					args[d] = []*tensor.Tensor{f32(nil, float32(d+1))}
				}
				results, err := e.RunDevices(context.Background(), args)
				if err != nil {
					t.Fatal(err)
				}
				sum := devices * (devices + 1) / 2
				for d := range devices {
					if got := tensor.View[float32](results[d][0])[0]; got != float32(sum) {
						t.Errorf("device %d gives %v, expected %d", d, got, sum)
					}
					if got, want := fmt.Sprint(events[d]), fmt.Sprintf("[before/0/%d/0=%d after/1/%d/0=%d]", d, d+1, d, sum); got != want {
						t.Errorf("device %d saw %s, expected %s", d, got, want)
					}
				}
			}
		})
	}
}

// TestFailureOnOneDevice fails on one device before a collective in which the other devices wait. With an FFI error
// they would wait until XLA ends the process.
func TestFailureOnOneDevice(t *testing.T) {
	for _, how := range []string{"error", "panic"} {
		t.Run(how, func(t *testing.T) {
			fail := true
			var mu sync.Mutex
			after := 0
			e := compileReplicas(t, 4, answer(func(_ context.Context, c *runtime.Call) error {
				if c.Site.Name == "after" {
					mu.Lock()
					after++
					mu.Unlock()
				}
				if !fail || c.Device != 2 || c.Site.Name != "before" {
					return nil
				}
				if how == "panic" {
					panic("at device 2")
				}
				return errMine
			}))
			for i := range 10 {
				fail, after = i%2 == 0, 0
				start := time.Now()
				_, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
				if time.Since(start) > 5*time.Second {
					t.Fatalf("the run took %v", time.Since(start))
				}
				if !fail {
					if err != nil || after != 4 {
						t.Fatalf("a run after a failed one: %v, %d events after the collective", err, after)
					}
					continue
				}
				var he *runtime.HookError
				if !errors.As(err, &he) || he.Device != 2 || he.Hook != "before" {
					t.Fatalf("error is %v, expected device 2's", err)
				}
				if after != 0 {
					t.Fatalf("%d hooks fired after the failure", after)
				}
			}
		})
	}
}

// TestSlowDevice: one handler is slow; the other devices wait and the run succeeds.
func TestSlowDevice(t *testing.T) {
	e := compileReplicas(t, 4, answer(func(_ context.Context, c *runtime.Call) error {
		if c.Device == 3 && c.Site.Name == "before" {
			time.Sleep(200 * time.Millisecond)
		}
		return nil
	}))
	if _, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)}); err != nil {
		t.Error(err)
	}
}

func TestReentryOnSeveralDevices(t *testing.T) {
	inner := compileReplicas(t, 4, observe(func(*runtime.Call) {}))
	outer := compileReplicas(t, 4, answer(func(ctx context.Context, c *runtime.Call) error {
		if c.Site.Name != "before" || c.Device != 1 {
			return nil
		}
		r, err := inner.Run(ctx, []*tensor.Tensor{f32(nil, 2)})
		if err == nil && tensor.View[float32](r[0])[0] != 8 {
			err = fmt.Errorf("inner result is %v", tensor.View[float32](r[0]))
		}
		return err
	}))
	done := make(chan error, 1)
	go func() {
		_, err := outer.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("a handler that runs a program waits forever")
	}
}

// shardyProgram runs once per partition on shards of x, tapping each shard inside a manual computation.
func shardyProgram() *runtime.Program {
	shard := tt(tensor.F32, 2)
	s := hookSite(3, "shard", hook.Tap, []hook.TensorType{shard}, []hook.TensorType{shard})
	s.Aliases = []int{0}
	text := `module @m attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
%r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%y: tensor<2xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<ui64>
  ` + hookCall("%t", s, "%c0", "%y") + `  %z = stablehlo.add %t#1, %t#1 : tensor<2xf32>
  sdy.return %z : tensor<2xf32>
} : (tensor<8xf32>) -> tensor<8xf32>
return %r : tensor<8xf32>
}
}
`
	return &runtime.Program{Module: mustParse(text), Manifest: &hook.Manifest{Sites: []hook.Site{s}}}
}

// brokenMemory is a device's memory whose use panics.
type brokenMemory struct{ farMemory }

func (brokenMemory) ToHost(unsafe.Pointer, []byte, unsafe.Pointer) error {
	return errors.New("unreachable")
}
func (brokenMemory) Clear(unsafe.Pointer, unsafe.Pointer, int) error { panic("broken memory") }

// TestPanicOutsideOfHandlers: a panic in hlocb's own code after a hook has failed ends the run, not the process.
func TestPanicOutsideOfHandlers(t *testing.T) {
	b, err := Open(cpuPlugin(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := hook.TensorType{DType: tensor.F32, Shape: tensor.Shape{4}}
	s := hookSite(77, "ask", hook.Call, []hook.TensorType{v}, []hook.TensorType{v})
	p := program("(%x: tensor<4xf32>) -> tensor<4xf32>", hookCall("%y", s, "%c0", "%x")+"return %y#1 : tensor<4xf32>\n", s)
	e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Replicas: 2, Handlers: answer(func(context.Context, *runtime.Call) error { return nil })})
	if err != nil {
		t.Fatal(err)
	}
	e.(*Executable).programs[clientKey{}].client.memory = brokenMemory{}
	if _, err := e.Run(context.Background(), []*tensor.Tensor{f32(tensor.Shape{4})}); err == nil {
		t.Error("the run succeeds")
	}
	if err := errors.Join(e.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}

func TestShardyPartitions(t *testing.T) {
	var mu sync.Mutex
	events := map[int]string{}
	p := shardyProgram()
	e, err := backend(t).compileWith(context.Background(), p, moduleShape{shardy: true}, runtime.CompileOptions{Partitions: 4, Handlers: observe(func(c *runtime.Call) {
		mu.Lock()
		defer mu.Unlock()
		events[c.Device] += fmt.Sprint(c.Partition, tensor.View[float32](c.Operands[0]))
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	args := make([][]*tensor.Tensor, 4)
	for d := range args {
		args[d] = []*tensor.Tensor{f32(tensor.Shape{2}, float32(2*d), float32(2*d+1))}
	}
	results, err := e.RunDevices(context.Background(), args)
	if err != nil {
		t.Fatal(err)
	}
	for d := range 4 {
		if got, want := fmt.Sprint(tensor.View[float32](results[d][0])), fmt.Sprintf("[%d %d]", 4*d, 4*d+2); got != want {
			t.Errorf("device %d gives %s, expected %s", d, got, want)
		}
		if got, want := events[d], fmt.Sprintf("%d [%d %d]", d, 2*d, 2*d+1); got != want {
			t.Errorf("device %d saw %s, expected %s", d, got, want)
		}
	}
}

// TestDevicesAreBounded: neither a module nor a caller can create a client of more devices than XLA numbers in one
// process.
func TestDevicesAreBounded(t *testing.T) {
	b := backend(t)
	p := program("(%x: tensor<f32>) -> tensor<f32>", "return %x : tensor<f32>\n")
	for _, grid := range [][2]int{{3000, 1}, {1, 100_000}, {2_000_000_000, 1}, {2_000_000_000, 2_000_000_000}, {64, 64}} {
		_, err := b.Compile(context.Background(), p, runtime.CompileOptions{Replicas: grid[0], Partitions: grid[1]})
		if want := fmt.Sprintf("%d replicas of %d partitions are more than 2048 devices", grid[0], grid[1]); err == nil || err.Error() != want {
			t.Errorf("error is %v, expected %q", err, want)
		}
	}
	if c, err := b.plugin.NewClient(maxDevices + 1); err == nil {
		c.Close()
		t.Error("a client of too many devices was made")
	}
}
