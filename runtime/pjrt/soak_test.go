//go:build cgo

package pjrt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// status reads a number from /proc: resident memory in kB (VmRSS), threads (Threads), or available memory in kB
// (MemAvailable).
func status(t *testing.T, file, key string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("skip: %v", err)
	}
	for _, line := range bytes.Split(text, []byte("\n")) {
		if rest, ok := bytes.CutPrefix(line, []byte(key+":")); ok {
			var n int
			fmt.Sscan(string(rest), &n)
			return n
		}
	}
	t.Skipf("skip: %s has no %s", file, key)
	return 0
}

// TestSoak delivers ten million calls, or a fifth of that with the race detector, and checks that memory, threads and
// goroutines stay constant.
func TestSoak(t *testing.T) {
	label.Slow(t)
	million := 1_000_000
	if raceEnabled && os.Getenv("HLOCB_SOAK") == "" {
		million = 200_000
	}
	var n atomic.Int64
	e := compile(t, loopProgram(million), observe(func(*runtime.Call) { n.Add(1) }))
	arg := f32(tensor.Shape{4}, 1)
	run(t, e, arg)
	goruntime.GC()
	memory, threads, goroutines := status(t, "/proc/self/status", "VmRSS"), status(t, "/proc/self/status", "Threads"), goruntime.NumGoroutine()
	for range 9 {
		run(t, e, arg)
	}
	goruntime.GC()
	if n.Load() != int64(10*million) {
		t.Errorf("%d calls were delivered", n.Load())
	}
	if grown := status(t, "/proc/self/status", "VmRSS") - memory; grown > 16<<10 {
		t.Errorf("resident memory grew by %d kB", grown)
	}
	if now := status(t, "/proc/self/status", "Threads"); now > threads+2 {
		t.Errorf("%d threads, %d before", now, threads)
	}
	noMoreGoroutines(t, goroutines)
}

// noMoreGoroutines checks that the number of goroutines returns to before.
func noMoreGoroutines(t *testing.T, before int) {
	t.Helper()
	now := goruntime.NumGoroutine()
	for end := time.Now().Add(5 * time.Second); now > before && time.Now().Before(end); now = goruntime.NumGoroutine() {
		time.Sleep(time.Millisecond)
	}
	if now > before {
		t.Errorf("%d goroutines, %d before", now, before)
	}
}

// TestNothingIsLeft ends runs in every possible way and checks that no goroutine and no thread is left.
func TestNothingIsLeft(t *testing.T) {
	inner := compileTimeout(t, bigProgram(), 0, runtime.CompileOptions{Handlers: observe(func(*runtime.Call) {}), Reentrant: true})
	ways := map[string]func() error{}
	for _, p := range []struct {
		name string
		p    *runtime.Program
	}{{"small", smallProgram()}, {"big", bigProgram()}} {
		for name, h := range map[string]runtime.HandlerFunc{
			"fine":  func(context.Context, *runtime.Call) error { return nil },
			"error": func(context.Context, *runtime.Call) error { return errMine },
			"panic": func(context.Context, *runtime.Call) error { panic(errMine) },
			"slow":  func(ctx context.Context, _ *runtime.Call) error { <-ctx.Done(); return ctx.Err() },
			"run": func(ctx context.Context, _ *runtime.Call) error {
				_, err := inner.Run(ctx, []*tensor.Tensor{f32(nil, 1)})
				return err
			},
			"run elsewhere": func(_ context.Context, c *runtime.Call) error {
				done := make(chan error)
				go func() {
					var err error
					if c.Seq == 0 {
						_, err = inner.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
					}
					done <- err
				}()
				return <-done
			},
		} {
			timeout := time.Duration(0)
			if name == "slow" {
				timeout = 20 * time.Millisecond
			}
			e := compileTimeout(t, p.p, timeout, runtime.CompileOptions{Handlers: answer(h)})
			failing := name == "error" || name == "panic" || name == "slow"
			ways[p.name+" "+name] = func() error {
				_, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
				if failing != (err != nil) {
					return fmt.Errorf("the run gave %v", err)
				}
				return nil
			}
			if name == "slow" {
				cancelled := compileTimeout(t, p.p, 0, runtime.CompileOptions{Handlers: answer(h)})
				ways[p.name+" cancelled"] = func() error {
					ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
					defer cancel()
					if _, err := cancelled.Run(ctx, []*tensor.Tensor{f32(nil, 1)}); !errors.Is(err, context.DeadlineExceeded) {
						return fmt.Errorf("the run gave %v", err)
					}
					return nil
				}
			}
		}
	}
	all := func() {
		for name, way := range ways {
			if err := way(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	all()
	settled := func(count func() int, limit int) int {
		n := count()
		for deadline := time.Now().Add(5 * time.Second); n > limit && time.Now().Before(deadline); n = count() {
			time.Sleep(10 * time.Millisecond) // abandoned attempts are ending
		}
		return n
	}
	threads := func() int { return status(t, "/proc/self/status", "Threads") }
	time.Sleep(100 * time.Millisecond)
	// Go keeps a record of XLA's threads that called a hook, so count only the threads that this package started.
	started := func() int {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:goruntime.Stack(stacks, true)]
		return bytes.Count(stacks, []byte("created by github.com/hlocb/hlocb/runtime/pjrt."))
	}
	goroutines, before := started(), threads()
	for range 5 {
		all()
	}
	if now := settled(started, goroutines); now > goroutines {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before:\n%s", now, goroutines, stacks[:goruntime.Stack(stacks, true)])
	}
	// Go keeps threads for later, but their number must not grow.
	if now := settled(threads, before+4); now > before+4 {
		t.Errorf("%d threads, %d before", now, before)
	}
}

// TestManyGoroutines keeps 64 goroutines running one executable for two seconds, or for HLOCB_SOAK (a duration).
func TestManyGoroutines(t *testing.T) {
	label.Slow(t)
	length := 2 * time.Second
	if v := os.Getenv("HLOCB_SOAK"); v != "" {
		var err error
		if length, err = time.ParseDuration(v); err != nil {
			t.Fatal(err)
		}
	}
	v := tt(tensor.F32, 4)
	s := hookSite(7, "f", hook.Call, []hook.TensorType{v}, []hook.TensorType{v})
	p := program("(%x: tensor<4xf32>) -> tensor<4xf32>", hookCall("%r", s, "%c0", "%x")+"return %r#1 : tensor<4xf32>\n", s)
	e := compile(t, p, answer(func(_ context.Context, c *runtime.Call) error {
		for i, x := range tensor.View[float32](c.Operands[0]) {
			tensor.View[float32](c.Results[0])[i] = x + 1
		}
		return nil
	}))
	before := goruntime.NumGoroutine()
	deadline := time.Now().Add(length)
	var wg sync.WaitGroup
	var runs atomic.Int64
	for g := range 64 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; time.Now().Before(deadline); i++ {
				x := float32(g*1000 + i%1000)
				r, err := e.Run(context.Background(), []*tensor.Tensor{f32(tensor.Shape{4}, x, x, x, x)})
				if err != nil || tensor.View[float32](r[0])[3] != x+1 {
					t.Errorf("%v gives %v, %v", x, r, err)
					return
				}
				runs.Add(1)
			}
		}()
	}
	wg.Wait()
	t.Logf("%d runs", runs.Load())
	noMoreGoroutines(t, before)
}

