//go:build cgo

package pjrt

import (
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
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// observe binds one function as observer of every hook.
func observe(f func(c *runtime.Call)) *runtime.Bindings {
	var b runtime.Bindings
	b.Observe("*", runtime.HandlerFunc(func(_ context.Context, c *runtime.Call) error { f(c); return nil }))
	return &b
}

// answer binds one function as responder of every hook.
func answer(f func(ctx context.Context, c *runtime.Call) error) *runtime.Bindings {
	var b runtime.Bindings
	b.Answer("*", runtime.HandlerFunc(f))
	return &b
}

var (
	scalar = tt(tensor.F32)
	matrix = tt(tensor.F32, 64, 64)
)

// bigBody computes %m0 ... %m9 from %x : tensor<f32>. Each is 64x64 and expensive enough for XLA to use its concurrent
// executor.
func bigBody() string {
	var b strings.Builder
	b.WriteString("%m0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<64x64xf32>\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "%%m%d = stablehlo.dot_general %%m%d, %%m0, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n", i, i-1)
	}
	return b.String()
}

// tapChain returns a body that taps the values in order, on one chain, and returns %x.
func tapChain(kind hook.Kind, v hook.TensorType, values ...string) (string, []hook.Site) {
	var b strings.Builder
	var sites []hook.Site
	chain := "%c0"
	for i, value := range values {
		s := hookSite(uint64(0x100+i), fmt.Sprintf("h%d", i), kind, []hook.TensorType{v}, nil)
		fmt.Fprintf(&b, "%s", hookCall(fmt.Sprintf("%%t%d", i), s, chain, value))
		chain = fmt.Sprintf("%%t%d", i)
		sites = append(sites, s)
	}
	return b.String(), sites
}

// bigProgram taps m9 (late), m1, m5 in that order in a program that is executed concurrently.
func bigProgram() *runtime.Program {
	taps, sites := tapChain(hook.Tap, matrix, "%m9", "%m1", "%m5")
	return program("(%x: tensor<f32>) -> tensor<f32>", bigBody()+taps+"return %x : tensor<f32>\n", sites...)
}

// smallProgram taps %x three times in a program that is executed sequentially.
func smallProgram() *runtime.Program {
	taps, sites := tapChain(hook.Tap, scalar, "%x", "%x", "%x")
	return program("(%x: tensor<f32>) -> tensor<f32>", taps+"return %x : tensor<f32>\n", sites...)
}

func programs() map[string]*runtime.Program {
	return map[string]*runtime.Program{"small": smallProgram(), "big": bigProgram()}
}

func TestChainedOrder(t *testing.T) {
	for name, p := range programs() {
		t.Run(name, func(t *testing.T) {
			var got []string
			e := compile(t, p, observe(func(c *runtime.Call) {
				got = append(got, fmt.Sprintf("%s/%d/%d", c.Site.Name, c.Seq, c.Run))
			}))
			times := 50
			if os.Getenv(farInput) != "" {
				times = 5 // each copy waits for a thread
			}
			for i := 1; i <= times; i++ {
				got = nil
				run(t, e, f32(nil, 0.125))
				if want := fmt.Sprintf("[h0/0/%d h1/1/%d h2/2/%d]", i, i, i); fmt.Sprint(got) != want {
					t.Fatalf("delivered %v, expected %s", got, want)
				}
			}
		})
	}
}

func TestUnchainedHook(t *testing.T) {
	s := hookSite(1, "f", hook.Call, []hook.TensorType{scalar}, []hook.TensorType{scalar})
	s.Chained, s.SideEffect = false, false
	text := strings.Replace(hookCall("%r", s, "", "%x"), "has_side_effect = true, ", "", 1)
	p := program("(%x: tensor<f32>) -> tensor<f32>", text+"return %r : tensor<f32>\n", s)
	e := compile(t, p, answer(func(_ context.Context, c *runtime.Call) error {
		tensor.View[float32](c.Results[0])[0] = 2 * tensor.View[float32](c.Operands[0])[0]
		return nil
	}))
	if got := tensor.View[float32](run(t, e, f32(nil, 21))[0])[0]; got != 42 {
		t.Errorf("result is %v, expected 42", got)
	}
}

func TestFeedAndSeveralResults(t *testing.T) {
	feed := hookSite(1, "feed", hook.Feed, nil, []hook.TensorType{tt(tensor.I32, 3), tt(tensor.BF16, 2)})
	f := hookSite(2, "f", hook.Call, []hook.TensorType{tt(tensor.I32, 3), scalar}, []hook.TensorType{scalar, tt(tensor.I32, 3)})
	body := hookCall("%a", feed, "%c0") + hookCall("%b", f, "%a#0", "%a#1", "%x") + "return %b#1, %b#2, %a#2 : tensor<f32>, tensor<3xi32>, tensor<2xbf16>\n"
	p := program("(%x: tensor<f32>) -> (tensor<f32>, tensor<3xi32>, tensor<2xbf16>)", body, feed, f)
	e := compile(t, p, answer(func(_ context.Context, c *runtime.Call) error {
		if c.Site.Name == "feed" {
			copy(tensor.View[int32](c.Results[0]), []int32{1, 2, 3})
			copy(tensor.View[uint16](c.Results[1]), []uint16{0x3f80, 0x4000})
			return nil
		}
		for i, v := range tensor.View[int32](c.Operands[0]) {
			tensor.View[int32](c.Results[1])[i] = -v
		}
		copy(c.Results[0].Bytes(), c.Operands[1].Bytes())
		return nil
	}))
	r := run(t, e, f32(nil, 1.5))
	if got := fmt.Sprint(tensor.View[float32](r[0]), tensor.View[int32](r[1]), tensor.View[uint16](r[2])); got != "[1.5] [-1 -2 -3] [16256 16384]" {
		t.Errorf("results are %s", got)
	}
}

// TestTapIsAliased: a tap that passes its operand through costs no copy. The handler of the next tap sees the same
// address.
func TestTapIsAliased(t *testing.T) {
	s := hookSite(1, "a", hook.Tap, []hook.TensorType{matrix}, []hook.TensorType{matrix})
	s.Aliases = []int{0}
	u := s
	u.ID, u.Name = 2, "b"
	body := bigBody() + hookCall("%a", s, "%c0", "%m9") + hookCall("%b", u, "%a#0", "%a#1") + "return %b#1 : tensor<64x64xf32>\n"
	p := program("(%x: tensor<f32>) -> tensor<64x64xf32>", body, s, u)
	var seen []runtime.DevicePointer
	var b runtime.Bindings
	b.Observe("*", pointerHandler{runtime.MemoryUse{DevicePointers: true}, func(c *runtime.Call) error {
		seen = append(seen, c.OperandPointers[0])
		return nil
	}})
	e := compile(t, p, &b)
	run(t, e, f32(nil, 1))
	if len(seen) != 2 || seen[0] != seen[1] {
		t.Errorf("the taps saw %v, expected one address twice", seen)
	}
}

func TestHandlersOfExecutablesDoNotMix(t *testing.T) {
	var a, b atomic.Int64
	p := smallProgram()
	ea := compile(t, p, observe(func(*runtime.Call) { a.Add(1) }))
	eb := compile(t, p, observe(func(*runtime.Call) { b.Add(1) }))
	run(t, ea, f32(nil, 1))
	run(t, eb, f32(nil, 1))
	run(t, eb, f32(nil, 1))
	if a.Load() != 3 || b.Load() != 6 {
		t.Errorf("%d and %d events, expected 3 and 6", a.Load(), b.Load())
	}
}

var errMine = errors.New("my error")

// TestHandlerFails: an error or a panic ends the run with one HookError, the same every time, and no later hook fires.
func TestHandlerFails(t *testing.T) {
	for name, p := range programs() {
		for _, how := range []string{"error", "panic"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				var fail atomic.Bool
				var later atomic.Int64
				e := compile(t, p, answer(func(_ context.Context, c *runtime.Call) error {
					if c.Seq == 2 {
						later.Add(1)
					}
					if c.Site.Name != "h1" || !fail.Load() {
						return nil
					}
					if how == "panic" {
						panic(errMine)
					}
					return errMine
				}))
				times := 20
				if os.Getenv(farInput) != "" {
					times = 4 // each copy waits for a thread
				}
				for i := range times {
					fail.Store(i%2 == 0)
					later.Store(0)
					results, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
					if !fail.Load() {
						if err != nil || later.Load() != 1 {
							t.Fatalf("a run after a failed one: %v, %d later events", err, later.Load())
						}
						continue
					}
					var he *runtime.HookError
					if !errors.As(err, &he) || results != nil {
						t.Fatalf("error is %v (results %v), expected a HookError", err, results)
					}
					if he.Hook != "h1" || he.Seq != 1 || he.Run != int64(i+1) || he.Device != 0 {
						t.Fatalf("error is %+v", he)
					}
					var pe *runtime.PanicError
					if how == "panic" && (!errors.As(err, &pe) || pe.Value != errMine) {
						t.Fatalf("cause is %v, expected the panic", he.Cause)
					}
					if how == "error" && !errors.Is(err, errMine) {
						t.Fatalf("cause is %v, expected my error", he.Cause)
					}
					if later.Load() != 0 {
						t.Fatal("a hook fired after the one that failed")
					}
				}
			})
		}
	}
}

