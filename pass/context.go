package pass

import (
	"context"
	"slices"
	"sync"

	"github.com/hlocb/hlocb/diag"
	"github.com/hlocb/hlocb/ir"
)

// Context carries data between a driver and the passes of one run. It serves one module, and one op of it: the op that
// the pass runs on.
type Context struct {
	context.Context
	// Report receives the remarks and warnings that passes emit; nil drops them.
	Report func(*diag.Diagnostic)

	op     *ir.Op
	shared *shared
	step   outcome
	onRule func(rule string, made []*ir.Op) // is called after each application of a rule; may be nil
	made   []*ir.Op                         // that a rule created or changed since onRule was called, if it is not nil
}

// outcome is the report of a pass on its run on one op.
type outcome struct {
	counts []Count
	err    error
}

// shared is the part of a Context that the ops of a module share.
type shared struct {
	module *ir.Module

	mu       sync.Mutex // guards the fields below
	states   map[*State]bool
	results  map[any]any
	analyses map[AnalysisKey]map[*ir.Op]any
	ran      []Pass // since the last change
}

// NewContext returns a context for running passes on m. A pass that runs on one op of m without a driver gets
// NewContext(ctx, m).On(op).
func NewContext(ctx context.Context, m *ir.Module) *Context {
	return &Context{Context: ctx, op: m.Op(), shared: &shared{
		module: m, states: map[*State]bool{}, results: map[any]any{}, analyses: map[AnalysisKey]map[*ir.Op]any{}}}
}

// On returns a context that shares c's data and serves op.
func (c *Context) On(op *ir.Op) *Context {
	return &Context{Context: c.Context, Report: c.Report, op: op, shared: c.shared, onRule: c.onRule}
}

// Module returns the module that the passes work on.
func (c *Context) Module() *ir.Module { return c.shared.module }

// Op returns the op that the pass runs on. It is the module's op for a module pass.
func (c *Context) Op() *ir.Op { return c.op }

// Emit reports a remark or a warning.
func (c *Context) Emit(d *diag.Diagnostic) {
	if c.Report != nil {
		c.Report(d)
	}
}

// Count is a statistic of a pass, such as "ops erased".
type Count struct {
	Name string
	N    int
}

// Count adds n to the statistic with the given name.
func (c *Context) Count(name string, n int) {
	if n != 0 {
		c.step.counts = addCount(c.step.counts, Count{name, n})
	}
}

func addCount(list []Count, c Count) []Count {
	if i := slices.IndexFunc(list, func(x Count) bool { return x.Name == c.Name }); i >= 0 {
		list[i].N += c.N
		return list
	}
	return append(list, c)
}

// Set records whether the module is in a state from now on.
func (c *Context) Set(s *State, holds bool) {
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	c.shared.states[s] = holds
}

// Holds reports whether a pass has established the state.
func (c *Context) Holds(s *State) bool {
	holds, _ := c.shared.state(s)
	return holds
}

// state reports whether the module is in a state; known is false if no pass called Set.
func (s *shared) state(key *State) (holds, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	holds, known = s.states[key]
	return holds, known
}

// Result is the key of a value of type T that a pass computes. A pass with results declares a package variable:
//
//	var Aliases = pass.NewResult[[]hook.AliasReport]("aliases")
type Result[T any] struct{ name string }

// NewResult returns a new key. The name appears in messages.
func NewResult[T any](name string) *Result[T] { return &Result[T]{name} }

// Put stores a result and replaces any earlier one.
func (r *Result[T]) Put(c *Context, v T) {
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	c.shared.results[r] = v
}

// Get returns the result; ok is false if no pass stored one.
func (r *Result[T]) Get(c *Context) (v T, ok bool) {
	c.shared.mu.Lock()
	defer c.shared.mu.Unlock()
	v, ok = c.shared.results[r].(T)
	return v, ok
}

// AnalysisKey is an *Analysis[T] for any T.
type AnalysisKey interface{ analysis() }

// Analysis computes a fact about an op: the module's op, or the function that a pass runs on. The driver caches it
// until a pass changes the op or anything inside it.
type Analysis[T any] struct {
	Name    string
	Compute func(op *ir.Op) (T, error)
}

func (*Analysis[T]) analysis() {}

// Of returns the analysis of the op that c serves.
func (a *Analysis[T]) Of(c *Context) (T, error) {
	c.shared.mu.Lock()
	v, ok := c.shared.analyses[a][c.op].(T)
	c.shared.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := a.Compute(c.op)
	if err == nil {
		c.shared.mu.Lock()
		defer c.shared.mu.Unlock()
		if c.shared.analyses[a] == nil {
			c.shared.analyses[a] = map[*ir.Op]any{}
		}
		c.shared.analyses[a][c.op] = v
	}
	return v, err
}

// invalidate records that the pass described by i changed ops. It drops the analyses of these ops, of the ops that
// contain them and of the ops inside them, unless the pass preserves the analysis.
func (s *shared) invalidate(i *Info, ops []*ir.Op) {
	changed, outer := map[*ir.Op]bool{}, map[*ir.Op]bool{}
	for _, op := range ops {
		changed[op] = true
		for p := op.Parent(); p != nil && !outer[p]; p = p.Parent() {
			outer[p] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran = nil
	for k, byOp := range s.analyses {
		if slices.Contains(i.Preserves, k) {
			continue
		}
		for o := range byOp {
			stale := o.Erased() || outer[o]
			for p := o; p != nil && !stale; p = p.Parent() {
				stale = changed[p]
			}
			if stale {
				delete(byOp, o)
			}
		}
	}
}
