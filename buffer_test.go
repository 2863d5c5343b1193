package hlocb_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hlocb/hlocb"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// step doubles its donated first argument, and also returns the sum of both arguments.
const step = `func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %w, %w : tensor<4xf32>
  %1 = stablehlo.add %w, %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
`

// watched calls a hook that may fail.
const watched = `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @ask(%x) {has_side_effect = true, api_version = 4 : i32, backend_config = {name = "ask"}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
`

// onBackends runs a test on the engine and, if it is installed, on the CPU plugin. It fails if buffers stay open.
func onBackends(t *testing.T, f func(t *testing.T, b runtime.Backend)) {
	for _, name := range []string{"engine", "cpu"} {
		t.Run(name, func(t *testing.T) {
			b, err := parse(t, step).OpenBackend(ctx, name, hlocb.DefaultBackends())
			if err != nil {
				t.Skipf("skip: %v", err)
			}
			defer func() {
				if err := b.Close(); err != nil && !t.Failed() {
					t.Errorf("leak: %v", err)
				}
			}()
			f(t, b)
		})
	}
}

func compile(t *testing.T, b runtime.Backend, text string, opts ...hlocb.CompileOption) *hlocb.Executable {
	t.Helper()
	exe, err := parse(t, text, hlocb.HookTargets("ask")).Compile(ctx, append(opts, hlocb.OnBackend(b))...)
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func put(t *testing.T, exe *hlocb.Executable, i int, v ...float32) *hlocb.Buffer {
	t.Helper()
	b, err := exe.Put(ctx, i, hlocb.ArrayOf(v))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantBuffer(t *testing.T, b *hlocb.Buffer, want ...float32) {
	t.Helper()
	v, err := b.Get(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := tensor.View[float32](v)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("buffer holds %v, want %v", got, want)
		}
	}
}

func closeAll(t *testing.T, exe *hlocb.Executable, buffers ...*hlocb.Buffer) {
	t.Helper()
	for _, b := range buffers {
		b.Close()
	}
	if err := exe.Close(); err != nil {
		t.Error(err)
	}
}

func TestBuffersCarryAStep(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, step)
		host := hlocb.ArrayOf([]float32{1, 2, 3, 4})
		lent, err := host.Tensor(hlocb.Type{DType: tensor.F32, Shape: tensor.Shape{4}})
		if err != nil {
			t.Fatal(err)
		}
		w, err := exe.Put(ctx, 0, lent)
		if err != nil {
			t.Fatal(err)
		}
		x := put(t, exe, 1, 1, 1, 1, 1)
		for range 10 {
			out, err := exe.Execute(ctx, []*hlocb.Buffer{w, x}, hlocb.ExecuteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Get(ctx); !errors.Is(err, runtime.ErrDonated) {
				t.Errorf("a donated buffer gives %v", err)
			}
			w.Close()
			out[1].Close()
			w = out[0]
		}
		wantBuffer(t, w, 1024, 2048, 3072, 4096)
		if got := tensor.View[float32](lent); got[0] != 1 || got[3] != 4 {
			t.Errorf("a donated run changed the host's value: %v", got)
		}
		err = w.View(ctx, func(v *tensor.Tensor) error {
			if tensor.View[float32](v)[1] != 2048 {
				t.Errorf("the view is %v", tensor.View[float32](v))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		closeAll(t, exe, w, x)
	})
}

func TestDonationByTheCaller(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, step)
		w, x := put(t, exe, 0, 1, 2, 3, 4), put(t, exe, 1, 1, 1, 1, 1)
		out, err := exe.Execute(ctx, []*hlocb.Buffer{w, x}, hlocb.ExecuteOptions{Donate: []int{1}})
		if err != nil {
			t.Fatal(err)
		}
		wantBuffer(t, w, 1, 2, 3, 4) // the caller's list replaces the program's
		if err := x.View(ctx, nil); !errors.Is(err, runtime.ErrDonated) {
			t.Errorf("the donated buffer gives %v", err)
		}
		// Results of one executable are arguments of another.
		other := compile(t, b, step)
		sum, err := other.Execute(ctx, []*hlocb.Buffer{out[0], out[1]}, hlocb.ExecuteOptions{Donate: []int{}})
		if err != nil {
			t.Fatal(err)
		}
		wantBuffer(t, sum[1], 4, 7, 10, 13)
		wantBuffer(t, out[0], 2, 4, 6, 8)
		closeAll(t, exe, append(append(out, sum...), w)...)
		closeAll(t, other)
	})
}

