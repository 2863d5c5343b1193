//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// TestWaitingRuns: a client knows which of its runs wait while a handler of another run is busy, and for which.
func TestWaitingRuns(t *testing.T) {
	sites := sitesOf(t, runtime.MemoryUse{}, hookSite(1, "a", hook.Tap, nil, nil), hookSite(2, "b", hook.Tap, nil, nil))
	running := func(program string, hooks ...hook.Site) *session {
		s := newSession(t.Context(), sites, 2, 1)
		if hooks == nil {
			s.sites = sitesOf(t, runtime.MemoryUse{})
		}
		s.program = program
		return s
	}
	c := &Client{running: map[*session]struct{}{}}
	plain, first, second, own := running("plain"), running("first", hook.Site{}), running("second", hook.Site{}), running("own", hook.Site{})
	for _, step := range []struct {
		s       *session
		crowded bool
	}{{plain, false}, {first, false}, {second, true}, {own, true}} { // a program without hooks crowds nobody
		if crowded := c.join(step.s); crowded != step.crowded {
			t.Errorf("%s finds a client with busy handlers: %t", step.s.program, crowded)
		}
	}
	var b blocker
	expect := func(what string, waiting int, want string) {
		t.Helper()
		b.look(c, own)
		if got := fmt.Sprintf("%s of %s", b.hook, b.program); got != want || c.waiting() != waiting {
			t.Errorf("%s: %d runs wait for %s, expected %d for %s", what, c.waiting(), got, waiting, want)
		}
	}
	arrive := func(s *session, device, site int) {
		s.devices[device].seq.Add(1)
		s.devices[device].site.Store(sites.all[site])
	}
	end := func(s *session, device int) { s.devices[device].finished.Add(1) }

	expect("no hook was reached", 0, " of ")
	arrive(first, 1, 0)
	if !first.busy() || second.busy() || first.arrived() != 1 || sum(nil) != 0 {
		t.Error("the first run is not busy alone")
	}
	expect("one handler is busy", 3, "a of first")
	since := b.since
	time.Sleep(time.Millisecond)
	arrive(second, 0, 1)
	expect("two handlers are busy", 2, "a of first") // for the longest time
	if b.since != since {
		t.Error("the first handler is busy anew")
	}
	end(first, 1)
	expect("the first has ended", 2, "b of second")
	arrive(first, 1, 0)
	expect("its next hook is younger", 2, "b of second")
	since = b.since
	time.Sleep(time.Millisecond)
	end(second, 0)
	arrive(second, 0, 1)
	expect("the second has a younger one", 2, "a of first")
	if !b.since.After(since) {
		t.Error("a later hook is busy since an earlier time")
	}
	arrive(own, 0, 1)
	end(first, 1)
	end(second, 0)
	expect("a run does not wait for itself", 1, " of ")
	if n := sum([]*session{first, second, own}); n != 5 {
		t.Errorf("%d hooks were reached, expected 5", n)
	}
	for _, s := range []*session{first, second, own, plain} {
		c.leave(s)
	}
	expect("all have left", 0, " of ")
	if c.join(own) {
		t.Error("an empty client is crowded")
	}
}

// TestLaunchIDs: a launch id finds its run until the run ends. A later run in the same slot has another id.
func TestLaunchIDs(t *testing.T) {
	s, other := newSession(t.Context(), nil, 1, 1), newSession(t.Context(), nil, 1, 1)
	if err := enter(s); err != nil {
		t.Fatal(err)
	}
	id := int64(s.launchID)
	if id == 0 || find(id) != s || find(id+1<<slotBits) != nil || find(0) != nil {
		t.Errorf("id %d finds %v", id, find(id))
	}
	leave(s)
	if find(id) != nil {
		t.Error("a run that has ended is found")
	}
	if err := enter(other); err != nil {
		t.Fatal(err)
	}
	defer leave(other)
	if find(int64(other.launchID)) != other || find(id) != nil || int64(other.launchID) == id {
		t.Errorf("after id %d, id %d finds %v", id, other.launchID, find(id))
	}
}

// TestManyLaunchIDs: launch ids stay positive, and the next use of a slot has another id.
func TestManyLaunchIDs(t *testing.T) {
	s := newSession(t.Context(), nil, 1, 1)
	last := int32(0)
	for range 1 << 16 {
		if err := enter(s); err != nil {
			t.Fatal(err)
		}
		id := s.launchID
		if leave(s); id <= 0 || id == last {
			t.Fatalf("id %d follows %d", id, last)
		}
		last = id
	}
}

// TestFailures: a run reports the failure of its first device that failed, and the first one of that device. The cause
// of a cancellation comes last.
func TestFailures(t *testing.T) {
	s := newSession(t.Context(), nil, 3, 1)
	if s.err() != nil {
		t.Error("a run fails without a reason")
	}
	expect := func(want string) {
		t.Helper()
		if err := s.err(); err == nil || err.Error() != want {
			t.Errorf("error is %v, expected %s", err, want)
		}
	}
	s.cancel(errors.New("cancelled"))
	expect("cancelled")
	s.cancel(errors.New("again"))
	expect("cancelled")
	s.fail(2, errors.New("third device"))
	expect("third device")
	s.fail(1, errors.New("second device"))
	s.fail(1, errors.New("second device later"))
	expect("second device")
	if !s.stopped.Load() {
		t.Error("the hooks of a failed run go on")
	}
}

