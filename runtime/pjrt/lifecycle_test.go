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

	"github.com/hlocb/hlocb/internal/label"
	"github.com/hlocb/hlocb/internal/peer"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// within fails the test if f does not return in time.
func within(t *testing.T, d time.Duration, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatalf("%s does not return", what)
	}
}

// endlessProgram never ends, never reaches a hook, and reads an argument that is lent to it.
func endlessProgram() *runtime.Program {
	return program("(%x: tensor<65536xf32>) -> tensor<65536xf32>", `%t = stablehlo.constant dense<true> : tensor<i1>
%r:2 = stablehlo.while(%a = %t, %b = %x) : tensor<i1>, tensor<65536xf32>
cond { stablehlo.return %a : tensor<i1> }
do {
  %c = stablehlo.sine %x : tensor<65536xf32>
  stablehlo.return %a, %c : tensor<i1>, tensor<65536xf32>
}
return %r#1 : tensor<65536xf32>
`)
}

// lostInput tells the test to run one of its cases in this process, which an endless program then occupies.
const lostInput = "HLOCB_TEST_LOST"

// TestNothingWaitsForALostProgram: after a run that cannot be stopped, every other call returns within its deadline and
// the second of grace.
func TestNothingWaitsForALostProgram(t *testing.T) {
	if which := os.Getenv(lostInput); which != "" {
		lostCase(t, which)
		return
	}
	first, others := label.Part(true), label.Part(false)
	for i, which := range []string{"buffer", "time limit", "close after the loss", "other run", "close before the loss", "started"} {
		if i < 4 && !first || i >= 4 && !others {
			continue
		}
		t.Run(which, func(t *testing.T) {
			cmd := peer.Command(os.Args[0], "-test.run=^TestNothingWaitsForALostProgram$", "-test.v")
			cmd.Env = append(os.Environ(), lostInput+"="+which)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func lostCase(t *testing.T, which string) {
	b, err := Open(cpuPlugin(t), Options{EndRuns: which == "time limit"})
	if err != nil {
		t.Fatal(err)
	}
	b.delays.grace = 200 * time.Millisecond
	background := context.Background()
	compiled, err := b.Compile(background, endlessProgram(), runtime.CompileOptions{Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	e := compiled.(*Executable)
	ctx, cancel := context.WithTimeout(background, 300*time.Millisecond)
	defer cancel()
	isLost := func(err error) {
		t.Helper()
		if lost := (*runtime.LostError)(nil); !errors.As(err, &lost) {
			t.Errorf("error is %v, expected a LostError", err)
		}
	}
	x := tensor.New(tensor.F32, tensor.Shape{65536})
	buffer, err := runtime.Put(background, b, x, runtime.Placement{})
	if err != nil {
		t.Fatal(err)
	}
	const limit = 5 * time.Second // deadline, grace, and a busy machine
	switch which {
	case "close before the loss":
		ran := make(chan error)
		go func() {
			_, err := e.Run(ctx, []*tensor.Tensor{x})
			ran <- err
		}()
		time.Sleep(100 * time.Millisecond)
		within(t, limit, "Close", func() { e.Close() })
		isLost(<-ran)
	case "close after the loss":
		_, err := e.Run(ctx, []*tensor.Tensor{x})
		if isLost(err); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v, expected that the deadline is the reason", err)
		}
		_, err = e.Run(background, []*tensor.Tensor{x})
		isLost(err)
	case "buffer":
		within(t, limit, "Execute", func() {
			_, err := runtime.Execute(ctx, e, []*runtime.Buffer{buffer}, runtime.ExecuteOptions{})
			isLost(err)
		})
	case "started":
		var q runtime.Queue
		p, err := q.Start(ctx, e, []*runtime.Buffer{buffer}, runtime.ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		within(t, limit, "Queue.Wait", func() { isLost(q.Wait()) })
		within(t, limit, "closing a result", p.Results[0].Close)
	case "time limit": // of the program, in a run without an end of its own
		began := time.Now()
		within(t, limit, "Run", func() {
			_, err := e.Run(background, []*tensor.Tensor{x})
			isLost(err)
			var late *runtime.TimeoutError
			if !errors.As(err, &late) || !late.Program || late.After != "300ms" {
				t.Errorf("error is %v, expected that the program took too long", err)
			}
		})
		if took := time.Since(began); took < 300*time.Millisecond+b.delays.grace {
			t.Errorf("the run ended after %v", took)
		}
	case "other run": // without a deadline of its own
		ran := make(chan error, 1)
		go func() {
			_, err := e.Run(ctx, []*tensor.Tensor{x})
			ran <- err
		}()
		for b.Stats().Runs == 0 {
			time.Sleep(time.Millisecond)
		}
		endless, err := b.Compile(background, endlessProgram(), runtime.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		other, stop := context.WithCancel(background)
		defer stop()
		within(t, limit, "another run", func() {
			_, err := endless.Run(other, []*tensor.Tensor{x})
			isLost(err)
		})
		isLost(<-ran)
		within(t, limit, "Close of the other executable", func() { endless.Close() })
	}
	within(t, limit, "Buffer.Close", buffer.Close)
	if b.plugin.mu.Lock(); which == "close after the loss" && len(b.plugin.kept) == 0 {
		t.Error("a value that the program may use is not kept")
	}
	b.plugin.mu.Unlock()
	within(t, limit, "Close", func() { e.Close() })
	_, err = b.Upload(background, x, runtime.Placement{})
	isLost(err)
	within(t, limit, "Backend.Close", func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// runThreads is the number of threads that 40 runs may add: one for each, because a run waits in C, and a few of Go's.
// A process with a client has 16 threads on two cores, so 40 runs need at most 64 in all.
const runThreads = 48

// TestSlowHandlersShareOneClient: 40 goroutines run one executable with a slow handler. They need no further client.
func TestSlowHandlersShareOneClient(t *testing.T) {
	b, err := Open(cpuPlugin(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var events atomic.Int64
	var first sync.Once
	e, err := b.Compile(context.Background(), bigProgram(), runtime.CompileOptions{Handlers: observe(func(c *runtime.Call) {
		if events.Add(1); c.Seq != 0 {
			return
		}
		first.Do(func() {
			for end := time.Now().Add(time.Minute); b.Stats().Runs < 40 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(200 * time.Millisecond) // the test sees the runs
		})
		time.Sleep(5 * time.Millisecond)
	})})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	threads, before := 0, status(t, "/proc/self/status", "Threads")
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			if _, err := e.Run(ctx, []*tensor.Tensor{f32(nil, 1)}); err != nil {
				t.Error(err)
			}
		})
	}
	var most runtime.Stats
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
		}
		s := b.Stats()
		most.Clients, most.Runs, most.Waiting = max(most.Clients, s.Clients), max(most.Runs, s.Runs), max(most.Waiting, s.Waiting)
		threads = max(threads, status(t, "/proc/self/status", "Threads"))
	}
	if most.Clients != 1 || most.Runs != 40 || most.Waiting == 0 || events.Load() != 120 {
		t.Errorf("%+v, %d events; expected one client, 40 runs, some waiting, 120 events", most, events.Load())
	}
	if threads > before+runThreads {
		t.Errorf("%d threads, %d before the runs; expected at most %d more", threads, before, runThreads)
	}
	if s := b.Stats(); s.Runs != 0 || s.Waiting != 0 {
		t.Errorf("%+v after the runs", s)
	}
	if err := errors.Join(e.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}

// TestNoRunExceedsItsDeadline: 40 goroutines run a program with a handler of a second, which ignores its context, and
// half a second of time. Each run returns within its deadline and the second of grace. Clients and threads stay few.
func TestNoRunExceedsItsDeadline(t *testing.T) {
	label.Slow(t)
	b, err := Open(cpuPlugin(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := b.Compile(context.Background(), smallProgram(), runtime.CompileOptions{Handlers: observe(func(*runtime.Call) { time.Sleep(time.Second) })})
	if err != nil {
		t.Fatal(err)
	}
	const deadline, slack = 500 * time.Millisecond, 2 * time.Second // a busy machine
	before := status(t, "/proc/self/status", "Threads")
	var wg sync.WaitGroup
	var longest, failed atomic.Int64
	for range 40 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			defer cancel()
			start := time.Now()
			if _, err := e.Run(ctx, []*tensor.Tensor{f32(nil, 1)}); err != nil {
				failed.Add(1)
			}
			for took := int64(time.Since(start)); ; {
				if old := longest.Load(); took <= old || longest.CompareAndSwap(old, took) {
					return
				}
			}
		})
	}
	wg.Wait()
	if took := time.Duration(longest.Load()); took > deadline+time.Second+slack {
		t.Errorf("a run with %v of time took %v", deadline, took)
	}
	if failed.Load() != 40 {
		t.Errorf("%d of 40 runs failed", failed.Load())
	}
	if s := b.Stats(); s.Clients > 2 {
		t.Errorf("%d clients", s.Clients)
	}
	if threads := status(t, "/proc/self/status", "Threads"); threads > before+runThreads {
		t.Errorf("%d threads, %d before the runs", threads, before)
	}
	within(t, 5*time.Second, "Close", func() { e.Close() })
	within(t, 5*time.Second, "Backend.Close", func() { b.Close() })
}

// TestManyStartedRuns: 40,000 runs that are started one after the other need few goroutines, threads and clients.
func TestManyStartedRuns(t *testing.T) {
	label.Slow(t)
	e := compile(t, program("(%x: tensor<f32>) -> tensor<f32>", "%y = stablehlo.add %x, %x : tensor<f32>\nreturn %y : tensor<f32>\n"), nil)
	x, err := runtime.Put(context.Background(), backend(t), f32(nil, 1), runtime.Placement{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	goroutines, threads, clients := goruntime.NumGoroutine(), status(t, "/proc/self/status", "Threads"), backend(t).Stats().Clients
	most, mostThreads := 0, 0
	var q runtime.Queue
	for i := range 40_000 {
		p, err := q.Start(context.Background(), e, []*runtime.Buffer{x}, runtime.ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p.Results[0].Close()
		if most = max(most, goruntime.NumGoroutine()); i%1000 == 0 {
			mostThreads = max(mostThreads, status(t, "/proc/self/status", "Threads"))
		}
	}
	if err := q.Wait(); err != nil {
		t.Error(err)
	}
	if most > goroutines+64 || mostThreads > threads+runThreads {
		t.Errorf("%d goroutines and %d threads; %d and %d before", most, mostThreads, goroutines, threads)
	}
	if s := backend(t).Stats(); s.Clients > max(2, clients) || s.Runs != 0 {
		t.Errorf("%+v after the runs, %d clients before", s, clients)
	}
}

// TestManyArguments: a program with 1,500 arguments and as many results runs, with buffers and with tensors. It returns
// its arguments: XLA compiles one sum or concatenation of thousands of values for half a minute.
func TestManyArguments(t *testing.T) {
	const n = 1500
	params, values, types := make([]string, n), make([]string, n), make([]string, n)
	for i := range n {
		params[i], values[n-1-i], types[i] = fmt.Sprintf("%%a%d: tensor<f32>", i), fmt.Sprintf("%%a%d", i), "tensor<f32>"
	}
	all := strings.Join(types, ", ")
	e := compile(t, program("("+strings.Join(params, ", ")+") -> ("+all+")", "return "+strings.Join(values, ", ")+" : "+all+"\n"), nil)
	var tensors []*tensor.Tensor
	var buffers []*runtime.Buffer
	for i := range n {
		x := f32(nil, float32(i))
		b, err := runtime.Put(context.Background(), backend(t), x, runtime.Placement{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		tensors, buffers = append(tensors, x), append(buffers, b)
	}
	out, err := e.Run(context.Background(), tensors)
	if err != nil || len(out) != n {
		t.Fatalf("%d results, %v", len(out), err)
	}
	for i, x := range out {
		if v := tensor.View[float32](x)[0]; v != float32(n-1-i) {
			t.Fatalf("result %d is %v", i, v)
		}
	}
	for range 2 {
		out, err := runtime.Execute(context.Background(), e, buffers, runtime.ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range out {
			b.Close()
		}
	}
}

// TestDonationBesideOtherRuns: a run donates its arguments also while other runs are in progress, and a reentrant one
// too.
func TestDonationBesideOtherRuns(t *testing.T) {
	entered, release := make(chan bool), make(chan bool)
	slow := compile(t, smallProgram(), answer(func(_ context.Context, c *runtime.Call) error {
		if c.Seq == 0 {
			entered <- true
			<-release
		}
		return nil
	}))
	go slow.Run(context.Background(), []*tensor.Tensor{f32(nil, 1)})
	<-entered
	defer close(release)
	for _, reentrant := range []bool{false, true} {
		p := program("(%x: tensor<65536xf32> {tf.aliasing_output = 0 : i32}) -> tensor<65536xf32>", "%y = stablehlo.add %x, %x : tensor<65536xf32>\nreturn %y : tensor<65536xf32>\n")
		e := compileTimeout(t, p, 0, runtime.CompileOptions{Reentrant: reentrant})
		x, err := runtime.Put(context.Background(), backend(t), tensor.New(tensor.F32, tensor.Shape{65536}), runtime.Placement{})
		if err != nil {
			t.Fatal(err)
		}
		address := func(b *runtime.Buffer) (at string) {
			b.View(context.Background(), func(v *tensor.Tensor) error {
				at = fmt.Sprintf("%p", v.Bytes())
				return nil
			})
			return at
		}
		for range 3 { // the first value is lent, and not donated
			out, err := runtime.Execute(context.Background(), e, []*runtime.Buffer{x}, runtime.ExecuteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			x = out[0]
		}
		before := address(x)
		out, err := runtime.Execute(context.Background(), e, []*runtime.Buffer{x}, runtime.ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if after := address(out[0]); after != before {
			t.Errorf("reentrant is %v: the result is at %s, the donated argument at %s", reentrant, after, before)
		}
		out[0].Close()
	}
}

// TestCompilingForALevelBlocksNoRun: runs start and end while a nested run compiles the program for its client.
func TestCompilingForALevelBlocksNoRun(t *testing.T) {
	e := compile(t, smallProgram(), nil)
	real := e.compile
	compiling, release := make(chan bool), make(chan bool)
	e.compile = func(ctx context.Context, c *Client) (*loadedProgram, error) {
		close(compiling)
		<-release
		return real(ctx, c)
	}
	nested := make(chan error)
	go func() {
		_, err := e.Run(context.WithValue(context.Background(), levelKey{}, 1), []*tensor.Tensor{f32(nil, 1)})
		nested <- err
	}()
	<-compiling
	within(t, 10*time.Second, "a run beside a compilation", func() { run(t, e, f32(nil, 1)) })
	close(release)
	if err := <-nested; err != nil {
		t.Error(err)
	}
}
