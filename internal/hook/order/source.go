package order

import (
	"context"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Source is the order that the tokens of a raised module impose on its hooks.
type Source struct{ edges []hook.Edge }

// SourceOf returns the order that the tokens of a raised module impose. Call it before changing the tokens.
func SourceOf(m *ir.Module) Source { return Source{PathsOf(m).Chain()} }

// Prove proves that the chains of a lowered module impose the same partial order: they order exactly the pairs of hooks
// that the source ordered. See the function Prove for the valid paths. It stops with an error when ctx ends.
func (s Source) Prove(ctx context.Context, m *ir.Module) error {
	if err := checkLowered(m); err != nil {
		return err
	}
	p := PathsOf(m)
	p.lowered = true
	got := p.Chain()
	ops := map[hook.ID]*ir.Op{}
	for i, op := range p.Hooks {
		ops[p.ids[i]] = op
	}
	if e, ok := firstMissing(ctx, s.edges, got); ok {
		return m.Errorf(ops[e.To], "the source orders hook %s after hook %s, the result does not", e.To, e.From)
	}
	if e, ok := firstMissing(ctx, got, s.edges); ok {
		return m.Errorf(ops[e.To], "the result orders hook %s after hook %s, the source does not", e.To, e.From)
	}
	return ctx.Err()
}

// firstMissing returns an edge of a whose ends b does not order, directly or through other hooks. A hook that fires on
// only one device is skipped on the other devices, so the chain bypasses it there. It stops when ctx ends.
func firstMissing(ctx context.Context, a, b []hook.Edge) (hook.Edge, bool) {
	r := reached{next: nextOf(b)}
	for _, e := range a {
		if ctx.Err() != nil {
			break
		}
		if !r.leads(e) {
			return e, true
		}
	}
	return hook.Edge{}, false
}
