package verify

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// StandIn returns a responder for programs whose host is missing. Both sides get the same answers: each result is the
// first operand of its type that no other result has or, if there is none, ordinary values. The values depend on seed,
// the position of the result, and how often the hook was called on that device in that run, but not on other hooks:
// sides whose hooks fire in different orders get the same answers.
func StandIn(seed uint64) runtime.Handler {
	return &standIn{seed: seed, calls: map[standInKey]uint64{}}
}

type standInKey struct {
	run    int64
	device int
	hook   hook.ID
}

type standIn struct {
	seed  uint64
	mu    sync.Mutex
	calls map[standInKey]uint64
}

func (s *standIn) Handle(_ context.Context, c *runtime.Call) error {
	if c.Site.Kind == hook.InOut || c.Site.Kind == hook.Tap {
		return nil // the results, if any, are the operands already
	}
	k := standInKey{c.Run, c.Device, c.Site.ID}
	s.mu.Lock()
	n := s.calls[k]
	s.calls[k]++
	s.mu.Unlock()
	answers := c.MatchOperands()
	for i, o := range answers {
		if o != nil {
			answers[i] = o.Clone()
			continue
		}
		answers[i] = tensor.New(c.Results[i].DType(), c.Results[i].Shape())
		Fill(answers[i], rand.New(rand.NewPCG(s.seed^uint64(i)<<32, n)), Ordinary)
	}
	for i, r := range c.Results { // after all answers are computed, because results may share memory with operands
		copy(r.Bytes(), answers[i].Bytes())
	}
	return nil
}
