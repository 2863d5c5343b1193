//go:build cgo

package pjrt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/runtime"
)

// A client executes a large program on a device only after the program before it, so a handler that waits for such a
// program waits forever. Programs that handlers run therefore get a separate client (see clientKey): the context or the
// thread shows that a handler runs them. Neither shows it if the handler waits for a goroutine that serves several
// callers, for example a goroutine that batches requests to a model. hlocb then says which handler the run may wait
// for. A program that was compiled as reentrant (runtime.CompileOptions.Reentrant) also starts a second time, on the
// spare client. TestReentryNeedsAttempts shows the deadlock that this prevents.

// race decides which of the two attempts of a reentrant run delivers its events: the first to reach a hook, or without
// hooks the first to end. The hooks of the other attempt are refused, so no event is delivered twice.
type race struct {
	owner atomic.Pointer[session]
}

// claim reports whether s delivers the run's events.
func (a *race) claim(s *session) bool {
	return a.owner.Load() == s || a.owner.CompareAndSwap(nil, s)
}

// outcome is the end of an attempt.
type outcome struct {
	s   *session
	l   *loadedProgram
	p   []unsafe.Pointer // the results
	err error
}

// watch executes the program on a goroutine, for runs that can be cancelled and runs that share their client. It
// returns while a program that cannot be stopped continues.
func (e *Executable) watch(ctx context.Context, s *session, l *loadedProgram, r *request) (*loadedProgram, []unsafe.Pointer, error) {
	done := make(chan outcome, 2)
	var mu sync.Mutex
	returned := false // no caller receives from done any more
	run := func(s *session, l *loadedProgram) {
		p, err := e.outcome(s, l, r)
		l.client.leave(s)
		leave(s)
		mu.Lock()
		defer mu.Unlock()
		if returned {
			e.drop(l, p)
			e.finish(s)
		} else {
			e.finish(s)
			done <- outcome{s, l, p, err}
		}
	}
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		returned = true
		for len(done) > 0 {
			a := <-done
			e.drop(a.l, a.p)
		}
	}()
	d := e.backend.delays
	waits := patience{delays: d, second: s.race != nil && !r.donates()} // a second attempt needs the arguments
	period := d.notice / 4
	if waits.second {
		period = d.attempt
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	go run(s, l)
	started := []*session{s}
	cancelled, gone := ctx.Done(), e.backend.gone
	var grace <-chan time.Time
	arrived := int64(0) // hooks at the last look
	blocked := blocker{}
	var late <-chan time.Time // looks whether the program takes too long
	limit := e.runLimit()
	if limit > 0 {
		t := time.NewTicker(max(limit/4, time.Millisecond))
		defer t.Stop()
		late = t.C
	}
	seen := progress{at: time.Now()}
	for {
		select {
		case a := <-done:
			if a.s.race != nil {
				if !a.s.race.claim(a.s) {
					e.drop(a.l, a.p)
					continue // an abandoned attempt
				}
				e.abandon(started)
			}
			return a.l, a.p, a.err
		case <-late:
			if !seen.stalled(time.Now(), sum(started), s.busy(), limit) {
				continue
			}
			late = nil
			var end context.CancelCauseFunc
			ctx, end = context.WithCancelCause(ctx)
			end(&runtime.TimeoutError{After: limit.String(), Program: true})
			cancelled = ctx.Done()
		case <-cancelled:
			for _, s := range started {
				s.cancel(context.Cause(ctx))
			}
			blocked.look(l.client, s)
			cancelled, grace = nil, time.After(d.grace)
		case <-gone: // a program that cannot be stopped occupies the devices
			gone = nil
			if grace == nil {
				grace = time.After(d.grace)
			}
		case <-grace:
			n := sum(started)
			if cancelled != nil && n > arrived { // only other runs are lost
				arrived, grace = n, time.After(d.grace)
				continue
			}
			blocked.look(l.client, s)
			err := e.giveUp(ctx, n, time.Since(blocked.since), &blocked)
			if errors.As(err, new(*runtime.WaitError)) {
				e.abandon(started) // its hooks are refused when it starts
			}
			return nil, nil, err
		case <-ticker.C:
			if sum(started) > 0 {
				waits.second = false
				continue
			}
			blocked.look(l.client, s)
			waited := time.Since(blocked.since)
			switch waits.step(ctx, waited, blocked.hook, len(started)) {
			case startAgain:
				next, loaded, err := e.secondAttempt(ctx, s)
				if err != nil {
					e.abandon(started)
					return nil, nil, err
				}
				go run(next, loaded)
				started = append(started, next)
				ticker.Reset(d.notice / 4)
			case sayWaits:
				e.backend.warn(fmt.Sprintf("a run of %s has waited %v, while hook %q of %s is busy: if the handler waits for the run, pass the handler's context on to it",
					e.name, waited.Round(time.Second), blocked.hook, blocked.program))
			}
		}
	}
}

// progress is the last time at which a run was seen to go on, with the number of hooks that it had reached.
type progress struct {
	at      time.Time
	reached int64
}

// stalled reports whether a run has not gone on for limit: it has reached n hooks, and its handlers are busy or not.
func (p *progress) stalled(now time.Time, n int64, busy bool, limit time.Duration) bool {
	if n != p.reached || busy {
		p.at, p.reached = now, n
	}
	return now.Sub(p.at) >= limit
}

