package hooks

import (
	"slices"

	"github.com/hlocb/hlocb/internal/hook/irutil"

	"github.com/hlocb/hlocb/dialect/hookop"
	"github.com/hlocb/hlocb/dialect/stablehlo"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// chainEdges returns, for a raised or lowered module, which hook's events the chains (or tokens) put right
// before which other's. Edges through loops lead from the last hooks of one trip to the first of the next.
func chainEdges(m *ir.Module) []hook.Edge { return newEdger(m).run() }

// Edges returns the hooks of a raised or lowered module in program order, and the order that their chains impose.
func Edges(m *ir.Module) ([]*ir.Op, []hook.Edge) {
	e := newEdger(m)
	if len(e.hooks) == 0 {
		return nil, nil
	}
	return e.hooks, e.run()
}

func (e *edger) run() []hook.Edge {
	// Sets only grow, so sweeping until nothing changes ends; the number of sweeps is bounded by the nesting
	// of loops and calls.
	for e.grew = true; e.grew; e.sweeps++ {
		e.grew = false
		for _, f := range e.calls.funcs {
			if !f.External() {
				e.region(f.Region(0))
			}
		}
	}
	slices.Sort(e.edges)
	e.edges = slices.Compact(e.edges)
	out := make([]hook.Edge, len(e.edges))
	for i, edge := range e.edges {
		out[i] = hook.Edge{From: e.ids[edge>>32], To: e.ids[edge&(1<<32-1)]}
	}
	return out
}

// edger carries the sets of last hooks along the chains. A hook is named by its ordinal in program order.
type edger struct {
	m      *ir.Module
	calls  *callGraph
	at     map[*ir.Block][]link // what chains go through, by block
	hooks  []*ir.Op
	ids    []hook.ID // of the hooks
	sets   map[*ir.Value]*ordinals
	edges  []uint64 // from and to, 32 bits each
	grew   bool
	sweeps int
	// lowered lets chains pass only through what keeps an order in XLA: no barriers, no values without elements.
	lowered bool
}

// link is an op that a chain may go through.
type link struct {
	op      *ir.Op
	hook    int32 // its ordinal; -1 for no hook
	chained bool
}

// ordinals is a set of hooks: those whose events may be the last before a chain value.
type ordinals struct {
	list []int32
	has  map[int32]bool // nil while the list is short
}

// add adds n and reports whether it was not there.
func (s *ordinals) add(n int32) bool {
	if s.has != nil && s.has[n] || s.has == nil && slices.Contains(s.list, n) {
		return false
	}
	s.list = append(s.list, n)
	switch {
	case s.has != nil:
		s.has[n] = true
	case len(s.list) > 16:
		s.has = map[int32]bool{}
		for _, k := range s.list {
			s.has[k] = true
		}
	}
	return true
}

// newEdger lists the hooks of a module and the ops that chains may go through.
func newEdger(m *ir.Module) *edger {
	e := &edger{m: m, at: map[*ir.Block][]link{}, sets: map[*ir.Value]*ordinals{}}
	var last *ir.Block
	var run []link // of ops of one block that follow one another
	flush := func() {
		if len(run) > 0 {
			e.at[last] = append(e.at[last], run...)
			run = run[:0]
		}
	}
	held := map[*ir.Op]bool{} // ops without operands and results that are listed for what is in them
	var add func(l link)
	add = func(l link) {
		if b := l.op.Block(); b != last {
			if p := l.op.Parent(); p != nil && closed(p) && !held[p] {
				held[p] = true
				add(link{op: p, hook: -1})
			}
			flush()
			last = b
		}
		run = append(run, l)
	}
	e.calls = callGraphOf(e.m, func(op *ir.Op) {
		l := link{op: op, hook: -1}
		if id, chained, ok := hookChain(op); ok {
			l.hook, l.chained = int32(len(e.ids)), chained
			e.hooks, e.ids = append(e.hooks, op), append(e.ids, id)
		} else if op.NumRegions() == 0 && !carriesChain(op) || op.NumRegions() > 0 && closed(op) {
			return
		}
		add(l)
	})
	flush()
	return e
}

// closed reports whether op has neither operands nor results, so that no chain leads into it or out of it.
func closed(op *ir.Op) bool { return op.NumOperands() == 0 && op.NumResults() == 0 }

// carriesChain reports whether op, which has no regions, may hand on a chain.
func carriesChain(op *ir.Op) bool {
	switch irutil.Stable(op) {
	case "after_all", "or":
		return op.NumResults() == 1 && isChainType(op.Result(0).Type())
	case "tuple", "get_tuple_element", "optimization_barrier":
		return true
	}
	return op.Name() == "func.call"
}

// hookChain returns id and, where it has one, the chain operand of a hook, raised or lowered.
func hookChain(op *ir.Op) (id hook.ID, chained, ok bool) {
	if h, isHook := hookop.AsHook(op); isHook {
		return h.ID(), h.Chained(), true
	}
	if irutil.Stable(op) != "custom_call" || !irutil.IsTarget(op, hook.Target) {
		return 0, false, false
	}
	n, _ := irutil.IntAttr(irutil.Config(op).Get("id"))
	return hook.ID(n), irutil.IsTrue(irutil.Config(op).Get("chained")), true
}

// flow lets to have all that from has.
func (e *edger) flow(from, to *ir.Value) {
	s := e.sets[from]
	if s == nil || e.lowered && irutil.IsZeroSize(from.Type()) {
		return
	}
	for _, n := range s.list {
		e.add(to, n)
	}
}

func (e *edger) add(v *ir.Value, n int32) {
	s := e.sets[v]
	if s == nil {
		s = &ordinals{}
		e.sets[v] = s
	}
	if s.add(n) {
		e.grew = true
	}
}

func (e *edger) region(r *ir.Region) {
	for _, b := range r.Blocks() {
		at := e.at[b]
		for i, l := range at {
			if l.hook < 0 {
				e.op(l.op)
			} else if l.chained {
				e.hook(at, i)
			}
		}
	}
}

// hook handles hook i of a block. Most chains lead from one hook to the next and nowhere else: those need no sets.
func (e *edger) hook(at []link, i int) {
	l := at[i]
	from := l.op.Operand(0)
	if follows(at, i-1, from) {
		if e.sweeps == 0 {
			e.edge(at[i-1].hook, l.hook)
		}
	} else if s := e.sets[from]; s != nil {
		for _, n := range s.list {
			e.edge(n, l.hook)
		}
	}
	if to := l.op.Result(0); to.HasUses() && !(i+1 < len(at) && at[i+1].hook >= 0 && at[i+1].chained && to.HasOneUse() && at[i+1].op.Operand(0) == to) {
		e.add(to, l.hook)
	}
}

// follows reports whether v is the chain that hook i of a block gives, and nothing but the next hook uses it.
func follows(at []link, i int, v *ir.Value) bool {
	return i >= 0 && at[i].hook >= 0 && at[i].chained && v.DefiningOp() == at[i].op && v.Index() == 0 && v.HasOneUse()
}

func (e *edger) edge(from, to int32) { e.edges = append(e.edges, uint64(from)<<32|uint64(uint32(to))) }

func (e *edger) op(op *ir.Op) {
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
		for _, ret := range irutil.Returns(f) {
			e.match(ret.OperandList(), irutil.ResultList(op))
		}
		return
	case "sdy.manual_computation":
		e.match(op.OperandList(), op.Region(0).Entry().Args())
		e.region(op.Region(0))
		for _, t := range terminators(op.Region(0)) {
			e.match(t.OperandList(), irutil.ResultList(op))
		}
		return
	}
	switch irutil.Stable(op) {
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
			e.match(t.OperandList(), irutil.ResultList(op))
		}
		e.match(op.OperandList(), irutil.ResultList(op))
	case "if", "case":
		for _, r := range op.Regions() {
			e.region(r)
			for _, t := range terminators(r) {
				e.match(t.OperandList(), irutil.ResultList(op))
			}
		}
	case "after_all", "or", "tuple":
		if op.NumResults() == 1 && (isChainType(op.Result(0).Type()) || irutil.Stable(op) == "tuple") {
			for _, v := range op.Operands() {
				e.flow(v, op.Result(0))
			}
		}
	case "get_tuple_element":
		e.flow(op.Operand(0), op.Result(0))
	case "optimization_barrier":
		if !e.lowered {
			e.match(op.OperandList(), irutil.ResultList(op))
		}
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
	return stablehlo.IsToken(t) || t.String() == "tensor<ui64>"
}