// TestHugeOperand taps a value of more than 2 GiB.
func TestHugeOperand(t *testing.T) {
	label.Slow(t)
	label.Once(t)
	if kb := status(t, "/proc/meminfo", "MemAvailable"); kb < 12<<20 {
		t.Skipf("skip: needs 12 GiB of memory, %d MiB are available", kb>>10)
	}
	const n = 1<<31 + 64
	v := tt(tensor.UI8, n)
	s := hookSite(1, "huge", hook.Tap, []hook.TensorType{v}, nil)
	body := fmt.Sprintf("%%y = stablehlo.broadcast_in_dim %%x, dims = [] : (tensor<ui8>) -> %s\n", v) + hookCall("%t", s, "%c0", "%y") + "return %x : tensor<ui8>\n"
	var length int
	var first, last byte
	e := compile(t, program("(%x: tensor<ui8>) -> tensor<ui8>", body, s), observe(func(c *runtime.Call) {
		data := c.Operands[0].Bytes()
		length, first, last = len(data), data[0], data[len(data)-1]
	}))
	x := tensor.New(tensor.UI8, nil)
	x.Bytes()[0] = 42
	run(t, e, x)
	if length != n || first != 42 || last != 42 {
		t.Errorf("the handler saw %d bytes, first %d, last %d", length, first, last)
	}
}

// largeProgram computes on 64 MiB, passes the values through something, and computes again.
func largeProgram(between string, sites ...hook.Site) *runtime.Program {
	body := strings.ReplaceAll("%s = stablehlo.sine %x : T\n"+between+"%y = stablehlo.add %r#1, %r#1 : T\nreturn %y : T\n", "T", "tensor<16777216xf32>")
	return program("(%x: tensor<16777216xf32>) -> tensor<16777216xf32>", body, sites...)
}

func benchLarge(b *testing.B, p *runtime.Program) {
	e := compile(b, p, observe(func(*runtime.Call) {}))
	x := tensor.New(tensor.F32, tensor.Shape{16 << 20})
	for i := range tensor.View[float32](x) {
		tensor.View[float32](x)[i] = float32(i) / 1000
	}
	run(b, e, x)
	for b.Loop() {
		run(b, e, x)
	}
}

// BenchmarkInOut64MiB and BenchmarkBarrier64MiB show what an inout hook costs on a large intermediate value: no copy.
func BenchmarkInOut64MiB(b *testing.B) {
	v := tt(tensor.F32, 16<<20)
	s := hookSite(1, "h", hook.InOut, []hook.TensorType{v}, []hook.TensorType{v})
	benchLarge(b, largeProgram(hookCall("%r", s, "%c0", "%s"), s))
}

func BenchmarkBarrier64MiB(b *testing.B) {
	benchLarge(b, largeProgram("%r:2 = stablehlo.optimization_barrier %c0, %s : tensor<ui64>, T\n"))
}
