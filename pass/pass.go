package pass

import (
	"errors"
	"fmt"
	"slices"

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
	// Run transforms op. It must not change anything outside op, and read nothing outside op unless Info.Sequential is
	// set, because a driver runs the pass on several ops of the module at the same time. Interned types, attributes and
	// the definitions of ops are safe to use.
	Run(ctx *Context, op *ir.Op) error
}

// Separable is an OpPass that a driver may run on the functions of a module, several at the same time, instead of on
// the module.
type Separable interface {
	OpPass
	// Separable reports whether the pass, with its options, does the same on a module of functions as on each of them.
	Separable() bool
}

// Resolver is a pass with pipelines in its options.
type Resolver interface {
	Pass
	// Resolve returns the pass with these pipelines read. Parse calls it once, after it set the options.
	Resolve(t *Table) (Pass, error)
}

// Group is a pass that expands to other passes.
type Group interface {
	Pass
	// Expand returns the passes to run instead.
	Expand() ([]Pass, error)
}

// Info documents a pass.
type Info struct {
	Name    string   // in pipelines: "raise-hooks"
	Aliases []string // short names that pipelines may use
	Doc     string   // the first sentence says what the pass does
	// Anchor names the ops that an OpPass runs on: "func.func". Empty: any op that is isolated from above.
	Anchor string
	// Sequential says that an OpPass reads something outside its op, so that a driver must not run it on several ops at
	// the same time. It still changes nothing outside its op.
	Sequential bool
	// ReadOnly says that the pass never changes the module. A driver need not verify after it.
	ReadOnly bool
	// Idempotent says that a second run of the pass changes nothing.
	Idempotent bool
	// Requires lists what the pass needs: states of the module, and passes that run first.
	Requires []Requirement
	// Excludes lists the states that the module must not be in.
	Excludes []*State
	// Preserves lists the analyses that remain valid after the pass.
	Preserves []AnalysisKey
}

// Requirement is a *State or the result of First.
type Requirement interface {
	// require returns an error if the pass described by i cannot run now.
	require(r *run, i *Info) error
}

// State is a property of a module that some passes establish and others require, such as "raised hooks". A pass that
// changes the property calls Context.Set.
type State struct {
	Name string // completes "pass X requires …"
	By   Pass   // establishes the state
	// Check decides the state of a module for which no pass called Set: it returns an error if the module is not in the
	// state. Nil: such a module is never in the state.
	Check func(m *ir.Module) error
}

func (s *State) require(r *run, i *Info) error {
	holds, known := r.ctx.shared.state(s)
	by := s.By.Info().Name
	switch {
	case holds:
		return nil
	case known || s.Check == nil:
		return fmt.Errorf("pass %q requires %s: run %s first", i.Name, s.Name, by)
	}
	err := s.Check(r.ctx.Module())
	if err == nil {
		return nil
	}
	var d *diag.Diagnostic
	if errors.As(err, &d) {
		return d.Note(d.Pos, "pass '%s' requires %s: run %s first", i.Name, s.Name, by)
	}
	return fmt.Errorf("pass %q requires %s: run %s first: %w", i.Name, s.Name, by, err)
}

// First requires that p runs before the pass. The driver runs p, unless p ran before with the same options and exported
// fields, and no pass changed the module since.
func First(p Pass) Requirement { return first{p} }

type first struct{ pass Pass }

func (f first) require(r *run, _ *Info) error {
	if slices.ContainsFunc(r.ctx.shared.ran, func(p Pass) bool { return same(p, f.pass) }) {
		return nil
	}
	p := f.pass
	if i := p.Info(); i.Anchor != "" && i.Anchor != moduleAnchor {
		p = On(i.Anchor, p)
	}
	module := []*ir.Op{r.ctx.Module().Op()}
	return r.pass(p, func(Pass) ([]*ir.Op, error) { return module, nil }, false)
}