// patience decides what a run does that has reached no hook while the handler of another run is busy.
type patience struct {
	delays
	second bool // it may start a second attempt
	said   bool // that it waits
}

// Steps of a run that waits.
const (
	keepWaiting = iota
	startAgain
	sayWaits
)

// step returns the next step of a run that has waited for a hook and has so many attempts. hook is empty if no handler
// is busy.
func (p *patience) step(ctx context.Context, waited time.Duration, hook string, attempts int) int {
	switch {
	case hook == "":
	case p.second && waited >= p.attempt && ctx.Err() == nil:
		p.second = false
		return startAgain
	case waited >= p.notice && !p.said && attempts == 1:
		p.said = true
		return sayWaits
	}
	return keepWaiting
}

// giveUp returns the error of a run that has not ended within its grace, after n hooks, and has waited for the hook of
// blocked. The backend is lost, unless the program has not started.
func (e *Executable) giveUp(ctx context.Context, n int64, waited time.Duration, blocked *blocker) error {
	switch {
	case ctx.Err() == nil:
		return e.backend.usable() // another run lost it
	case n == 0 && waited >= e.backend.delays.grace && blocked.hook != "":
		return &runtime.WaitError{Program: e.name, Hook: blocked.hook, Of: blocked.program, Cause: context.Cause(ctx)}
	}
	return e.backend.lose(&runtime.LostError{Cause: context.Cause(ctx)})
}

// runLimit returns the time that a program may take between two hooks, or 0.
func (e *Executable) runLimit() time.Duration {
	if e.backend.opts.EndRuns {
		return e.timeout
	}
	return 0
}

// busy reports whether a handler of the run is busy.
func (s *session) busy() bool {
	for i := range s.devices {
		if d := &s.devices[i]; d.seq.Load() != d.finished.Load() {
			return true
		}
	}
	return false
}

// sum returns the number of hooks that the attempts have reached.
func sum(started []*session) int64 {
	n := int64(0)
	for _, s := range started {
		n += s.arrived()
	}
	return n
}

func (b *Backend) warn(message string) {
	if b.opts.Warn != nil {
		b.opts.Warn(message)
		return
	}
	slog.Warn("hlocb: " + message)
}

// donates reports whether the program may overwrite an argument.
func (r *request) donates() bool {
	for _, d := range r.donated {
		if d {
			return true
		}
	}
	return false
}

// secondAttempt starts a run once more, on the spare client.
func (e *Executable) secondAttempt(ctx context.Context, first *session) (*session, *loadedProgram, error) {
	s := e.session(ctx, first.level, first.number)
	s.race, s.spare = first.race, true
	e.backend.mu.Lock()
	e.count(s)
	e.backend.mu.Unlock()
	l, err := e.program(ctx, s)
	if err == nil {
		err = enter(s)
	}
	if err != nil {
		e.finish(s)
		return nil, nil, err
	}
	s.memory = l.client.memory
	l.client.join(s)
	return s, l, nil
}

// abandon abandons the attempts that have not ended. Executable.Close does not wait for them.
func (e *Executable) abandon(started []*session) {
	b := e.backend
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range started {
		if !s.ended {
			s.abandoned = true
			e.runs--
			e.abandoned++
			b.abandoned++
			s.stopped.Store(true) // its hooks are refused
		}
	}
	b.changed.Broadcast()
}

// join counts a run on the client. It reports whether the handlers of other programs may be busy there.
func (c *Client) join(s *session) (crowded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other := range c.running {
		crowded = crowded || len(other.sites.all) > 0
	}
	c.running[s] = struct{}{}
	return crowded
}

func (c *Client) leave(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, s)
}

// waiting returns the number of runs that have reached no hook while the handler of another run is busy.
func (c *Client) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	busy := false
	for s := range c.running {
		if s.arrived() == 0 {
			n++
		}
		busy = busy || s.busy()
	}
	if !busy {
		return 0
	}
	return n
}

// arrived returns the number of hooks that the attempt has reached.
func (s *session) arrived() int64 {
	n := int64(0)
	for i := range s.devices {
		n += s.devices[i].seq.Load()
	}
	return n
}

// blocker is the event of another run whose handler has been busy for the longest time. Its hook is empty if there is
// none.
type blocker struct {
	seen          map[*deviceState]event
	since         time.Time
	hook, program string
}

type event struct {
	seq   int64
	since time.Time
}

// look updates b with the events of the client's runs other than own.
func (b *blocker) look(c *Client, own *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	seen := map[*deviceState]event{}
	b.since, b.hook, b.program = now, "", ""
	for s := range c.running {
		for i := range s.devices {
			d := &s.devices[i]
			seq := d.seq.Load()
			if s == own || seq == d.finished.Load() {
				continue
			}
			e, ok := b.seen[d]
			if !ok || e.seq != seq {
				e = event{seq, now}
			}
			seen[d] = e
			if site := d.site.Load(); site != nil && (b.hook == "" || e.since.Before(b.since)) {
				b.since, b.hook, b.program = e.since, site.bound.Site().Name, s.program
			}
		}
	}
	b.seen = seen
}
