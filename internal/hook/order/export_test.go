package order

import "github.com/hlocb/hlocb/hook"

// AllEdges returns the edges of the chains with those past loops and branches that Chain leaves out.
func (p *Paths) AllEdges() []hook.Edge {
	whole := *p
	whole.all = true
	return whole.Chain()
}

// Steps returns how many values the paths visited.
func (p *Paths) Steps() int { return p.steps }

// Pairs returns the pairs of events that the source orders directly. Each event is the id of a hook and a number.
func (s Source) Pairs() [][4]uint64 {
	var out [][4]uint64
	for _, e := range s.edges {
		out = append(out, [4]uint64{uint64(e[0].id), uint64(e[0].n), uint64(e[1].id), uint64(e[1].n)})
	}
	return out
}
