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

// faults lists the kinds, for messages.
const faults = "error, panic, delay=DURATION, nan, zero, wrong-shape or unwritten"

// FaultNames returns the kinds of faults.
func FaultNames() []string {
	return []string{"error", "panic", "delay", "nan", "zero", "wrong-shape", "unwritten"}
}

// ErrInjected is the cause of the failures that faults inject.
var ErrInjected = errors.New("injected fault")

// Fault makes the handlers of hooks fail, for users who test how their programs react.
type Fault struct {
	at            int64 // the number of the event, -1 for each
	before, after func(ctx context.Context, c *runtime.Call) error
	instead       func(c *runtime.Call, answered bool) error

	mu     sync.Mutex
	seen   map[hook.ID]int64 // events
	fired  int64
	reason string // why an event had nothing to change
}

// ParseFault reads a fault:
//
//	error        the handler fails
//	panic        the handler panics
//	delay=2s     the handler takes two seconds longer
//	nan          the float and complex results are NaN, after the handler answered
//	zero         the results are zero, after the handler answered
//	wrong-shape  the handler's first result has one element too many
//	unwritten    the handler writes nothing
//
// With @N at the end the fault happens only at the hook's Nth event, counted from 0.
func ParseFault(spec string) (*Fault, error) {
	kind, number, single := strings.Cut(spec, "@")
	f := &Fault{at: -1, seen: map[hook.ID]int64{}}
	if single {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q: expected the number of an event after '@'", spec)
		}
		f.at = n
	}
	name, value, hasValue := strings.Cut(kind, "=")
	if hasValue != (name == "delay") {
		return nil, fmt.Errorf("unknown fault %q: expected %s", kind, faults)
	}
	switch name {
	case "error":
		f.before = func(context.Context, *runtime.Call) error { return ErrInjected }
	case "panic":
		f.before = func(context.Context, *runtime.Call) error { panic(ErrInjected) }
	case "delay":
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("delay=%s: expected a duration such as 2s", value)
		}
		f.before = func(ctx context.Context, _ *runtime.Call) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	case "nan":
		f.after = func(_ context.Context, c *runtime.Call) error { return f.spoil(c, math.NaN()) }
	case "zero":
		f.after = func(_ context.Context, c *runtime.Call) error { return f.spoil(c, 0) }
	case "wrong-shape":
		f.instead = wrongShape
	case "unwritten":
		f.instead = f.unwritten
	default:
		return nil, fmt.Errorf("unknown fault %q: expected %s", kind, faults)
	}
	return f, nil
}

// Wrap returns a handler that calls inner and injects the fault. inner is nil if the hook has no responder. Pass Wrap
// to runtime.Bindings.Wrap.
func (f *Fault) Wrap(inner runtime.Handler) runtime.Handler { return &faultyHandler{f, wrapped{inner}} }

// Unfired returns why the fault has not changed any event so far, or "" if it has.
func (f *Fault) Unfired() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	most := int64(0)
	for _, n := range f.seen {
		most = max(most, n)
	}
	switch {
	case f.fired > 0:
		return ""
	case f.reason != "":
		return f.reason
	case f.at >= 0 && most > 0:
		return fmt.Sprintf("there was no event %d; the hook had %d", f.at, most)
	}
	return "there was no event"
}

// noteUnchanged records why a fault changes nothing at an event.
func (f *Fault) noteUnchanged(format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reason = fmt.Sprintf(format, args...)
	f.fired--
	return nil
}

// spoil overwrites the results that a handler may write.
func (f *Fault) spoil(c *runtime.Call, v float64) error {
	if c.Site.Kind == hook.Tap {
		return f.noteUnchanged("the hook is a tap, whose results are the program's own values")
	}
	changed := false
	for _, r := range c.Results {
		if v == v || r.DType().IsFloat() || r.DType().IsComplex() {
			for i := range r.NumElements() {
				r.SetFloat(i, v)
			}
			changed = true
		}
	}
	if !changed {
		return f.noteUnchanged("the hook has no results of a float type")
	}
	return nil
}

// unwritten behaves as a handler that writes no results.
func (f *Fault) unwritten(c *runtime.Call, answered bool) error {
	if c.Site.Kind == hook.Tap || c.Site.Kind == hook.InOut && !answered {
		return f.noteUnchanged("no handler writes results of the hook, which is of kind %s", c.Site.Kind)
	}
	return nil
}

// wrongShape sets the first result to a value with one element too many.
func wrongShape(c *runtime.Call, _ bool) error {
	if len(c.Results) == 0 {
		return fmt.Errorf("%w: a hook of kind %s has no results to return in another shape", ErrInjected, c.Site.Kind)
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

// faultyHandler is a handler with a fault.
type faultyHandler struct {
	*Fault
	wrapped
}

// Handle calls the handler, and injects the fault at the chosen event.
func (h *faultyHandler) Handle(ctx context.Context, c *runtime.Call) error {
	h.mu.Lock()
	n := h.seen[c.Site.ID]
	h.seen[c.Site.ID]++
	hit := h.at < 0 || h.at == n
	if hit {
		h.fired++
	}
	h.mu.Unlock()
	if hit && h.before != nil {
		if err := h.before(ctx, c); err != nil {
			return err
		}
	}
	if hit && h.instead != nil {
		return h.instead(c, h.responder != nil)
	}
	if err := h.call(ctx, c); err != nil {
		return err
	}
	if hit && h.after != nil {
		return h.after(ctx, c)
	}
	return nil
}