// TestConcurrentRuns: overlapping runs of one executable do not mix their events.
func TestConcurrentRuns(t *testing.T) {
	for name, p := range programs() {
		t.Run(name, func(t *testing.T) {
			type event struct {
				run, seq int64
				value    float32
			}
			var mu sync.Mutex
			events := map[int64][]event{}
			e := compile(t, p, observe(func(c *runtime.Call) {
				mu.Lock()
				defer mu.Unlock()
				events[c.Run] = append(events[c.Run], event{c.Run, c.Seq, tensor.View[float32](c.Operands[0])[0]})
			}))
			threads, times := 64, 10
			if os.Getenv(farInput) != "" {
				threads, times = 16, 4 // each copy waits for a thread
			}
			var wg sync.WaitGroup
			for i := range threads {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for range times {
						x := float32(i + 1)
						r, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, x)})
						if err != nil || tensor.View[float32](r[0])[0] != x {
							t.Errorf("run gave %v, %v", r, err)
							return
						}
					}
				}()
			}
			wg.Wait()
			if len(events) != threads*times {
				t.Fatalf("events of %d runs, expected %d", len(events), threads*times)
			}
			for run, list := range events {
				if len(list) != 3 {
					t.Fatalf("run %d has %d events", run, len(list))
				}
				// The base of all three values is the run's argument: x itself, or 64^k x^(k+1).
				base := list[0].value
				if name == "big" {
					base = 0
				}
				for i, ev := range list {
					if ev.seq != int64(i) {
						t.Fatalf("run %d: event %d has number %d", run, i, ev.seq)
					}
					if name == "small" && ev.value != base {
						t.Fatalf("run %d: values %v", run, list)
					}
				}
				if m1, m5 := list[1].value, list[2].value; name == "big" {
					x := sqrt32(m1 / 64)
					// GPUs multiply with 10 bits of the fraction.
					if want := m1 * m1 * m1 * 64 * 64; abs32(m5-want) > 1e-2*want {
						t.Fatalf("run %d mixes arguments: m1 %v (x %v), m5 %v", run, m1, x, m5)
					}
				}
			}
		})
	}
}

