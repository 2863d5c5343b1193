package exec_test

import (
	"context"
	"errors"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hlocb/hlocb/interp/internal/exec"
	"github.com/hlocb/hlocb/interp/internal/kernel"
	"github.com/hlocb/hlocb/ir"
	"github.com/hlocb/hlocb/runtime"
)

// done waits until a context ends, and returns its cause.
func done(t *testing.T, ctx context.Context) error {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the context does not end")
	}
	return context.Cause(ctx)
}

// TestTimeout: a run ends after its timeout, which starts anew when the last of its handlers returns.
func TestTimeout(t *testing.T) {
	const timeout = 50 * time.Millisecond
	w := &exec.Watch{}
	begin := time.Now()
	ctx, end := w.Start(context.Background(), nil, timeout, nil, 0)
	var late *runtime.TimeoutError
	if err := done(t, ctx); !errors.As(err, &late) || !late.Program || late.After != "50ms" || time.Since(begin) < timeout {
		t.Errorf("the cause is %v after %s", err, time.Since(begin))
	}
	end()
	w = &exec.Watch{}
	ctx, end = w.Start(context.Background(), nil, timeout, nil, 0)
	w.Ask()
	w.Ask()
	w.Answered()
	time.Sleep(2 * timeout)
	if ctx.Err() != nil {
		t.Fatalf("the time of a handler counts: %v", context.Cause(ctx))
	}
	begin = time.Now()
	w.Answered()
	if err := done(t, ctx); !errors.As(err, &late) || time.Since(begin) < timeout {
		t.Errorf("the cause is %v after %s", err, time.Since(begin))
	}
	end()
	w = &exec.Watch{}
	ctx, end = w.Start(context.Background(), nil, timeout, nil, 0)
	end()
	if err := context.Cause(ctx); err == nil || err.Error() != "the run has ended" || w.Timer.Stop() {
		t.Errorf("the cause of a run that has ended is %v, or its timer runs", err)
	}
}