func TestBuffersRefused(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, step)
		w, x := put(t, exe, 0, 1, 2, 3, 4), put(t, exe, 1, 1, 1, 1, 1)
		short, err := exe.Put(ctx, 0, tensor.New(tensor.F32, tensor.Shape{2}))
		if err != nil {
			t.Fatal(err)
		}
		freed := put(t, exe, 1, 1, 1, 1, 1)
		freed.Close()
		freed.Close()
		far, err := runtime.Put(ctx, b, tensor.New(tensor.F32, tensor.Shape{4}), runtime.Placement{Devices: []int{1}})
		if err != nil {
			t.Fatal(err)
		}
		stranger, err := parse(t, step).Compile(ctx, hlocb.On("engine"))
		if err != nil {
			t.Fatal(err)
		}
		other := put(t, stranger, 0, 1, 2, 3, 4)
		twin, err := parse(t, step).Compile(ctx, hlocb.On(b.Name()))
		if err != nil {
			t.Fatal(err)
		}
		same := put(t, twin, 0, 1, 2, 3, 4) // of another client of the same plugin
		used := put(t, exe, 0, 1, 2, 3, 4)
		out, err := exe.Execute(ctx, []*hlocb.Buffer{used, x}, hlocb.ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			args []*hlocb.Buffer
			want string
		}{
			{[]*hlocb.Buffer{w}, "1 arguments given, the program expects 2"},
			{[]*hlocb.Buffer{w, nil}, "argument 1: no buffer given"},
			{[]*hlocb.Buffer{w, new(hlocb.Buffer)}, "argument 1: no buffer given"},
			{[]*hlocb.Buffer{w, short}, "argument 1: the buffer holds a tensor<2xf32>, the program expects tensor<4xf32>"},
			{[]*hlocb.Buffer{w, freed}, "argument 1: the buffer is closed"},
			{[]*hlocb.Buffer{w, far}, "argument 1: the buffer lies on device [1], the program expects it on [0]"},
			{[]*hlocb.Buffer{w, other}, "argument 1: the buffer belongs to another client"},
			{[]*hlocb.Buffer{w, same}, "argument 1: the buffer belongs to another client"},
			{[]*hlocb.Buffer{used, x}, "argument 0: the buffer was donated"},
			{[]*hlocb.Buffer{w, used}, "argument 1: the buffer was donated"},
			{[]*hlocb.Buffer{w, w}, "argument 1: the buffer is argument 0 too, and donated"},
		} {
			for _, start := range []bool{false, true} {
				var err error
				if start {
					_, err = exe.Start(ctx, c.args, hlocb.ExecuteOptions{})
				} else {
					_, err = exe.Execute(ctx, c.args, hlocb.ExecuteOptions{})
				}
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error is %v, want %s", err, c.want)
				}
			}
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := exe.Execute(ended, []*hlocb.Buffer{w, x}, hlocb.ExecuteOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("a run whose context has ended gives %v", err)
		}
		wantBuffer(t, w, 1, 2, 3, 4) // refused runs consume nothing
		if _, err := exe.Put(ctx, 2, hlocb.Scalar[float32](1)); err == nil {
			t.Error("Put accepts argument 2 of 2")
		}
		closeAll(t, twin, same)
		alone := put(t, exe, 0, 1, 2, 3, 4)
		again := put(t, exe, 1, 1, 2, 3, 4)
		closeAll(t, exe, append(out, w, x, short, far, used)...)
		_, executed := exe.Execute(ctx, []*hlocb.Buffer{alone, again}, hlocb.ExecuteOptions{})
		_, started := exe.Start(ctx, []*hlocb.Buffer{alone, again}, hlocb.ExecuteOptions{})
		_, ran := exe.Run(ctx, hlocb.ArrayOf([]float32{1, 2, 3, 4}), hlocb.ArrayOf([]float32{1, 2, 3, 4}))
		for _, err := range []error{executed, started, ran} {
			if err == nil || !strings.Contains(err.Error(), "executable is closed") {
				t.Errorf("a closed executable gives %v", err)
			}
		}
		wantBuffer(t, alone, 1, 2, 3, 4)
		alone.Close()
		again.Close()
		closeAll(t, stranger, other)
	})
}

