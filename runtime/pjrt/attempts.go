//go:build cgo

package pjrt

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hlocb/hlocb/tensor"
)

// A client executes a large program on a device when the one before it has ended. A handler that waits for such a program
// would wait for ever, so programs that handlers run get a client of their own (see clientKey). Handlers are told by their
// context and their thread. Where neither tells, since the handler waits for a goroutine that knows nothing of it, this
// is what happens: the run begins on the client of other runs with hooks. When it has not come to a hook or its end after
// a while, and one and the same handler of such a run has been at work all the time, it is begun once more on the
// client of the next level of nesting. The attempt that gets to a hook first delivers the run's events, and the hooks of the
// others are refused; without hooks the first one to end gives the results. So no wait is for ever, and nothing is
// delivered twice.
type attempts struct {
	owner atomic.Pointer[session] // the attempt that is the run
}

// claim reports whether s is the run, and makes it so where none is yet.
func (a *attempts) claim(s *session) bool {
	return a.owner.Load() == s || a.owner.CompareAndSwap(nil, s)
}

// patience is how long a run waits behind the handler of another one before it is begun elsewhere.
const patience = 50 * time.Millisecond

// maxAttempts bounds how often a run is begun.
const maxAttempts = 32

// ending is what an attempt came to.
type ending struct {
	s       *session
	results [][]*tensor.Tensor
	err     error
}

// runWatched executes on goroutines of their own, so that a program that cannot be stopped can be left alone, and one that
// waits for the handler which waits for it can be begun elsewhere.
func (e *Executable) runWatched(ctx context.Context, s *session, l *loadedProgram, args [][]*tensor.Tensor, crowded bool) ([][]*tensor.Tensor, error) {
	done := make(chan ending, maxAttempts) // nobody waits for those that are given up
	run := func(s *session, l *loadedProgram) {
		results, err := outcome(s, l, args)
		l.client.leave(s)
		leave(s)
		e.end(s)
		done <- ending{s, results, err}
	}
	var tick <-chan time.Time
	if crowded {
		ticker := time.NewTicker(patience)
		defer ticker.Stop()
		tick = ticker.C
	}
	go run(s, l)
	begun := []*session{s}
	blocked := false
	cancelled := ctx.Done()
	var grace <-chan time.Time
	seen := map[*deviceState]int64{}
	for {
		select {
		case a := <-done:
			if a.s.attempts != nil {
				if !a.s.attempts.claim(a.s) {
					continue // an attempt that was given up
				}
				e.abandon(begun)
			}
			return a.results, a.err
		case <-cancelled:
			for _, s := range begun {
				s.cancel(context.Cause(ctx))
			}
			cancelled = nil
			timer := time.NewTimer(gracePeriod)
			defer timer.Stop()
			grace = timer.C
		case <-grace:
			if blocked && s.attempts.owner.Load() == nil {
				// It has not begun and will not do anything when it does.
				e.abandon(begun)
				return nil, context.Cause(ctx)
			}
			err := &LostError{Cause: context.Cause(ctx)}
			e.backend.lose(err)
			return nil, err
		case <-tick:
			if s.attempts.owner.Load() != nil {
				tick = nil
				continue
			}
			blocked = l.client.stuck(s.attempts, seen)
			if !blocked || len(begun) == maxAttempts || ctx.Err() != nil {
				continue
			}
			next, loaded, err := e.another(ctx, s)
			if err != nil {
				e.abandon(begun)
				return nil, err
			}
			s, l = next, loaded
			go run(s, l)
			begun = append(begun, s)
			clear(seen)
		}
	}
}

// another begins a run's next attempt, one level of nesting further.
func (e *Executable) another(ctx context.Context, before *session) (*session, *loadedProgram, error) {
	level := before.level + 1
	e.mu.Lock()
	l, err := e.count(ctx, level)
	e.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	s := e.session(ctx, level, before.number)
	s.attempts = before.attempts
	if err := enter(s); err != nil {
		e.end(s)
		return nil, nil, err
	}
	l.client.join(s)
	return s, l, nil
}

// abandon leaves the attempts alone that still wait: Close no longer waits for them.
func (e *Executable) abandon(begun []*session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range begun {
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

// join notes that a program with hooks runs on the client, and reports whether others do: it may then have to be begun again.
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

// stuck reports whether a handler of another run on the client is at work, and was at the same event when stuck was called
// with the same seen before.
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
