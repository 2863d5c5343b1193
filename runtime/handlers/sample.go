package handlers

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
)

// Sample forwards some of the events of each hook to another handler. It is safe for concurrent devices.
type Sample struct {
	every, first int64
	to           runtime.Handler
	mu           sync.Mutex
	seen         map[hook.ID]int64
}

// NewSample returns a handler that forwards events 0, every, 2 every, ... of each hook, and at most first of them if
// first is not 0.
func NewSample(every, first int64, to runtime.Handler) *Sample {
	return &Sample{every: max(1, every), first: first, to: to, seen: map[hook.ID]int64{}}
}

func newSample(args string, env *Env) (runtime.Handler, error) {
	opts, err := splitOptions(args, "to")
	if err != nil {
		return nil, err
	}
	every, first, to := int64(1), int64(0), "print"
	for _, o := range opts {
		switch o.key {
		case "every":
			every, err = strconv.ParseInt(o.value, 10, 64)
		case "first":
			first, err = strconv.ParseInt(o.value, 10, 64)
		case "to":
			to = o.value
		default:
			return nil, fmt.Errorf("unknown option %q: expected every, first or to", o.key)
		}
		if err != nil || every < 1 || first < 0 {
			return nil, fmt.Errorf("%s=%s: expected a positive number", o.key, o.value)
		}
	}
	inner, observer, err := Parse(to, env)
	if err != nil {
		return nil, err
	}
	if !observer {
		return nil, fmt.Errorf("handler %s is a responder; only an observer can be sampled", to)
	}
	return NewSample(every, first, inner), nil
}

// Handle forwards c or does nothing.
func (s *Sample) Handle(ctx context.Context, c *runtime.Call) error {
	s.mu.Lock()
	n := s.seen[c.Site.ID]
	s.seen[c.Site.ID]++
	s.mu.Unlock()
	if n%s.every != 0 || s.first > 0 && n/s.every >= s.first {
		return nil
	}
	return s.to.Handle(ctx, c)
}

// MemoryUse returns the memory use of the other handler.
func (s *Sample) MemoryUse() runtime.MemoryUse { return runtime.UseOf(s.to) }

// CheckSite implements runtime.SiteChecker.
func (s *Sample) CheckSite(site *hook.Site) error { return runtime.CheckSite(s.to, site) }

// Close closes the other handler.
func (s *Sample) Close() error {
	if c, ok := s.to.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
