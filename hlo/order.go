package hlo

import (
	"slices"

	"github.com/hlocb/hlocb/diag"
)

// sortComputations puts callees before their callers. It refuses cycles.
func (m *Module) sortComputations() {
	m.comps = postOrder(m.comps, (*computation).callees, func(c *computation) {
		panic(failure{diag.Errorf(m.src, diag.At(c.pos), "computation %s calls itself", shorten(c.name))})
	})
}

// sortInstrs puts operands and control predecessors before their uses. It calls cycle for an instruction that depends
// on itself.
func (c *computation) sortInstrs(cycle func(*instr)) {
	c.number()
	sorted := true
	for _, in := range c.instrs {
		for _, o := range in.operands {
			sorted = sorted && o.order < in.order
		}
		for _, o := range in.predecessors() {
			sorted = sorted && o.order < in.order
		}
	}
	if !sorted {
		c.instrs = postOrder(c.instrs, func(in *instr) []*instr { return slices.Concat(in.operands, in.predecessors()) }, cycle)
	}
}

// postOrder returns nodes and all that they need, each node after those that it needs. It calls cycle for a node that
// needs itself. The walk has a stack of its own: only memory limits its depth.
func postOrder[T comparable](nodes []T, needs func(T) []T, cycle func(T)) []T {
	const active, done = 1, 2
	type frame struct {
		node T
		next []T
	}
	state := make(map[T]int, len(nodes))
	out := make([]T, 0, len(nodes))
	for _, root := range nodes {
		if state[root] != 0 {
			continue
		}
		state[root] = active
		stack := []frame{{root, needs(root)}}
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if len(f.next) == 0 {
				state[f.node] = done
				out = append(out, f.node)
				stack = stack[:len(stack)-1]
				continue
			}
			n := f.next[0]
			f.next = f.next[1:]
			switch state[n] {
			case active:
				cycle(n)
			case 0:
				state[n] = active
				stack = append(stack, frame{n, needs(n)})
			}
		}
	}
	return out
}
