package interp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/runtime"
)

// Progress says how far a run has got.
type Progress struct {
	Elapsed time.Duration
	// At is what the first device executes: the op's name and its place in the source.
	Op     string
	Source *diag.Source
	Pos    diag.Pos
	Loops  int64 // iterations of outermost loops that the first device has begun
	Events int64 // callbacks so far, of all devices
	Held   int64 // bytes of values, of all devices
}

// watch is what the devices of a run share with whoever looks at the run from outside.
type watch struct {
	stopped atomic.Bool // the devices are to end: the run's context is done
	memory  account

	source *diag.Source

	// Where the run is observed, because it may time out or shows its progress:
	observed bool
	at       atomic.Pointer[instr] // what the first device executes
	loops    atomic.Int64
	events   atomic.Int64

	timeout time.Duration
	expire  context.CancelCauseFunc
	mu      sync.Mutex
	asked   int // handlers that are under way
	timer   *time.Timer
}

// account counts the bytes of values that the devices of a run hold.
type account struct {
	limit int64 // 0 is none
	held  atomic.Int64
}

// errAbandoned is the cause of a run's end when nothing else is.
var errAbandoned = errors.New("the run has ended")

// graceTime is how long a run that is to end may finish the op under way before it is left behind.
const graceTime = 2 * time.Second

// start begins to watch a run. The context it returns ends when ctx does or the time is up; end must be called.
func (w *watch) start(ctx context.Context, prog *program, timeout time.Duration) (_ context.Context, end func()) {
	opts := prog.opts
	w.source = prog.module.Source()
	ctx, w.expire = context.WithCancelCause(ctx)
	stop := context.AfterFunc(ctx, func() { w.stopped.Store(true) })
	w.timeout = timeout
	w.observed = timeout > 0 || opts.Progress != nil
	if timeout > 0 {
		w.timer = time.AfterFunc(timeout, w.expired)
	}
	shown := make(chan struct{})
	if opts.Progress != nil && opts.ProgressEvery > 0 {
		go w.show(ctx, opts, shown)
	} else {
		close(shown)
	}
	return ctx, func() {
		stop()
		if w.timer != nil {
			w.mu.Lock()
			w.timer.Stop()
			w.mu.Unlock()
		}
		w.expire(errAbandoned)
		<-shown
	}
}

func (w *watch) expired() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == 0 {
		w.expire(&runtime.TimeoutError{After: w.timeout.String(), Program: true})
	}
}

// ask notes that a handler is called: its time is its own. answered notes that it returned.
func (w *watch) ask() {
	w.events.Add(1)
	if w.timer == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	w.timer.Stop()
}

func (w *watch) answered() {
	if w.timer == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked--; w.asked == 0 {
		w.timer.Reset(w.timeout)
	}
}

// show reports progress until the run has ended.
func (w *watch) show(ctx context.Context, opts Options, done chan<- struct{}) {
	defer close(done)
	begin := time.Now()
	tick := time.NewTicker(opts.ProgressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p := Progress{Elapsed: time.Since(begin), Loops: w.loops.Load(), Events: w.events.Load(), Held: w.memory.held.Load()}
			if ins := w.at.Load(); ins != nil {
				p.Op, p.Pos = ins.op.Name(), ins.op.Pos()
				p.Source = w.source
			}
			opts.Progress(p)
		}
	}
}
