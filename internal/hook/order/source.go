package order

import (
	"context"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Source is the order that the source imposes on the hooks of a raised module: by tokens, and in HLO also by control
// predecessors and add-dependency.
type Source struct{ edges []hook.Edge }

// SourceOf returns the order that the source imposes on the hooks of a raised module. Call it before changing the
// tokens.
func SourceOf(m *ir.Module) Source { return Source{append(PathsOf(m).Chain(), controlEdges(m)...)} }

// Prove proves that the chains of a lowered module impose the same partial order: they order exactly the pairs of hooks
// that the source ordered. See the function Prove for the valid paths. It stops with an error when ctx ends.
func (s Source) Prove(ctx context.Context, m *ir.Module) error {
	if err := checkLowered(m); err != nil {
		return err
	}
	got, ops := chainsOf(m)
	if err := s.keptBy(ctx, m, got, ops); err != nil {
		return err
	}
	if e, ok := firstMissing(ctx, got, s.edges); ok {
		return m.Errorf(ops[e.To], "the result orders hook %s after hook %s, the source does not", e.To, e.From)
	}
	return ctx.Err()
}

// kept proves that the chains of a lowered module order the pairs of hooks that the source ordered, and maybe more.
func (s Source) kept(ctx context.Context, m *ir.Module) error {
	got, ops := chainsOf(m)
	return s.keptBy(ctx, m, got, ops)
}

func (s Source) keptBy(ctx context.Context, m *ir.Module, got []hook.Edge, ops map[hook.ID]*ir.Op) error {
	if e, ok := firstMissing(ctx, s.edges, got); ok {
		at := ops[e.To]
		if at == nil {
			at = m.Op()
		}
		return m.Errorf(at, "the source orders hook %s after hook %s, the result does not", e.To, e.From)
	}
	return nil
}

// chainsOf returns the order of the chains of a lowered module, and its hooks.
func chainsOf(m *ir.Module) ([]hook.Edge, map[hook.ID]*ir.Op) {
	p := PathsOf(m)
	p.lowered = true
	ops := map[hook.ID]*ir.Op{}
	for i, op := range p.Hooks {
		ops[p.ids[i]] = op
	}
	return p.Chain(), ops
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
