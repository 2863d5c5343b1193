package hooks

import (
	"slices"

	"github.com/hlocb/hlocb/internal/hook/irutil"

	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/hook"
	"github.com/hlocb/hlocb/ir"
)

// DataOrder returns, for a raised or lowered module, which hooks can only come after which others because they need what
// those give: by their operands, or because those decide whether, or how often, they happen at all. What the chains
// order is left out, and so is what follows from the rest: a hook in between is where the search ends.
//
// A function that is called from several places is one, so that a pair may be ordered by one of the calls only. It takes
// time in the number of hooks times that of the ops between them: it is for people who look at orders.
func DataOrder(m *ir.Module) []hook.Edge {
	e := newEdger(m)
	next := map[hook.ID][]hook.ID{}
	for _, edge := range e.run() {
		next[edge.From] = append(next[edge.From], edge.To)
	}
	d := &dataFollower{calls: e.calls, ids: map[*ir.Op]int{}, seen: map[*ir.Value]int{}, around: map[*ir.Op]int{}}
	for i, op := range e.hooks {
		d.ids[op] = i
	}
	var out []hook.Edge
	for i, op := range e.hooks {
		for _, from := range d.before(i, op) {
			if edge := (hook.Edge{From: e.ids[from], To: e.ids[i]}); !leads(next, edge) {
				out = append(out, edge)
			}
		}
	}
	return out
}

// leads reports whether the hooks of edge are connected by next already.
func leads(next map[hook.ID][]hook.ID, edge hook.Edge) bool {
	seen, work := map[hook.ID]bool{}, []hook.ID{edge.From}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range next[id] {
			if to == edge.To {
				return true
			}
			if !seen[to] {
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return false
}

// dataFollower follows data backwards from one hook at a time.
type dataFollower struct {
	calls  *callGraph
	ids    map[*ir.Op]int
	round  int               // the hook that is being looked at, from 1
	seen   map[*ir.Value]int // in which round
	around map[*ir.Op]int
	work   []*ir.Value
	found  []int
}

// before returns the hooks that hook i needs, in program order.
func (d *dataFollower) before(i int, op *ir.Op) []int {
	d.round, d.found = i+1, nil
	operands := op.OperandList()
	if _, chained, _ := hookChain(op); chained {
		operands = operands[1:]
	}
	d.add(operands...)
	d.decided(op)
	for len(d.work) > 0 {
		v := d.work[len(d.work)-1]
		d.work = d.work[:len(d.work)-1]
		if def := v.DefiningOp(); def != nil {
			d.result(def, v.Index())
		} else {
			d.argument(v.Block().Parent(), v.Index())
		}
	}
	slices.Sort(d.found)
	return slices.Compact(d.found)
}

func (d *dataFollower) add(list ...*ir.Value) {
	for _, v := range list {
		// XLA computes values without elements from nothing.
		if d.seen[v] != d.round && !irutil.IsZeroSize(v.Type()) {
			d.seen[v] = d.round
			d.work = append(d.work, v)
		}
	}
}

// decided adds what decides whether op happens.
func (d *dataFollower) decided(op *ir.Op) {
	for p := op.Parent(); p != nil && d.around[p] != d.round; p = p.Parent() {
		d.around[p] = d.round
		switch {
		case irutil.Stable(p) == "if" || irutil.Stable(p) == "case":
			d.add(p.Operand(0))
		case irutil.Stable(p) == "while":
			d.condition(p)
		}
		if f, ok := fn.AsFunc(p); ok {
			for _, call := range d.calls.callers[f.Symbol()] {
				d.decided(call)
			}
		}
	}
}

// condition adds what a loop's next trip depends on.
func (d *dataFollower) condition(loop *ir.Op) {
	for _, t := range terminators(loop.Region(0)) {
		d.add(t.OperandList()...)
	}
}

// handed adds operand i of what ends the blocks of g.
func (d *dataFollower) handed(g *ir.Region, i int) {
	for _, t := range terminators(g) {
		d.at(t, i)
	}
}

func (d *dataFollower) at(op *ir.Op, i int) {
	if i < op.NumOperands() {
		d.add(op.Operand(i))
	}
}

// result adds what result i of op is made of.
func (d *dataFollower) result(op *ir.Op, i int) {
	if n, ok := d.ids[op]; ok {
		if _, chained, _ := hookChain(op); !chained || i > 0 {
			d.found = append(d.found, n)
		}
		return
	}
	switch {
	case op.Name() == "func.call":
		if f, ok := d.calls.callee(op); ok {
			for _, ret := range irutil.Returns(f) {
				d.at(ret, i)
			}
			return
		}
	case op.Name() == "sdy.manual_computation":
		d.handed(op.Region(0), i)
		return
	case irutil.Stable(op) == "while":
		d.at(op, i)
		d.handed(op.Region(1), i)
		d.condition(op)
		return
	case irutil.Stable(op) == "if" || irutil.Stable(op) == "case":
		d.at(op, 0)
		for _, g := range op.Regions() {
			d.handed(g, i)
		}
		return
	case irutil.Stable(op) == "optimization_barrier": // which XLA takes away
		d.at(op, i)
		return
	}
	d.add(op.OperandList()...)
	if op.NumRegions() > 0 {
		op.Walk(func(inner *ir.Op) bool {
			d.add(inner.OperandList()...)
			return true
		})
	}
}

// argument adds what argument i of a block of op stands for.
func (d *dataFollower) argument(op *ir.Op, i int) {
	if f, ok := fn.AsFunc(op); ok {
		for _, call := range d.calls.callers[f.Symbol()] {
			d.at(call, i)
		}
		return
	}
	switch {
	case irutil.Stable(op) == "while":
		d.at(op, i)
		d.handed(op.Region(1), i)
	case op.Name() == "sdy.manual_computation":
		d.at(op, i)
	default: // an element or a part of an operand
		d.add(op.OperandList()...)
	}
}
