package flow

import "github.com/hlocb/hlocb/ir"

// Reach records which ops of a module reach an op that matches a condition: they match, contain an op that reaches one,
// or call a function that does.
type Reach struct {
	*Graph
	want  func(*ir.Op) bool
	holds map[*ir.Op]bool
	at    map[*ir.Block][]*ir.Op
}

// ReachOf finds the ops for which want returns true.
func ReachOf(m *ir.Module, want func(*ir.Op) bool) *Reach {
	r := &Reach{want: want, holds: map[*ir.Op]bool{}, at: map[*ir.Block][]*ir.Op{}}
	type site struct {
		op   *ir.Op
		call bool
	}
	var sites []site // in program order
	r.Graph = Of(m, func(op *ir.Op) {
		if want(op) {
			sites = append(sites, site{op, false})
		} else if op.Def().Flow != nil {
			sites = append(sites, site{op, true})
		}
	})
	// Find the functions that contain a matching op or call one that does.
	held := map[*ir.Op]bool{}
	funcs := map[*ir.Op]bool{}
	var work []*ir.Op
	mark := func(op *ir.Op) {
		for p := op.Parent(); p != m.Op() && !held[p]; p = p.Parent() {
			held[p] = true
			if isFunction(p) {
				funcs[p] = true
				work = append(work, p)
			}
		}
	}
	for _, s := range sites {
		if !s.call {
			mark(s.op)
		}
	}
	for len(work) > 0 {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		for _, op := range r.callers[f] {
			mark(op)
		}
	}
	var last *ir.Block // the sites of one block are appended together
	var list []*ir.Op
	flush := func() {
		if last != nil {
			r.at[last] = append(r.at[last], list...)
		}
		list = list[:0]
	}
	for _, s := range sites {
		if s.call && !funcs[r.target(s.op)] {
			continue
		}
		if b := s.op.Block(); b != last {
			flush()
			last = b
			r.addEnclosing(m, s.op)
		}
		list = append(list, s.op)
	}
	flush()
	return r
}

// addEnclosing lists the enclosing ops of op, each before the ops that follow it in its block.
func (r *Reach) addEnclosing(m *ir.Module, op *ir.Op) {
	for p := op.Parent(); p != m.Op() && !r.holds[p]; p = p.Parent() {
		r.holds[p] = true
		if p.Block() != m.Body() {
			r.at[p.Block()] = append(r.at[p.Block()], p)
		}
	}
}

// Any reports whether the module has any matching op.
func (r *Reach) Any() bool { return len(r.at) > 0 }

// Holds reports whether an op inside op, a function or another op with regions, reaches a matching op.
func (r *Reach) Holds(op *ir.Op) bool { return r.holds[op] }

// At returns the ops of b that reach a matching op, in order.
func (r *Reach) At(b *ir.Block) []*ir.Op { return r.at[b] }

// In reports whether any op in region g reaches a matching op.
func (r *Reach) In(g *ir.Region) bool {
	for _, b := range g.Blocks() {
		if len(r.at[b]) > 0 {
			return true
		}
	}
	return false
}

// Reaches reports whether op reaches a matching op.
func (r *Reach) Reaches(op *ir.Op) bool {
	return r.holds[op] || r.want(op) || r.holds[r.target(op)]
}
