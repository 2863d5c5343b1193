package runtime

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/internal/words"
	"github.com/hlocb/hlocb/tensor"
)

// Handler is host code that a hook of a program calls. Handle runs on the thread that executes the program. The call's
// tensors are valid only until Handle returns. An error or a panic ends the run with a *HookError. Handle must return:
// on a thread of a plugin, runtime.Goexit (testing.T.FailNow calls it) ends the process.
type Handler interface {
	Handle(ctx context.Context, c *Call) error
}

// HandlerFunc is a function that is a Handler.
type HandlerFunc func(ctx context.Context, c *Call) error

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, c *Call) error { return f(ctx, c) }

// Call is one event: a program has reached a hook. Backends reuse Calls, so a handler must not keep a Call or its
// tensors. It can clone tensors.
type Call struct {
	Site      *hook.Site
	Run       int64 // counts the runs of the executable, from 1
	Seq       int64 // counts the hooks of this run on this device, from 0
	Device    int   // the device's position among the run's devices
	Replica   int
	Partition int

	// Operands are read-only, except those of an inout hook, which are also its Results. Without host views (see
	// MemoryUse) they may have only types and shapes, and so may Results.
	Operands []*tensor.Tensor
	// Results are writable. A handler of a call or feed hook must write all of them; otherwise the run ends with an
	// *UnwrittenError.
	Results []*tensor.Tensor

	// OperandPointers and ResultPointers are set if a handler of the hook asks for DevicePointers. The results of an
	// inout hook have the addresses of their operands; a tap has no ResultPointers.
	OperandPointers, ResultPointers []DevicePointer

	// Ordinal is the device's number in the backend's process, and Stream the CUDA stream in which the call's values are
	// computed and its results are used, 0 on other devices. A handler that starts work on device pointers starts it
	// there, and need not wait for it.
	Ordinal int
	Stream  uintptr

	// OperandLayouts and ResultLayouts are the dimensions of each operand and result from minor to major. They are nil
	// unless the handler asks for Layouts and the source has others than row-major.
	OperandLayouts, ResultLayouts [][]int64

	// Backends set the rest if the host cannot read the device's memory. Handlers use Operand, Head, Statistics and
	// Return.
	Remote   Remote
	Heads    []*tensor.Tensor // the first elements of each operand, a vector each
	Stats    []Statistics     // of each operand
	returned []*tensor.Tensor // see Return
}

// Bindings choose the handlers for the hooks of a program. The zero value binds nothing.
//
// Observers see events without answering. Every matching observer is called, in the order of the Observe calls, before
// the responder. At most one responder writes the results: an exact name or id takes precedence over a glob, and a
// later Answer over an earlier one.
type Bindings struct{ list []binding }

type binding struct {
	role    role
	pattern string
	handler Handler
	wrap    func(Handler) Handler
}

type role int

const (
	observer role = iota
	responder
	wrapper
)

// Clone returns bindings that can be added to without changing b.
func (b *Bindings) Clone() *Bindings { return &Bindings{slices.Clone(b.list)} }

// Add adds what is bound in other, after what is bound in b.
func (b *Bindings) Add(other *Bindings) { b.list = append(b.list, other.list...) }

// Observe adds h as an observer of every hook that pattern (a name, a glob or a hexadecimal id) selects.
func (b *Bindings) Observe(pattern string, h Handler) {
	b.list = append(b.list, binding{observer, pattern, h, nil})
}

// Answer adds h as the responder of the hooks that pattern (a name, a glob or a hexadecimal id) selects.
func (b *Bindings) Answer(pattern string, h Handler) {
	b.list = append(b.list, binding{responder, pattern, h, nil})
}

// Wrap replaces the responder of the hooks that pattern selects by wrap(responder), in the order of the Wrap calls: the
// first is innermost. wrap gets nil if the hook has no responder; the handler that it then returns must leave results
// unchanged. Recordings and injected faults use Wrap.
func (b *Bindings) Wrap(pattern string, wrap func(Handler) Handler) {
	b.list = append(b.list, binding{wrapper, pattern, nil, wrap})
}

// Unmatched returns the bound patterns that select no hook of m, each once, in the order of their binding.
func (b *Bindings) Unmatched(m *hook.Manifest) []string {
	var out []string
	for _, x := range b.list {
		if !x.selectsAny(m) && !slices.Contains(out, x.pattern) {
			out = append(out, x.pattern)
		}
	}
	return out
}