func abs32(x float32) float32 { return max(x, -x) }

func sqrt32(x float32) float32 {
	g := x
	for range 40 {
		g = (g + x/g) / 2
	}
	return g
}

// TestReentry runs a program from a handler, in an outer program that XLA executes concurrently. On one client the
// handler would wait forever.
func TestReentry(t *testing.T) {
	inner := compileTimeout(t, bigProgram(), 0, runtime.CompileOptions{Handlers: observe(func(*runtime.Call) {}), Reentrant: true})
	for _, how := range []string{"with the handler's context", "without it", "on a goroutine without it", "compiled there, too"} {
		t.Run(how, func(t *testing.T) {
			var outer *Executable
			depth, most := 0, 3
			if strings.HasPrefix(how, "on a goroutine") || strings.HasPrefix(how, "compiled") {
				most = 1 // there is one spare client
			}
			outer = compile(t, bigProgram(), answer(func(ctx context.Context, c *runtime.Call) error {
				if c.Site.Name != "h1" {
					return nil
				}
				if how != "with the handler's context" {
					ctx = context.Background()
				}
				run := func() error {
					inner := inner
					if how == "compiled there, too" {
						e, err := backend(t).Compile(ctx, bigProgram(), runtime.CompileOptions{Handlers: observe(func(*runtime.Call) {}), Reentrant: true})
						if err != nil {
							return err
						}
						defer e.Close()
						inner = e.(*Executable)
					}
					r, err := inner.Run(ctx, []*tensor.Tensor{f32(nil, 3)})
					if err != nil || tensor.View[float32](r[0])[0] != 3 {
						return fmt.Errorf("inner run: %v, %v", r, err)
					}
					if depth++; depth < most {
						_, err = outer.Run(ctx, []*tensor.Tensor{f32(nil, 1)})
					}
					return err
				}
				if how == "without it" {
					return run()
				}
				done := make(chan error)
				go func() { done <- run() }()
				return <-done
			}))
			done := make(chan error, 1)
			go func() {
				_, err := outer.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
				done <- err
			}()
			select {
			case err := <-done:
				if err != nil || depth != most {
					t.Errorf("error %v at depth %d", err, depth)
				}
			case <-time.After(time.Minute):
				t.Fatal("a handler that runs a program waits forever")
			}
		})
	}
}

