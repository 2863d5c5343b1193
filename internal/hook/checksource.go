package hooks

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// SourceOrder is the order that the tokens of a raised module impose on its hooks.
type SourceOrder struct{ edges []hook.Edge }

// SourceOrderOf returns the order that the tokens of a raised module impose, before anything is done to them.
func SourceOrderOf(m *ir.Module) SourceOrder { return SourceOrder{chainEdges(m)} }

// Check proves that the chains of a lowered module impose the same order: what the source ordered is connected by
// chains, and nothing else is. A chain through an optimization_barrier or a value without elements counts for nothing: XLA takes both away
// before it schedules.
func (s SourceOrder) Check(m *ir.Module) error {
	ops := map[hook.ID]*ir.Op{}
	m.Walk(func(op *ir.Op) bool {
		if id, _, ok := hookChain(op); ok {
			ops[id] = op
		}
		return true
	})
	e := newEdger(m)
	e.lowered = true
	got := e.run()
	if e, ok := missing(s.edges, got); ok {
		return m.Errorf(ops[e.To], "the source orders hook %s after hook %s, the result does not", e.To, e.From)
	}
	if e, ok := missing(got, s.edges); ok {
		return m.Errorf(ops[e.To], "the result orders hook %s after hook %s, the source does not", e.To, e.From)
	}
	return nil
}

// missing returns an edge of a that b does not have.
func missing(a, b []hook.Edge) (hook.Edge, bool) {
	has := make(map[hook.Edge]bool, len(b))
	for _, e := range b {
		has[e] = true
	}
	for _, e := range a {
		if !has[e] {
			return e, true
		}
	}
	return hook.Edge{}, false
}
