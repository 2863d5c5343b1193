package runtime

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

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

	// Operands are read-only, except those of an inout hook, which are also its Results.
	Operands []*tensor.Tensor
	// Results are writable. A handler of a call or feed hook must write all of them; otherwise the run ends with an
	// *UnwrittenError.
	Results []*tensor.Tensor

	// OperandPointers and ResultPointers are set if a handler of the hook asks for DevicePointers. The results of an
	// inout hook have the addresses of their operands; a tap has no ResultPointers.
	OperandPointers, ResultPointers []DevicePointer

	// OperandLayouts and ResultLayouts are the dimensions of each operand and result from minor to major. They are nil
	// unless the handler asks for Layouts and the source has others than row-major.
	OperandLayouts, ResultLayouts [][]int64
}

// Bindings choose the handlers for the hooks of a program. The zero value binds nothing.
//
// Observers see events without answering. Every matching observer is called, in the order of the Observe calls, before
// the responder. At most one responder writes the results: an exact name or id takes precedence over a glob, and a
// later Answer over an earlier one.
type Bindings struct {
	observers []binding
	answers   []binding
	wraps     []wrapper
}

type wrapper struct {
	pattern string
	wrap    func(Handler) Handler
}

type binding struct {
	pattern string
	handler Handler
}

// Clone returns bindings that can be added to without changing b.
func (b *Bindings) Clone() *Bindings {
	return &Bindings{slices.Clone(b.observers), slices.Clone(b.answers), slices.Clone(b.wraps)}
}

// Observe adds h as an observer of every hook that pattern (a name, a glob or a hexadecimal id) selects.
func (b *Bindings) Observe(pattern string, h Handler) {
	b.observers = append(b.observers, binding{pattern, h})
}

// Answer adds h as the responder of the hooks that pattern (a name, a glob or a hexadecimal id) selects.
func (b *Bindings) Answer(pattern string, h Handler) {
	b.answers = append(b.answers, binding{pattern, h})
}

// Wrap replaces the responder of the hooks that pattern selects by wrap(responder), in the order of the Wrap calls: the
// first is innermost. wrap gets nil if the hook has no responder; the handler that it then returns must leave results
// unchanged. Recordings and injected faults use Wrap.
func (b *Bindings) Wrap(pattern string, wrap func(Handler) Handler) {
	b.wraps = append(b.wraps, wrapper{pattern, wrap})
}

// Unmatched returns the bound patterns that select no hook of m, each once, in the order of their binding.
func (b *Bindings) Unmatched(m *hook.Manifest) []string {
	var out []string
	check := func(pattern string) {
		for i := range m.Sites {
			if _, ok := match(pattern, &m.Sites[i]); ok {
				return
			}
		}
		if !slices.Contains(out, pattern) {
			out = append(out, pattern)
		}
	}
	for _, o := range b.observers {
		check(o.pattern)
	}
	for _, a := range b.answers {
		check(a.pattern)
	}
	for _, w := range b.wraps {
		check(w.pattern)
	}
	return out
}

// Bound is a hook with the handlers that Bind chose for it.
type Bound struct {
	Site      *hook.Site
	Observers []Handler
	Answer    Handler // nil for none: a tap or inout then passes its operands through
}

// UnboundError says that a hook needs a responder and has none.
type UnboundError struct{ Site *hook.Site }

func (e *UnboundError) Error() string {
	return fmt.Sprintf("hook %q (%s, id %s) needs a handler that computes its results", words.Shorten(e.Site.Name, maxNameText), e.Site.Kind, e.Site.ID)
}

// Bind chooses the handlers for every hook of m. It returns an *UnboundError if a call or feed hook has no responder,
// and a *BindError if an observer is nil or a handler refuses a hook. A glob with a mistake is an error too. b may be nil.
func (b *Bindings) Bind(m *hook.Manifest) ([]Bound, error) {
	if b != nil {
		for _, pattern := range b.Unmatched(m) {
			if _, err := path.Match(pattern, ""); err != nil {
				return nil, fmt.Errorf("pattern %q of a handler: %w", pattern, err)
			}
		}
	}
	bound := make([]Bound, len(m.Sites))
	for i := range m.Sites {
		site := &m.Sites[i]
		bound[i].Site = site
		if b != nil {
			for _, o := range b.observers {
				if _, ok := match(o.pattern, site); ok {
					if o.handler == nil {
						return nil, &BindError{site, errors.New("the handler is nil")}
					}
					bound[i].Observers = append(bound[i].Observers, o.handler)
				}
			}
			exactFound := false
			for _, a := range b.answers {
				if exact, ok := match(a.pattern, site); ok && (exact || !exactFound) {
					bound[i].Answer, exactFound = a.handler, exact
				}
			}
		}
		if bound[i].Answer == nil && (site.Kind == hook.Call || site.Kind == hook.Feed) {
			return nil, &UnboundError{site}
		}
		for _, h := range append(bound[i].Observers[:len(bound[i].Observers):len(bound[i].Observers)], bound[i].Answer) {
			if check, ok := h.(SiteChecker); ok {
				if err := check.CheckSite(site); err != nil {
					return nil, &BindError{site, err}
				}
			}
		}
		if b != nil {
			for _, w := range b.wraps {
				if _, ok := match(w.pattern, site); ok {
					bound[i].Answer = w.wrap(bound[i].Answer)
				}
			}
		}
	}
	return bound, nil
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