// TestHiddenArguments: errors count the arguments of Run, which omit values that only the source's host needed.
func TestHiddenArguments(t *testing.T) {
	p := parse(t, `func.func @main(%pid: tensor<28xui8>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @exla_runtime_callback(%pid, %x) {api_version = 4 : i32, has_side_effect = true,
    backend_config = {callback_id = array<i64: 1>, callback_id_size = 8 : ui64, num_aliased_data_outputs = 0 : i64}} : (tensor<28xui8>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}`, hlocb.AsWritten())
	exe, err := p.Compile(ctx, hlocb.On("engine"), hlocb.Answer("*", hlocb.HandlerFunc(func(_ context.Context, c *hlocb.Call) error { return c.SetResult(0, c.Operands[0]) })))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exe.RunTensors(ctx, []*tensor.Tensor{tensor.New(tensor.F32, tensor.Shape{4})}); err == nil || !strings.Contains(err.Error(), "argument 0 of main: value is a tensor<4xf32>") {
		t.Errorf("error is %v", err)
	}
	x, short := put(t, exe, 0, 1, 2, 3), put(t, exe, 0, 1, 2, 3)
	short.Close()
	for _, c := range []struct {
		args   []*hlocb.Buffer
		donate []int
		want   string
	}{
		{[]*hlocb.Buffer{short}, nil, "argument 0: the buffer is closed"},
		{[]*hlocb.Buffer{x, x}, nil, "main has 1 arguments, 2 were given"},
		{[]*hlocb.Buffer{x}, []int{1}, "argument 1 cannot be donated: the program has 1 arguments"},
	} {
		_, executed := exe.Execute(ctx, c.args, hlocb.ExecuteOptions{Donate: c.donate})
		_, started := exe.Start(ctx, c.args, hlocb.ExecuteOptions{Donate: c.donate})
		for _, err := range []error{executed, started} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %s", err, c.want)
			}
		}
	}
	out, err := exe.Execute(ctx, []*hlocb.Buffer{x}, hlocb.ExecuteOptions{Donate: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	wantBuffer(t, out[0], 1, 2, 3)
	closeAll(t, exe, append(out, x)...)
}

func TestPendingRuns(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, step)
		w, x := put(t, exe, 0, 1, 2, 3, 4), put(t, exe, 1, 1, 1, 1, 1)
		var last *hlocb.Pending
		for range 100 {
			p, err := exe.Start(ctx, []*hlocb.Buffer{w, x}, hlocb.ExecuteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p.Results[1].Close()
			w, last = p.Results[0], p
		}
		x.Close() // the runs hold it
		if err := last.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		wantBuffer(t, w, 0x1p100, 0x1p101, 3*0x1p100, 0x1p102)
		closeAll(t, exe, w)
	})
}

