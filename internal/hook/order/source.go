package order

import (
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Source is the order that the tokens of a raised module impose on its hooks.
type Source struct{ edges []hook.Edge }

// SourceOf returns the order that the tokens of a raised module impose, before anything is done to them.
func SourceOf(m *ir.Module) Source { return Source{PathsOf(m).Chain()} }

// Prove proves that the chains of a lowered module impose the same partial order: they order every two hooks that the
// source ordered, and no others. See Prove for the paths that count.
func (s Source) Prove(m *ir.Module) error {
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
	if e, ok := missing(s.edges, got); ok {
		return m.Errorf(ops[e.To], "the source orders hook %s after hook %s, the result does not", e.To, e.From)
	}
	if e, ok := missing(got, s.edges); ok {
		return m.Errorf(ops[e.To], "the result orders hook %s after hook %s, the source does not", e.To, e.From)
	}
	return nil
}

// missing returns an edge of a whose ends b does not order, neither at once nor through others. A hook that fires on
// one device only is skipped on the others, so the chain leads past it there.
func missing(a, b []hook.Edge) (hook.Edge, bool) {
	has := make(map[hook.Edge]bool, len(b))
	for _, e := range b {
		has[e] = true
	}
	var next map[hook.ID][]hook.ID
	for _, e := range a {
		if has[e] {
			continue
		}
		if next == nil {
			next = nextOf(b)
		}
		if !leads(next, e) {
			return e, true
		}
	}
	return hook.Edge{}, false
}
