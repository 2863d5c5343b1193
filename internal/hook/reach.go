package hooks

import (
	"github.com/hlocb/hlocb/dialect/fn"
	"github.com/hlocb/hlocb/ir"
)

// reach says where in a module ops of some kind are: which ops are one, hold one or call a function that does.
type reach struct {
	calls *callGraph
	ops   map[*ir.Op]bool        // the functions and the ops with regions that hold one
	at    map[*ir.Block][]*ir.Op // of each block the ops that are, hold or call one, in order
}

// reachOf looks for the ops that wanted selects.
func reachOf(m *ir.Module, wanted func(*ir.Op) bool) *reach {
	r := &reach{ops: map[*ir.Op]bool{}, at: map[*ir.Block][]*ir.Op{}}
	call := m.Def("func.call")
	var sites []*ir.Op // in program order, calls too
	r.calls = callGraphOf(m, func(op *ir.Op) {
		if op.Is(call) || wanted(op) {
			sites = append(sites, op)
		}
	})
	// Which functions hold one, or call one that does.
	held := map[*ir.Op]bool{}
	funcs := map[string]bool{}
	var work []string
	mark := func(op *ir.Op) {
		for p := op.Parent(); p != nil && p != m.Op() && !held[p]; p = p.Parent() {
			held[p] = true
			if f, ok := fn.AsFunc(p); ok && !funcs[f.Symbol()] {
				funcs[f.Symbol()] = true
				work = append(work, f.Symbol())
			}
		}
	}
	for _, op := range sites {
		if !op.Is(call) {
			mark(op)
		}
	}
	for len(work) > 0 {
		name := work[len(work)-1]
		work = work[:len(work)-1]
		for _, op := range r.calls.callers[name] {
			mark(op)
		}
	}
	var last *ir.Block // a run of sites in one block is appended at once
	var list []*ir.Op
	flush := func() {
		if last != nil {
			r.at[last] = append(r.at[last], list...)
		}
		list = list[:0]
	}
	for _, op := range sites {
		if op.Is(call) && !funcs[fn.Callee(op)] {
			continue
		}
		if b := op.Block(); b != last {
			flush()
			last = b
			r.around(m, op)
		}
		list = append(list, op)
	}
	flush()
	return r
}

// around lists the ops around op. An op comes before the ones that follow it in its block, as program order has it.
func (r *reach) around(m *ir.Module, op *ir.Op) {
	for p := op.Parent(); p != nil && p != m.Op() && !r.ops[p]; p = p.Parent() {
		r.ops[p] = true
		if p.Block() != m.Body() {
			r.at[p.Block()] = append(r.at[p.Block()], p)
		}
	}
}

// in reports whether anything in region g is, holds or calls one.
func (r *reach) in(g *ir.Region) bool {
	for _, b := range g.Blocks() {
		if len(r.at[b]) > 0 {
			return true
		}
	}
	return false
}
