package pass

import (
	"context"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Pass is a ModulePass, an OpPass or a Group.
type Pass interface {
	// Info documents the pass. It is the same for all values of the pass type.
	Info() *Info
}

// ModulePass works on a whole module.
type ModulePass interface {
	Pass
	// Run transforms m. After an error the module may be in any state, and the caller must not use it. Errors that
	// concern the module are a *diag.Diagnostic or a diag.List.
	Run(ctx *Context, m *ir.Module) error
}

// OpPass works on one op at a time, such as a function. See Info.Anchor.
type OpPass interface {
	Pass
	// Run transforms op. It must not read or change anything outside op, because a driver may run it on other ops of
	// the module at the same time.
	Run(ctx *Context, op *ir.Op) error
}

// Group is a pass that stands for other passes.
type Group interface {
	Pass
	// Expand returns the passes to run instead.
	Expand() ([]Pass, error)
}

// Info documents a pass.
type Info struct {
	Name string // in pipelines: "raise-hooks"
	Doc  string // the first sentence says what the pass does
	// Anchor names the ops that an OpPass runs on: "func.func". Empty: any op that is isolated from above.
	Anchor string
	// ReadOnly says that the pass never changes the module. A driver need not verify after it.
	ReadOnly bool
	// Requires lists the states that the module must be in. The driver refuses to run the pass otherwise.
	Requires []*State
	// Excludes lists the states that the module must not be in.
	Excludes []*State
	// Preserves lists the analyses that remain valid after the pass.
	Preserves []AnalysisKey
}

// State is a property of a module that some passes establish and others require, such as "raised hooks". A pass that
// changes the property calls Context.Set.
type State struct {
	Name string // completes "pass X requires …"
	By   string // the pass that establishes the state
	// Check decides the state of a module for which no pass called Set: it returns an error if the module is not in the
	// state. Nil: such a module is never in the state.
	Check func(m *ir.Module) error
}

// Context carries data between a driver and the passes of one run. A Context serves one module.
type Context struct {
	context.Context
	// Report receives remarks and warnings; nil drops them.
	Report func(*diag.Diagnostic)

	module   *ir.Module
	states   map[*State]bool
	results  map[any]any
	analyses map[AnalysisKey]any
}

// NewContext returns a context for running passes on m.
func NewContext(ctx context.Context, m *ir.Module) *Context {
	return &Context{Context: ctx, module: m, states: map[*State]bool{}, results: map[any]any{}, analyses: map[AnalysisKey]any{}}
}

// Module returns the module that the passes work on.
func (c *Context) Module() *ir.Module { return c.module }

// Set records whether the module is in a state from now on.
func (c *Context) Set(s *State, holds bool) { c.states[s] = holds }

// Holds reports whether a pass has established the state.
func (c *Context) Holds(s *State) bool { return c.states[s] }

// Result is the key of a value of type T that a pass computes. A pass with results declares a package variable:
//
//	var Aliases = pass.NewResult[[]hook.AliasReport]("aliases")
type Result[T any] struct{ name string }

// NewResult returns a new key. The name appears in messages.
func NewResult[T any](name string) *Result[T] { return &Result[T]{name} }

// Put stores a result and replaces any earlier one.
func (r *Result[T]) Put(c *Context, v T) { c.results[r] = v }

// Get returns the result; ok is false if no pass stored one.
func (r *Result[T]) Get(c *Context) (v T, ok bool) {
	v, ok = c.results[r].(T)
	return v, ok
}

// AnalysisKey is an *Analysis[T] for any T.
type AnalysisKey interface{ analysis() }

// Analysis computes a fact about a module. The driver caches it until a pass changes the module.
type Analysis[T any] struct {
	Name    string
	Compute func(m *ir.Module) (T, error)
}

func (*Analysis[T]) analysis() {}

// Of returns the analysis of the context's module.
func (a *Analysis[T]) Of(c *Context) (T, error) {
	if v, ok := c.analyses[a].(T); ok {
		return v, nil
	}
	v, err := a.Compute(c.module)
	if err == nil {
		c.analyses[a] = v
	}
	return v, err
}

// invalidate drops the analyses that a pass did not preserve.
func (c *Context) invalidate(i *Info) {
	if i.ReadOnly {
		return
	}
next:
	for k := range c.analyses {
		for _, p := range i.Preserves {
			if p == k {
				continue next
			}
		}
		delete(c.analyses, k)
	}
}