// TestReentryNeedsAttempts: a run that an unrelated goroutine starts for a handler never starts on the handler's
// client.
func TestReentryNeedsAttempts(t *testing.T) {
	for _, alone := range []bool{true, false} {
		var said atomic.Pointer[string]
		b, err := Open(cpuPlugin(t), Options{Warn: func(m string) { said.Store(&m) }})
		if err != nil {
			t.Fatal(err)
		}
		b.delays.notice, b.delays.idle = 500*time.Millisecond, 100*time.Millisecond
		inner, err := b.Compile(context.Background(), bigProgram(), runtime.CompileOptions{Handlers: observe(func(*runtime.Call) {}), Reentrant: !alone})
		if err != nil {
			t.Fatal(err)
		}
		requests := make(chan chan error)
		go func() { // a server without information about its callers
			for answer := range requests {
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
				start := time.Now()
				_, err := inner.Run(ctx, []*tensor.Tensor{f32(nil, 1)})
				cancel()
				t.Logf("one attempt only is %v: the inner run took %v", alone, time.Since(start))
				answer <- err
			}
		}()
		var served error
		outer, err := b.Compile(context.Background(), bigProgram(), runtime.CompileOptions{Handlers: answer(func(_ context.Context, c *runtime.Call) error {
			if c.Seq == 0 {
				answer := make(chan error)
				requests <- answer
				served = <-answer
			}
			return nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		outer.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
		close(requests)
		var wait *runtime.WaitError
		if late := errors.Is(served, context.DeadlineExceeded) && errors.As(served, &wait) && wait.Hook != ""; late != alone {
			t.Errorf("one attempt only is %v, but the inner run's error is %v", alone, served)
		}
		if m := said.Load(); (m != nil) != alone || m != nil && !strings.Contains(*m, fmt.Sprintf("hook %q of", wait.Hook)) {
			t.Errorf("one attempt only is %v, the message is %v", alone, m)
		}
		for end := time.Now().Add(5 * time.Second); b.Stats().Clients > 1; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the spare client is never freed: %+v", b.Stats())
			}
		}
		if err := errors.Join(inner.Close(), outer.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	}
}

// lateBody computes %l#1 from %x : tensor<f32> for some ten milliseconds.
const lateBody = `%zero = stablehlo.constant dense<0> : tensor<i32>
%l:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<f32>
cond {
  %n = stablehlo.constant dense<20000> : tensor<i32>
  %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %more : tensor<i1>
}
do {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %next = stablehlo.add %i, %one : tensor<i32>
  %w = stablehlo.sine %v : tensor<f32>
  stablehlo.return %next, %w : tensor<i32>, tensor<f32>
}
`

// TestCloseAfterReentry closes everything after a run with two attempts, while the abandoned attempt still waits for
// the device.
func TestCloseAfterReentry(t *testing.T) {
	b, err := Open(cpuPlugin(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.delays.attempt, b.delays.notice = time.Millisecond, 4*time.Millisecond
	events, attempts, joined := 0, 0, 0
	var inner runtime.Executable
	taps, sites := tapChain(hook.Tap, scalar, "%l#1", "%x", "%x")
	inner, err = b.Compile(context.Background(), program("(%x: tensor<f32>) -> tensor<f32>", bigBody()+lateBody+taps+"return %x : tensor<f32>\n", sites...), runtime.CompileOptions{Handlers: observe(func(*runtime.Call) {
		events++
		b.mu.Lock()
		defer b.mu.Unlock()
		attempts = inner.(*Executable).runs
		for key, c := range b.clients {
			if key.spare {
				joined = len(c.running)
			}
		}
	}), Reentrant: true})
	if err != nil {
		t.Fatal(err)
	}
	outer, err := b.Compile(context.Background(), bigProgram(), runtime.CompileOptions{Handlers: answer(func(_ context.Context, c *runtime.Call) error {
		if c.Seq != 0 {
			return nil
		}
		done := make(chan error)
		go func() {
			_, err := inner.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
			done <- errors.Join(err, inner.Close())
		}()
		return <-done
	})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := outer.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)}); err != nil {
		t.Error(err)
	}
	if err := errors.Join(outer.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if events != 3 {
		t.Errorf("%d events were delivered, expected each of 3 once", events)
	}
	if attempts != 2 || joined != 1 {
		t.Errorf("a run has %d attempts, and the spare client has %d of them; expected two and one", attempts, joined)
	}
	left := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.abandoned
	}
	for end := time.Now().Add(10 * time.Second); left() != 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := left(); n != 0 {
		t.Errorf("%d attempts have not ended", n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := inner.(*Executable).runs; n != 0 || b.spare != 0 {
		t.Errorf("%d runs and %d uses of the spare client are left", n, b.spare)
	}
}

func TestCloseWaitsForRuns(t *testing.T) {
	entered, release := make(chan bool), make(chan bool)
	e, err := backend(t).Compile(context.Background(), smallProgram(), runtime.CompileOptions{Handlers: answer(func(_ context.Context, c *runtime.Call) error {
		if c.Seq == 0 {
			entered <- true
			<-release
		}
		return nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() {
		_, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
		ran <- err
	}()
	<-entered
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	select {
	case <-closed:
		t.Fatal("Close returned while a run was in progress")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)}); !errors.Is(err, errExecutableClosed) {
		t.Errorf("Run after Close: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestCancelStopsAtTheNextHook cancels a run whose loop would continue for hours.
func TestCancelStopsAtTheNextHook(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var n atomic.Int64
	e := compile(t, loopProgram(1<<30), observe(func(*runtime.Call) {
		if n.Add(1) == 100 {
			cancel()
		}
	}))
	start := time.Now()
	_, err := e.Run(ctx, []*tensor.Tensor{f32(tensor.Shape{4})})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, expected %v", err, context.Canceled)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("it took %v", d)
	}
	if _, err := e.Run(ctx, []*tensor.Tensor{f32(tensor.Shape{4})}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run with a cancelled context: %v", err)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	e := compile(t, smallProgram(), nil)
	for _, args := range [][]*tensor.Tensor{nil, {f32(nil, 1), f32(nil, 1)}, {tensor.New(tensor.F64, nil)}} {
		if _, err := e.Run(context.Background(), args); err == nil {
			t.Errorf("Run accepted %d wrong arguments", len(args))
		}
	}
	run(t, e, f32(nil, 1))
}

// TestUnwrittenResult: a handler that writes nothing ends the run, with and without a timeout.
func TestUnwrittenResult(t *testing.T) {
	v := tt(tensor.F32, 4)
	s := hookSite(1, "f", hook.Call, nil, []hook.TensorType{v})
	p := program("() -> tensor<4xf32>", hookCall("%r", s, "%c0")+"return %r#1 : tensor<4xf32>\n", s)
	for _, timeout := range []time.Duration{0, time.Minute} {
		e := compileTimeout(t, p, timeout, runtime.CompileOptions{Handlers: answer(func(context.Context, *runtime.Call) error { return nil })})
		for range 3 {
			_, err := e.Run(context.Background(), nil)
			var unwritten *runtime.UnwrittenError
			if !errors.As(err, &unwritten) {
				t.Errorf("error is %v, expected an UnwrittenError", err)
			}
		}
	}
}

func TestUnboundCall(t *testing.T) {
	s := hookSite(1, "f", hook.Call, nil, []hook.TensorType{scalar})
	_, err := backend(t).Compile(context.Background(), program("() -> tensor<f32>", hookCall("%r", s, "%c0")+"return %r#1 : tensor<f32>\n", s), runtime.CompileOptions{})
	var unbound *runtime.UnboundError
	if !errors.As(err, &unbound) {
		t.Errorf("error is %v, expected an UnboundError", err)
	}
}

// TestHookOutsideTheManifest runs a program that calls a hook that its manifest does not list.
func TestHookOutsideTheManifest(t *testing.T) {
	p := smallProgram()
	p.Manifest.Sites = p.Manifest.Sites[:2]
	e := compile(t, p, nil)
	_, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
	if err == nil || !strings.Contains(err.Error(), "0000000000000102") {
		t.Errorf("error is %v, expected one that names the id", err)
	}
}

// TestNoAllocationPerCall counts the heap objects of ten thousand calls, or of a thousand if each copies values.
func TestNoAllocationPerCall(t *testing.T) {
	if raceEnabled {
		t.Skip("skip: with the race detector, sync.Pool drops objects")
	}
	trips := loopTrips
	if os.Getenv(farInput) != "" {
		trips = 300
	}
	var sum float32
	e := compile(t, loopProgram(trips), answer(func(_ context.Context, c *runtime.Call) error {
		sum += tensor.View[float32](c.Operands[0])[0]
		return nil
	}))
	args := []*tensor.Tensor{f32(tensor.Shape{4}, 1)}
	run(t, e, args...)
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	run(t, e, args...)
	goruntime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > 200 {
		t.Errorf("%d objects allocated in %d calls", n, trips)
	}
}

func TestLoadTwice(t *testing.T) {
	path := cpuPlugin(t)
	a, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Load(path)
	if err != nil || a != b {
		t.Errorf("second Load gave %p, %v, expected %p", b, err, a)
	}
}

// TestCloseRefusesNewRuns: Close ends although other goroutines start runs all the time.
func TestCloseRefusesNewRuns(t *testing.T) {
	p := programs()["small"]
	b := backend(t)
	e, err := b.Compile(context.Background(), p, runtime.CompileOptions{Handlers: answer(func(context.Context, *runtime.Call) error {
		time.Sleep(5 * time.Millisecond)
		return nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Int64
	var wg sync.WaitGroup
	stop := make(chan bool)
	for range 4 {
		wg.Go(func() {
			for refused.Load() < 4 {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)}); errors.Is(err, errExecutableClosed) {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	done := make(chan error, 1)
	go func() { done <- e.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("Close does not return while other goroutines start runs")
	}
	close(stop)
	wg.Wait()
}

// TestInternalPanicNamesTheHook: a bug in hlocb's own part of a call ends the run, not the process.
func TestInternalPanicNamesTheHook(t *testing.T) {
	for name, p := range programs() {
		e := compile(t, p, answer(func(context.Context, *runtime.Call) error { return nil }))
		site := e.sites.all[1]
		site.calls = sync.Pool{New: func() any { return 0 }} // not a *call
		_, err := e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
		var failed *runtime.HookError
		var panicked *runtime.PanicError
		if !errors.As(err, &failed) || !errors.As(err, &panicked) || failed.Hook != site.bound.Site().Name {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// TestGoexitNamesTheHook: a handler that ends its goroutine ends the process with a message that names the hook.
func TestGoexitNamesTheHook(t *testing.T) {
	if os.Getenv("HLOCB_TEST_GOEXIT") == "" {
		cpuPlugin(t)
		cmd := peer.Command(os.Args[0], "-test.run=^TestGoexitNamesTheHook$")
		cmd.Env = append(os.Environ(), "HLOCB_TEST_GOEXIT=1")
		out, err := cmd.CombinedOutput()
		if want := `hook "h1" failed at event 1 on device 0: the handler called runtime.Goexit`; err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, expected %q:\n%s", err, want, out)
		}
		return
	}
	e := compile(t, programs()["small"], answer(func(_ context.Context, c *runtime.Call) error {
		if c.Site.Name == "h1" {
			goruntime.Goexit()
		}
		return nil
	}))
	e.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
}
