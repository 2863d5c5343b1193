//go:build cgo

package pjrt

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hlocb/hlocb/runtime"
)

// attempts are the attempts to start one run on several clients.
//
// A client executes a large program on a device only after the program before it. A handler that waits for such a
// program would wait forever. Programs that handlers run therefore get a separate client (see clientKey): the context
// or the thread shows that a handler runs them. Neither shows it if the handler waits for a goroutine that serves
// several callers, for example a goroutine that batches requests to a model. Such a run starts on the client of other
// runs with hooks. After a while the run may have reached neither a hook nor its end, while one handler of another run
// has been busy with one event all the time. Then the run starts once more on the client of the next level. The attempt
// that reaches a hook first delivers the run's events, and the hooks of the other attempts are refused. Without hooks
// the first attempt to end yields the results. No event is delivered twice. TestReentryNeedsAttempts shows the deadlock
// that this prevents.
type attempts struct {
	owner atomic.Pointer[session] // the attempt that delivers the events
}

// claim reports whether s delivers the run's events. The first session that calls claim does.
func (a *attempts) claim(s *session) bool {
	return a.owner.Load() == s || a.owner.CompareAndSwap(nil, s)
}

// attemptDelay is the time that a run waits for the handler of another run before it starts on another client.
const attemptDelay = 50 * time.Millisecond

// maxAttempts limits the attempts of a run.
const maxAttempts = 32

// attemptResult is the outcome of an attempt.
type attemptResult struct {
	s   *session
	l   *loadedProgram
	p   []unsafe.Pointer // the results
	err error
}

// runWatched executes the program on a goroutine, for runs that can be cancelled and runs that share their client. It
// can return while a program that cannot be stopped continues, and it makes further attempts.
func (e *Executable) runWatched(ctx context.Context, s *session, l *loadedProgram, r *request, crowded bool) (*loadedProgram, []unsafe.Pointer, error) {
	done := make(chan attemptResult, maxAttempts)
	var mu sync.Mutex
	returned := false // no caller receives from done any more
	run := func(s *session, l *loadedProgram) {
		p, err := e.outcome(s, l, r)
		l.client.leave(s)
		leave(s)
		mu.Lock()
		defer mu.Unlock()
		e.end(s)
		if returned {
			e.drop(l, p)
		} else {
			done <- attemptResult{s, l, p, err}
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
	var tick <-chan time.Time
	if crowded {
		ticker := time.NewTicker(e.backend.attemptDelay)
		defer ticker.Stop()
		tick = ticker.C
	}
	go run(s, l)
	started := []*session{s}
	blocked := false
	cancelled := ctx.Done()
	var grace <-chan time.Time
	seen := map[*deviceState]int64{}
	for {
		select {
		case a := <-done:
			if a.s.attempts != nil {
				if !a.s.attempts.claim(a.s) {
					e.drop(a.l, a.p)
					continue // an abandoned attempt
				}
				e.abandon(started)
			}
			return a.l, a.p, a.err
		case <-cancelled:
			for _, s := range started {
				s.cancel(context.Cause(ctx))
			}
			cancelled = nil
			timer := time.NewTimer(gracePeriod)
			defer timer.Stop()
			grace = timer.C
		case <-grace:
			if blocked && s.attempts.owner.Load() == nil {
				// The program has not started, and its hooks are refused when it does.
				e.abandon(started)
				return nil, nil, context.Cause(ctx)
			}
			err := &runtime.LostError{Cause: context.Cause(ctx)}
			e.backend.lose(err)
			return nil, nil, err
		case <-tick:
			if s.attempts.owner.Load() != nil {
				tick = nil
				continue
			}
			blocked = l.client.stuck(s.attempts, seen)
			if !blocked || len(started) == maxAttempts || ctx.Err() != nil {
				continue
			}
			next, loaded, err := e.nextAttempt(ctx, s)
			if err != nil {
				e.abandon(started)
				return nil, nil, err
			}
			s, l = next, loaded
			go run(s, l)
			started = append(started, s)
			clear(seen)
		}
	}
}

// nextAttempt starts the next attempt of a run, one level of nesting deeper.
func (e *Executable) nextAttempt(ctx context.Context, before *session) (*session, *loadedProgram, error) {
	level := before.level + 1
	e.mu.Lock()
	l, err := e.count(ctx, level)
	e.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	s := e.session(ctx, before.memory, level, before.number)
	s.attempts = before.attempts
	if err := enter(s); err != nil {
		e.end(s)
		return nil, nil, err
	}
	l.client.join(s)
	return s, l, nil
}

// abandon abandons the waiting attempts. Close no longer waits for them.
func (e *Executable) abandon(started []*session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range started {
		if !s.ended {
			s.stale = true
			e.runs--
			e.stale++
			s.stopped.Store(true) // its hooks are refused
		}
	}
	if e.runs == 0 {
		e.idle.Broadcast()
	}
}

// join counts a run on the client. It reports whether other programs with hooks run there; if so, the run may need
// further attempts.
func (c *Client) join(s *session) (crowded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	crowded = len(c.running) > 0
	if crowded && s.attempts == nil {
		s.attempts = &attempts{}
	}
	if len(s.sites.all) > 0 {
		c.running[s] = struct{}{}
	}
	return crowded
}

func (c *Client) leave(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, s)
}

// stuck reports whether a handler of another run on the client is still busy with the same event as at the previous
// call with the same seen.
func (c *Client) stuck(own *attempts, seen map[*deviceState]int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := false
	for s := range c.running {
		if s.attempts == own && own != nil {
			continue
		}
		for i := range s.devices {
			d := &s.devices[i]
			arrived := d.seq.Load()
			if arrived == d.finished.Load() {
				delete(seen, d)
				continue
			}
			if n, ok := seen[d]; ok && n == arrived {
				found = true
			}
			seen[d] = arrived
		}
	}
	return found
}