// TestPythonValues: calls that Python cannot serve are errors.
func TestPythonValues(t *testing.T) {
	attached := struct {
		functions unsafe.Pointer
		n         uint32
	}{nil, 1}
	for index, want := range map[uint64]string{
		1: "the callback's index is beyond the Python functions of this execution",
		0: "this process has no Python: symbol _Py_NoneStruct is missing",
	} {
		values := []*tensor.Tensor{nil, f32(nil, 1), f32(tensor.Shape{2}, 1, 2), f32(tensor.Shape{0})}
		if err := CallPython(unsafe.Pointer(&attached), index, values, values); err == nil || err.Error() != want {
			t.Errorf("error is %v, expected %s", err, want)
		}
	}
	python := (*PythonError)(nil)
	if err := CallPython(nil, 0, nil, nil); !errors.As(err, &python) || python.Message != "the caller attached no Python functions to this execution; only JAX does" {
		t.Errorf("error is %v", err)
	}
	if err := (PythonCallback{Token: true}).Handle(context.Background(), &runtime.Call{}); err == nil || err.Error() != "a Python callback was called outside of a plugin's run" {
		t.Errorf("error is %v", err)
	}
}

// TestPatience: a run that waits for the handler of another run starts once more after a while, if it may, or says once
// that it waits. A run whose time is over does not start.
func TestPatience(t *testing.T) {
	const ms = time.Millisecond
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	type look struct {
		ctx      context.Context
		waited   time.Duration
		hook     string
		attempts int
		want     int
	}
	live := t.Context()
	for i, c := range []struct {
		second bool
		looks  []look
	}{
		{true, []look{{live, 9 * ms, "h", 1, keepWaiting}, {live, 90 * ms, "", 1, keepWaiting}, {live, 10 * ms, "h", 1, startAgain}, {live, 11 * ms, "h", 2, keepWaiting}, {live, 50 * ms, "h", 2, keepWaiting}}},
		{true, []look{{live, 60 * ms, "h", 1, startAgain}, {live, 60 * ms, "h", 1, sayWaits}, {live, 60 * ms, "h", 1, keepWaiting}}},
		{true, []look{{ended, 10 * ms, "h", 1, keepWaiting}, {live, 10 * ms, "h", 1, startAgain}}},
		{false, []look{{live, 10 * ms, "h", 1, keepWaiting}, {live, 39 * ms, "h", 1, keepWaiting}, {live, 40 * ms, "", 1, keepWaiting}, {live, 40 * ms, "h", 1, sayWaits}, {live, 90 * ms, "h", 1, keepWaiting}}},
		{false, []look{{live, 40 * ms, "h", 2, keepWaiting}, {ended, 40 * ms, "h", 1, sayWaits}}},
	} {
		p := patience{delays: delays{attempt: 10 * ms, notice: 40 * ms}, second: c.second}
		for k, l := range c.looks {
			if got := p.step(l.ctx, l.waited, l.hook, l.attempts); got != l.want {
				t.Errorf("case %d, look %d: step %d, expected %d", i, k, got, l.want)
			}
		}
	}
}

// TestStalledRuns: a run goes on if it reaches hooks, and while its handlers are busy.
func TestStalledRuns(t *testing.T) {
	start := time.Now()
	p := progress{at: start}
	for i, c := range []struct {
		after time.Duration // in seconds
		n     int64
		busy  bool
		want  bool
	}{{2, 0, false, false}, {3, 0, false, true}, {4, 0, true, false}, {5, 1, false, false}, {7, 1, false, false}, {8, 1, false, true}, {9, 1, true, false}, {11, 1, false, false}, {12, 1, false, true}} {
		if got := p.stalled(start.Add(c.after*time.Second), c.n, c.busy, 3*time.Second); got != c.want {
			t.Errorf("look %d: stalled is %t", i, got)
		}
	}
}

// TestGivingUp: a run that does not end within its grace loses the backend, unless it has not started because another
// run's handler is busy, or has time left itself.
func TestGivingUp(t *testing.T) {
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errMine)
	for i, c := range []struct {
		ctx    context.Context
		n      int64
		waited time.Duration
		hook   string
		want   string
	}{
		{t.Context(), 0, time.Hour, "h", "lost"},
		{ended, 0, time.Second, "h", "waits"},
		{ended, 0, time.Hour, "h", "waits"},
		{ended, 0, time.Second - 1, "h", "loses"},
		{ended, 0, time.Hour, "", "loses"},
		{ended, 1, time.Hour, "h", "loses"},
	} {
		before := errors.New("before")
		e := &Executable{name: "p", backend: &Backend{delays: delays{grace: time.Second}, gone: make(chan struct{})}}
		if c.want == "lost" {
			e.backend.lost = before
		}
		err := e.giveUp(c.ctx, c.n, c.waited, &blocker{hook: c.hook, program: "other"})
		wait, lost := (*runtime.WaitError)(nil), (*runtime.LostError)(nil)
		got := ""
		switch {
		case err == before:
			got = "lost"
		case errors.As(err, &wait) && wait.Hook == "h" && wait.Of == "other" && wait.Program == "p" && errors.Is(err, errMine):
			got = "waits"
		case errors.As(err, &lost) && errors.Is(err, errMine):
			got = "loses"
		}
		if got != c.want || (e.backend.usable() != nil) != (c.want != "waits") {
			t.Errorf("case %d: error is %v, expected that it %s; the backend: %v", i, err, c.want, e.backend.usable())
		}
	}
}
