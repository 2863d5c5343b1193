package hook

import (
	"sort"

	"github.com/hlocb/hlocb/dialect/hlocb"
	"github.com/hlocb/hlocb/ir"
)

// chainEdges returns, for a raised or lowered module, which hook's events the chains (or tokens) put right
// before which other's. Edges through loops lead from the last hooks of one trip to the first of the next.
func chainEdges(m *ir.Module) []hlocb.Edge {
	e := &edger{m: m, calls: newCallGraph(m), seen: map[hlocb.Edge]bool{}, sets: map[*ir.Value]idSet{}}
	// Sets only grow, so sweeping until nothing changes ends; the number of sweeps is bounded by the nesting
	// of loops and calls.
	for e.grew = true; e.grew; {
		e.grew = false
		for _, f := range e.calls.funcs {
			if !f.External() {
				e.region(f.Region(0))
			}
		}
	}
	place := map[hlocb.ID]int{}
	m.Walk(func(op *ir.Op) bool {
		if id, _, ok := hookChain(op); ok {
			place[id] = len(place)
		}
		return true
	})
	out := make([]hlocb.Edge, 0, len(e.seen))
	for edge := range e.seen {
		out = append(out, edge)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].From != out[j].From {
			return place[out[i].From] < place[out[j].From]
		}
		return place[out[i].To] < place[out[j].To]
	})
	return out
}

// idSet is a set of hooks: those whose events may be the last before a chain value.
type idSet map[hlocb.ID]bool

// edger carries the sets of last hooks along the chains.
type edger struct {
	m     *ir.Module
	calls *callGraph
	sets  map[*ir.Value]idSet
	seen  map[hlocb.Edge]bool
	grew  bool
}

// hookChain returns id and, where it has one, the chain operand of a hook, raised or lowered.
func hookChain(op *ir.Op) (id hlocb.ID, chained, ok bool) {
	if h, isHook := hlocb.AsHook(op); isHook {
		return h.ID(), h.Chained(), true
	}
	if stable(op) != "custom_call" || !isTarget(op, hlocb.Target) {
		return 0, false, false
	}
	n, _ := intAttr(config(op).Get("id"))
	return hlocb.ID(n), isTrue(config(op).Get("chained")), true
}

// flow lets to have all that from has.
func (e *edger) flow(from, to *ir.Value) {
	for id := range e.sets[from] {
		e.add(to, id)
	}
}

func (e *edger) add(v *ir.Value, id hlocb.ID) {
	s := e.sets[v]
	if s == nil {
		s = idSet{}
		e.sets[v] = s
	}
	if !s[id] {
		s[id] = true
		e.grew = true
	}
}

func (e *edger) region(r *ir.Region) {
	for _, b := range r.Blocks() {
		for op := range b.Ops() {
			e.op(op)
		}
	}
}

func (e *edger) op(op *ir.Op) {
	if id, chained, ok := hookChain(op); ok {
		if chained {
			for from := range e.sets[op.Operand(0)] {
				e.seen[hlocb.Edge{From: from, To: id}] = true
			}
			e.add(op.Result(0), id)
		}
		return
	}
	switch op.Name() {
	case "func.call":
		f, ok := e.calls.callee(op)
		if !ok {
			return
		}
		for i, v := range op.Operands() {
			if i < f.Body().NumArgs() {
				e.flow(v, f.Body().Arg(i))
			}
		}
		for _, ret := range returns(f) {
			e.match(ret.OperandList(), resultList(op))
		}
		return
	case "sdy.manual_computation":
		e.match(op.OperandList(), op.Region(0).Entry().Args())
		e.region(op.Region(0))
		for _, t := range terminators(op.Region(0)) {
			e.match(t.OperandList(), resultList(op))
		}
		return
	}
	switch stable(op) {
	case "while":
		for _, r := range op.Regions() {
			e.match(op.OperandList(), r.Entry().Args())
		}
		e.region(op.Region(0))
		e.region(op.Region(1))
		for _, t := range terminators(op.Region(1)) {
			for _, r := range op.Regions() {
				e.match(t.OperandList(), r.Entry().Args())
			}
			e.match(t.OperandList(), resultList(op))
		}
		e.match(op.OperandList(), resultList(op))
	case "if", "case":
		for _, r := range op.Regions() {
			e.region(r)
			for _, t := range terminators(r) {
				e.match(t.OperandList(), resultList(op))
			}
		}
	case "after_all", "or", "tuple":
		if op.NumResults() == 1 && (isChainType(op.Result(0).Type()) || stable(op) == "tuple") {
			for _, v := range op.Operands() {
				e.flow(v, op.Result(0))
			}
		}
	case "get_tuple_element":
		e.flow(op.Operand(0), op.Result(0))
	case "optimization_barrier":
		e.match(op.OperandList(), resultList(op))
	default:
		for _, r := range op.Regions() {
			e.region(r)
		}
	}
}

func (e *edger) match(from, to []*ir.Value) {
	for i := range min(len(from), len(to)) {
		e.flow(from[i], to[i])
	}
}

// isChainType reports whether t is a type that a chain may have.
func isChainType(t ir.Type) bool {
	return ir.IsToken(t) || t.String() == "tensor<ui64>"
}