func TestFailedPendingRunIsReported(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		var calls atomic.Int32
		exe := compile(t, b, watched, hlocb.Answer("ask", hlocb.HandlerFunc(func(_ context.Context, c *hlocb.Call) error {
			if calls.Add(1) == 2 {
				return errors.New("second call")
			}
			return c.SetResult(0, c.Operands[0])
		})))
		v := put(t, exe, 0, 1, 2, 3, 4)
		var buffers []*hlocb.Buffer
		for range 5 {
			p, err := exe.Start(ctx, []*hlocb.Buffer{v}, hlocb.ExecuteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			buffers = append(buffers, v)
			v = p.Results[0]
		}
		_, err := v.Get(ctx)
		var hook *hlocb.HookError
		var depends *runtime.DependencyError
		if !errors.As(err, &hook) || !errors.As(err, &depends) || hook.Hook != "ask" {
			t.Errorf("a value that depends on a failed run gives %v", err)
		}
		for _, b := range append(buffers, v) {
			b.Close()
		}
		// No caller waited for the runs, so Close reports the failure, once.
		err = exe.Close()
		if !errors.As(err, &hook) || strings.Count(err.Error(), "second call") != 1 || errors.As(err, &depends) {
			t.Errorf("Close returns %v, want the failure of the second run", err)
		}
		if n := calls.Load(); n != 2 {
			t.Errorf("the hook was called %d times, want 2", n)
		}
	})
}

func TestOpenBuffersKeepABackendOpen(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, step)
		w := put(t, exe, 0, 1, 2, 3, 4)
		if err := exe.Close(); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err == nil || !strings.Contains(err.Error(), "1 buffers of backend") {
			t.Errorf("closing a backend with an open buffer gives %v", err)
		}
		w.Close()
	})
}

// TestDonatedMemoryIsReused: without a copy, the results of a step lie where its donated arguments were.
func TestDonatedMemoryIsReused(t *testing.T) {
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, step)
		w, x := put(t, exe, 0, 1, 2, 3, 4), put(t, exe, 1, 1, 1, 1, 1)
		address := func() (p *float32) {
			t.Helper()
			if err := w.View(ctx, func(v *tensor.Tensor) error { p = &tensor.View[float32](v)[0]; return nil }); err != nil {
				t.Fatal(err)
			}
			return p
		}
		var before *float32
		same := 0
		for range 6 {
			out, err := exe.Execute(ctx, []*hlocb.Buffer{w, x}, hlocb.ExecuteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			out[1].Close()
			w = out[0]
			now := address()
			if now == before {
				same++
			}
			before = now
		}
		if b.Name() == "cpu" && same < 5 {
			t.Errorf("%d of 5 steps reused the memory", same)
		}
		closeAll(t, exe, w, x)
	})
}

// TestPartitionedBuffers: a value that a program partitions stays partitioned between runs.
func TestPartitionedBuffers(t *testing.T) {
	const text = `module attributes {mhlo.num_partitions = 4 : i32} {
func.func @main(%w: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}", tf.aliasing_output = 0 : i32}) -> (tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) {
  %0 = stablehlo.add %w, %w : tensor<8xf32>
  return %0 : tensor<8xf32>
}
}
`
	onBackends(t, func(t *testing.T, b runtime.Backend) {
		exe := compile(t, b, text)
		w := put(t, exe, 0, 1, 2, 3, 4, 5, 6, 7, 8)
		if b.Name() == "cpu" && (w.Placement().Whole() || len(w.Placement().Devices) != 4) {
			t.Errorf("the argument lies at %v", w.Placement())
		}
		whole, err := runtime.Put(ctx, b, tensor.New(tensor.F32, tensor.Shape{8}), runtime.Placement{})
		if err != nil {
			t.Fatal(err)
		}
		if b.Name() == "cpu" {
			if _, err := exe.Execute(ctx, []*hlocb.Buffer{whole}, hlocb.ExecuteOptions{}); err == nil || !strings.Contains(err.Error(), "the buffer lies on device [0], the program expects it on [0 1 2 3]") {
				t.Errorf("a value on one device gives %v", err)
			}
		}
		for range 3 {
			out, err := exe.Execute(ctx, []*hlocb.Buffer{w}, hlocb.ExecuteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			w = out[0]
		}
		wantBuffer(t, w, 8, 16, 24, 32, 40, 48, 56, 64)
		closeAll(t, exe, w, whole)
	})
}
