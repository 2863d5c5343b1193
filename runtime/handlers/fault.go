package handlers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/runtime"
)

// ErrInjected is the cause of the failures that a fault makes.
var ErrInjected = errors.New("injected fault")

// ParseFault reads a fault, for users who test what their programs do about failing hooks:
//
//	error       the handler fails
//	panic       the handler panics
//	delay=2s    the handler takes so much longer
//	nan         the float results are NaN, after the handler answered
//	zero        the results are zero, after the handler answered
//
// With @N at the end it happens at the hook's Nth event only, counted from 0. The result wraps the hook's handler
// (see runtime.Bindings.Wrap).
func ParseFault(spec string) (func(runtime.Handler) runtime.Handler, error) {
	kind, number, single := strings.Cut(spec, "@")
	at := int64(-1)
	if single {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q: expected the number of an event after '@'", spec)
		}
		at = n
	}
	name, value, hasValue := strings.Cut(kind, "=")
	if hasValue != (name == "delay") {
		return nil, fmt.Errorf("unknown fault %q: expected error, panic, delay=DURATION, nan or zero", kind)
	}
	var before, after func(ctx context.Context, c *runtime.Call) error
	switch name {
	case "error":
		before = func(context.Context, *runtime.Call) error { return ErrInjected }
	case "panic":
		before = func(context.Context, *runtime.Call) error { panic(ErrInjected) }
	case "delay":
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("delay=%s: expected a duration such as 2s", value)
		}
		before = func(ctx context.Context, _ *runtime.Call) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	case "nan":
		after = func(_ context.Context, c *runtime.Call) error { spoil(c, math.NaN()); return nil }
	case "zero":
		after = func(_ context.Context, c *runtime.Call) error { spoil(c, 0); return nil }
	default:
		return nil, fmt.Errorf("unknown fault %q: expected error, panic, delay=DURATION, nan or zero", kind)
	}
	return func(inner runtime.Handler) runtime.Handler {
		f := &fault{inner: inner, at: at, before: before, after: after, seen: map[hlocb.ID]int64{}}
		return f
	}, nil
}

// spoil overwrites the results that a handler may write.
func spoil(c *runtime.Call, v float64) {
	if c.Site.Kind == hlocb.Tap {
		return
	}
	for _, r := range c.Results {
		if v == v || r.DType().IsFloat() || r.DType().IsComplex() {
			for i := range r.NumElements() {
				r.SetFloat(i, v)
			}
		}
	}
}

type fault struct {
	inner         runtime.Handler // nil where nobody answers
	at            int64           // which event, -1 for each
	before, after func(context.Context, *runtime.Call) error
	mu            sync.Mutex
	seen          map[hlocb.ID]int64
}

func (f *fault) Handle(ctx context.Context, c *runtime.Call) error {
	f.mu.Lock()
	n := f.seen[c.Site.ID]
	f.seen[c.Site.ID]++
	f.mu.Unlock()
	hit := f.at < 0 || f.at == n
	if hit && f.before != nil {
		if err := f.before(ctx, c); err != nil {
			return err
		}
	}
	if f.inner != nil {
		if err := f.inner.Handle(ctx, c); err != nil {
			return err
		}
	}
	if hit && f.after != nil {
		return f.after(ctx, c)
	}
	return nil
}