// TestStopped: a run without a timeout ends with its context only, with the cause. It is not observed.
func TestStopped(t *testing.T) {
	w := &exec.Watch{}
	m := newMachine(0, nil)
	m.Watch = w
	parent, cancel := context.WithCancelCause(context.Background())
	ctx, end := w.Start(parent, nil, 0, nil, time.Millisecond)
	m.Ctx = ctx
	w.Ask()
	w.Answered()
	if w.Observed || w.Timer != nil || kernel.Try(m.Poll) != nil {
		t.Error("a run without a timeout is observed, timed or stopped")
	}
	cancel(errors.New("enough"))
	done(t, ctx)
	var err error
	for range 1000 {
		if err = kernel.Try(m.Poll); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err == nil || err.Error() != "enough" {
		t.Errorf("the error is %v", err)
	}
	end()
	// A run that has ended is not stopped.
	m = newMachine(0, nil)
	m.Ctx, end = m.Watch.Start(context.Background(), nil, 0, nil, 0)
	end()
	time.Sleep(5 * time.Millisecond)
	if err := kernel.Try(m.Poll); err != nil {
		t.Errorf("the error after the end is %v", err)
	}
}

// TestProgress: an observer sees the current op, the loops, events and bytes, as long as the run lasts.
func TestProgress(t *testing.T) {
	mod, ops := opsOf(t, "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %b = stablehlo.add %a, %a : tensor<f32>\n  return %b : tensor<f32>\n}")
	w := &exec.Watch{}
	shown := make(chan exec.Progress)
	begin := time.Now()
	_, end := w.Start(context.Background(), mod.Source(), 0, func(p exec.Progress) { shown <- p }, time.Millisecond)
	if p := <-shown; p.Op != "" || p.Source != nil || p.Loops != 0 || p.Events != 0 || p.Held != 0 || p.Elapsed <= 0 || p.Elapsed > time.Since(begin) || !w.Observed {
		t.Errorf("at first the progress is %+v", p)
	}
	w.At.Store(&exec.Instr{Op: ops[0]})
	w.Loops.Add(3)
	w.Memory.Held.Store(40)
	w.Ask()
	w.Ask()
	<-shown
	if p := <-shown; p.Op != "stablehlo.add" || p.Source != mod.Source() || p.Pos != ops[0].Pos() || p.Loops != 3 || p.Events != 2 || p.Held != 40 {
		t.Errorf("the progress is %+v", p)
	}
	ended := make(chan bool)
	go func() {
		end()
		close(ended)
	}()
	for range 3 { // the observer may be in a call
		select {
		case <-shown:
		case <-ended:
		}
	}
	<-ended
	select {
	case <-shown:
		t.Error("a run that has ended shows progress")
	case <-time.After(5 * time.Millisecond):
	}
	w = &exec.Watch{}
	_, end = w.Start(context.Background(), nil, 0, func(exec.Progress) { t.Error("progress is shown") }, 0)
	end()
	if !w.Observed {
		t.Error("a run with an observer is not observed")
	}
}

// TestObserved: only an observed run notes the current op, and only on its first device.
func TestObserved(t *testing.T) {
	for _, c := range []struct{ observed, first bool }{{true, true}, {true, false}, {false, true}} {
		m := newMachine(0, nil)
		m.Watch.Observed, m.First = c.observed, c.first
		b := &exec.Block{Instrs: []exec.Instr{{Run: func(*exec.Machine, *exec.Frame, *exec.Instr) {}}}}
		m.RunBlock(&exec.Frame{}, b, nil)
		if noted := m.Watch.At.Load() == &b.Instrs[0]; noted != (c.observed && c.first) {
			t.Errorf("%+v: the op is noted: %v", c, noted)
		}
	}
}

// TestProfiles: the time of an op does not include the ops that it executes. The ops come in the order of their times,
// then of their positions. The samples of a goroutine have the op as label.
func TestProfiles(t *testing.T) {
	mod, ops := opsOf(t, `func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %b = stablehlo.add %a, %a : tensor<f32>
  %c = stablehlo.multiply %b, %a : tensor<f32>
  %d = stablehlo.divide %c, %a : tensor<f32>
  %e = stablehlo.subtract %c, %a : tensor<f32>
  return %d : tensor<f32>
}`)
	m := newMachine(0, nil)
	m.Watch.Profile = &exec.Profile{}
	fr := &exec.Frame{}
	pause := func(d time.Duration) exec.Runner {
		return func(m *exec.Machine, fr *exec.Frame, ins *exec.Instr) {
			if got := labelOf(); got != ins.Op.Name() {
				t.Errorf("the label is %q, not %q", got, ins.Op.Name())
			}
			time.Sleep(d)
		}
	}
	inner := &exec.Block{Instrs: []exec.Instr{{Op: ops[0], Run: pause(20 * time.Millisecond), Fused: []*ir.Op{ops[0], ops[2], ops[3]}}, {Op: ops[1], Run: pause(5 * time.Millisecond)}}}
	middle := &exec.Block{Instrs: []exec.Instr{{Op: ops[3], Run: func(m *exec.Machine, fr *exec.Frame, _ *exec.Instr) {
		m.RunBlock(fr, inner, nil)
	}}}}
	m.RunBlock(fr, &exec.Block{Instrs: []exec.Instr{{Op: ops[2], Run: func(m *exec.Machine, fr *exec.Frame, _ *exec.Instr) {
		m.RunBlock(fr, middle, nil)
		m.RunBlock(fr, middle, nil)
	}}}}, nil)
	list := m.Watch.Profile.Ops()
	var names []string
	var counts []int64
	for _, o := range list {
		names, counts = append(names, o.Op), append(counts, o.Count)
		if o.Source != mod.Source() || o.Time < 0 {
			t.Errorf("%s took %s", o.Op, o.Time)
		}
	}
	if len(list) != 4 || !slices.Equal(names[:2], []string{"stablehlo.add", "stablehlo.multiply"}) || !slices.Equal(counts[:2], []int64{2, 2}) {
		t.Fatalf("the ops are %v, their counts %v", names, counts)
	}
	if list[0].Fused != 2 || list[1].Fused != 0 || list[0].Pos != ops[0].Pos() || list[0].Time < 40*time.Millisecond || list[1].Time < 10*time.Millisecond {
		t.Errorf("the profile is %+v", list)
	}
	for _, o := range list[2:] {
		if o.Time > list[1].Time {
			t.Errorf("%s took %s, with its inner ops", o.Op, o.Time)
		}
	}
	if got := labelOf(); got != "" {
		t.Errorf("after the run the label is %q", got)
	}
}

// labelOf returns the op in the labels of this goroutine, from the profile of goroutines.
func labelOf() string {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	for part := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(part, "exec_test.labelOf") {
			_, label, _ := strings.Cut(part, `"op":"`)
			label, _, _ = strings.Cut(label, `"`)
			return label
		}
	}
	return "no goroutine"
}