// Bound is a hook with its handlers.
type Bound struct {
	site      *hook.Site
	answer    Handler // nil for none: a tap or inout then passes its operands through
	observers []Handler
	use       MemoryUse
	writes    bool    // the responder writes results through host views
	timers    []Timer // of the observers
}

// Timer is a handler that learns how long the handlers of a call took. Returned follows each call of an observer whose
// Timed is true, after the responder has returned, with an error or without. Results of an inout hook have replaced its
// operands by then.
type Timer interface {
	Handler
	Timed() bool
	Returned(c *Call, took time.Duration)
}

// NewBound returns a hook with a responder, or nil for none, and observers.
func NewBound(site *hook.Site, answer Handler, observers ...Handler) *Bound {
	b := &Bound{site: site, answer: answer, observers: observers, use: UseOf(answer)}
	b.writes = b.use.HostViews && site.Kind != hook.Tap
	for _, o := range observers {
		b.use = b.use.And(UseOf(o))
		if t, ok := o.(Timer); ok && t.Timed() {
			b.timers = append(b.timers, t)
		}
	}
	return b
}

// Site returns the hook.
func (b *Bound) Site() *hook.Site { return b.site }

// Idle reports whether the hook has no handlers.
func (b *Bound) Idle() bool { return b.answer == nil && len(b.observers) == 0 }

// Use returns what the handlers need together.
func (b *Bound) Use() MemoryUse { return b.use }

// Writes reports whether the responder writes results through host views.
func (b *Bound) Writes() bool { return b.writes }

// UnboundError says that a hook needs a responder and has none.
type UnboundError struct{ Site *hook.Site }

func (e *UnboundError) Error() string {
	return fmt.Sprintf("hook %q (%s, id %s) needs a handler that computes its results", words.Shorten(e.Site.Name, maxNameText), e.Site.Kind, e.Site.ID)
}

// Bind chooses the handlers for every hook of m. It returns an *UnboundError if a call or feed hook has no responder,
// and a *BindError if an observer is nil or a handler refuses a hook. A glob with a mistake is an error too. b may be
// nil.
func (b *Bindings) Bind(m *hook.Manifest) ([]Bound, error) {
	if b == nil {
		b = &Bindings{}
	}
	for _, x := range b.list {
		if _, err := path.Match(x.pattern, ""); err != nil && !x.selectsAny(m) {
			return nil, fmt.Errorf("pattern %q of a handler: %w", x.pattern, err)
		}
	}
	bound := make([]Bound, len(m.Sites))
	for i := range m.Sites {
		site := &m.Sites[i]
		var answer Handler
		var observers []Handler
		check := func(h Handler) error {
			if err := CheckSite(h, site); err != nil {
				return &BindError{site, err}
			}
			return nil
		}
		exactFound := false
		for _, x := range b.list {
			exact, ok := match(x.pattern, site)
			switch {
			case !ok:
			case x.role == responder && (exact || !exactFound):
				answer, exactFound = x.handler, exact
			case x.role == observer && x.handler == nil:
				return nil, &BindError{site, errors.New("the handler is nil")}
			case x.role == observer:
				if err := check(x.handler); err != nil {
					return nil, err
				}
				observers = append(observers, x.handler)
			}
		}
		if answer == nil && (site.Kind == hook.Call || site.Kind == hook.Feed) {
			return nil, &UnboundError{site}
		}
		if err := check(answer); err != nil {
			return nil, err
		}
		for _, x := range b.list {
			if x.role == wrapper && x.selects(site) {
				answer = x.wrap(answer)
			}
		}
		bound[i] = *NewBound(site, answer, observers...)
	}
	return bound, nil
}

func (x binding) selectsAny(m *hook.Manifest) bool {
	for i := range m.Sites {
		if x.selects(&m.Sites[i]) {
			return true
		}
	}
	return false
}

func (x binding) selects(site *hook.Site) bool {
	_, ok := match(x.pattern, site)
	return ok
}

// match reports whether pattern selects the site, and whether by exact name or id.
func match(pattern string, site *hook.Site) (exact, ok bool) {
	if pattern == site.Name || strings.EqualFold(pattern, site.ID.String()) {
		return true, true
	}
	// A name is not a path, so '*' must match '/' too.
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(site.Name, "/", "\x00"))
	return false, ok && err == nil
}
