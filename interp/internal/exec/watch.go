package exec

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/runtime"
)

// Progress describes the state of a run.
type Progress struct {
	Elapsed time.Duration
	// Op names the op that the first device executes. Source and Pos locate it.
	Op     string
	Source *diag.Source
	Pos    diag.Pos
	Loops  int64 // iterations of outermost loops that the first device has started
	Events int64 // callbacks so far, on all devices
	Held   int64 // bytes of values, on all devices
}

// Watch is shared by the devices of a run and the run's observers.
type Watch struct {
	Profile *Profile    // nil if the run has none
	stopped atomic.Bool // the run's context is done: the devices must end
	Memory  Account

	source   *diag.Source
	machines machines // of the devices

	// The fields below are used only if Observed is set: the run may time out or shows its progress.
	Observed bool
	At       atomic.Pointer[Instr] // the op that the first device executes
	Loops    atomic.Int64
	events   atomic.Int64

	timeout time.Duration
	expire  context.CancelCauseFunc
	mu      sync.Mutex
	asked   int // active handlers
	Timer   *time.Timer
}

// machines is a list of machines that are closed when the run ends. It is safe for concurrent use.
type machines struct {
	mu   sync.Mutex
	list []*Machine
}

func (l *machines) add(m *Machine) {
	if m.Prog.Memory == nil {
		return // nothing to close
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, m)
}

// CloseMachines closes the machines of the run's devices. The run must have ended.
func (w *Watch) CloseMachines() {
	for _, m := range w.machines.list {
		m.Close()
	}
}

// Account counts the bytes of the values that a run's devices hold.
type Account struct {
	Limit int64 // 0 means no limit
	Held  atomic.Int64
}

// errAbandoned is the cause of a run's end if there is no other cause.
var errAbandoned = errors.New("the run has ended")

// GraceTime is the time that a run has to finish its current op when it must end. After that the run is abandoned.
const GraceTime = 2 * time.Second

// Start starts to watch a run. The returned context ends when ctx ends or the timeout expires. The caller must call
// end.
func (w *Watch) Start(ctx context.Context, source *diag.Source, timeout time.Duration, progress func(Progress), every time.Duration) (_ context.Context, end func()) {
	w.source = source
	ctx, w.expire = context.WithCancelCause(ctx)
	stop := context.AfterFunc(ctx, func() { w.stopped.Store(true) })
	w.timeout = timeout
	w.Observed = timeout > 0 || progress != nil
	if timeout > 0 {
		w.Timer = time.AfterFunc(timeout, w.expired)
	}
	shown := make(chan struct{})
	if progress != nil && every > 0 {
		go w.show(ctx, progress, every, shown)
	} else {
		close(shown)
	}
	return ctx, func() {
		stop()
		if w.Timer != nil {
			w.mu.Lock()
			w.Timer.Stop()
			w.mu.Unlock()
		}
		w.expire(errAbandoned)
		<-shown
	}
}

func (w *Watch) expired() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == 0 {
		w.expire(&runtime.TimeoutError{After: w.timeout.String(), Program: true})
	}
}

// Ask records the call of a handler, whose time does not count. Answered records its return.
func (w *Watch) Ask() {
	w.events.Add(1)
	if w.Timer == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	w.Timer.Stop()
}

func (w *Watch) Answered() {
	if w.Timer == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked--; w.asked == 0 {
		w.Timer.Reset(w.timeout)
	}
}

// show reports progress until the run ends.
func (w *Watch) show(ctx context.Context, progress func(Progress), every time.Duration, done chan<- struct{}) {
	defer close(done)
	begin := time.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p := Progress{Elapsed: time.Since(begin), Loops: w.Loops.Load(), Events: w.events.Load(), Held: w.Memory.Held.Load()}
			if ins := w.At.Load(); ins != nil {
				p.Op, p.Pos = ins.Op.Name(), ins.Op.Pos()
				p.Source = w.source
			}
			progress(p)
		}
	}
}
