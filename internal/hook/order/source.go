package order

import (
	"context"

	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// Source is the order that the source imposes on the hooks of a raised module: by tokens, and in HLO also by control
// predecessors and add-dependency. It holds for each call of a function.
type Source struct{ edges [][2]event }

// SourceOf returns the order that the source imposes on the hooks of a raised module. Call it before changing the
// tokens.
func SourceOf(m *ir.Module) Source {
	p := PathsOf(m)
	p.tellCallsApart(false)
	pairs := p.chain()
	for _, c := range controlledHooks(m) {
		to := p.number[c.hook]
		for _, op := range c.before {
			for _, at := range p.callsOf(to) { // both are in one block
				pairs = append(pairs, [2]place{{p.number[op], at}, {to, at}})
			}
		}
	}
	return Source{p.betweenEvents(pairs)}
}

// Prove proves that the chains of a lowered module impose the same partial order: they order exactly the pairs of hooks
// that the source ordered. See the function Prove for the valid paths. It stops with an error when ctx ends.
func (s Source) Prove(ctx context.Context, m *ir.Module) error {
	if err := checkLowered(m); err != nil {
		return err
	}
	got, ops := chainsOf(m, false)
	if err := s.keptBy(ctx, m, got, ops); err != nil {
		return err
	}
	if e, ok := firstMissing(ctx, got, s.edges); ok {
		return m.Errorf(ops[e[1].id], "the result orders hook %s after hook %s, the source does not", e[1], e[0])
	}
	return ctx.Err()
}

func (s Source) keptBy(ctx context.Context, m *ir.Module, got [][2]event, ops map[hook.ID]*ir.Op) error {
	if e, ok := firstMissing(ctx, s.edges, got); ok {
		at := ops[e[1].id]
		if at == nil {
			at = m.Op()
		}
		return m.Errorf(at, "the source orders hook %s after hook %s, the result does not", e[1], e[0])
	}
	return nil
}

// chainsOf returns the order of the chains of a lowered module, and its hooks. HLO has only what main calls.
func chainsOf(m *ir.Module, onlyMain bool) ([][2]event, map[hook.ID]*ir.Op) {
	p := PathsOf(m)
	p.lowered = true
	p.tellCallsApart(onlyMain)
	ops := map[hook.ID]*ir.Op{}
	for i, op := range p.Hooks {
		ops[p.ids[i]] = op
	}
	return p.betweenEvents(p.chain()), ops
}

// firstMissing returns an edge of a whose ends b does not order, directly or through other hooks. A hook that fires on
// only one device is skipped on the other devices, so the chain bypasses it there. It stops when ctx ends.
func firstMissing(ctx context.Context, a, b [][2]event) ([2]event, bool) {
	r := reached[event]{next: nextOf(b)}
	for _, e := range a {
		if ctx.Err() != nil {
			break
		}
		if !r.leads(e[0], e[1]) {
			return e, true
		}
	}
	return [2]event{}, false
}
