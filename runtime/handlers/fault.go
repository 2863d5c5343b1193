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

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/runtime"
	"github.com/hlocb/hlocb/tensor"
)

// faults lists the kinds for messages.
const faults = "error, panic, delay=DURATION, nan, zero, wrong-shape or unwritten"

// ErrInjected is the cause of the failures that a fault makes.
var ErrInjected = errors.New("injected fault")

// ParseFault reads a fault, for users who test what their programs do about failing hooks:
//
//	error        the handler fails
//	panic        the handler panics
//	delay=2s     the handler takes so much longer
//	nan          the float results are NaN, after the handler answered
//	zero         the results are zero, after the handler answered
//	wrong-shape  the handler gives its first result one element more than it has
//	unwritten    the handler writes nothing
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
		return nil, fmt.Errorf("unknown fault %q: expected %s", kind, faults)
	}
	var before, instead, after func(ctx context.Context, c *runtime.Call) error
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
	case "wrong-shape":
		instead = wrongShape
	case "unwritten":
		instead = func(context.Context, *runtime.Call) error { return nil }
	case "zero":
		after = func(_ context.Context, c *runtime.Call) error { spoil(c, 0); return nil }
	default:
		return nil, fmt.Errorf("unknown fault %q: expected %s", kind, faults)
	}
	return func(inner runtime.Handler) runtime.Handler {
		f := &fault{inner: inner, at: at, before: before, instead: instead, after: after, seen: map[hook.ID]int64{}}
		return f
	}, nil
}

// spoil overwrites the results that a handler may write.
func spoil(c *runtime.Call, v float64) {
	if c.Site.Kind == hook.Tap {
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

// wrongShape gives the first result as a handler does that computed one element too many.
func wrongShape(_ context.Context, c *runtime.Call) error {
	if len(c.Results) == 0 {
		return fmt.Errorf("%w: a hook of kind %s has no results to give in another shape", ErrInjected, c.Site.Kind)
	}
	r := c.Results[0]
	shape := r.Shape().Clone()
	if len(shape) == 0 {
		shape = tensor.Shape{2}
	} else {
		shape[len(shape)-1]++
	}
	return c.SetResult(0, tensor.New(r.DType(), shape))
}

type fault struct {
	inner                  runtime.Handler // nil where nobody answers
	at                     int64           // which event, -1 for each
	before, instead, after func(context.Context, *runtime.Call) error
	mu                     sync.Mutex
	seen                   map[hook.ID]int64
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
	if hit && f.instead != nil {
		return f.instead(ctx, c)
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
